package io.nereid.server.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;

/**
 * The bytes that a client sends and gets, however they travel. Everything means what it means to a
 * {@link SocketChannel}. One thread reads and writes; another may shut down and close, and read
 * while that one does neither.
 */
public interface ClientChannel extends ReadableByteChannel {

  /** What is beneath: for its addresses, not for its bytes. */
  SocketChannel socket();

  /** Whether nobody else can read the bytes. */
  boolean isEncrypted();

  /** What was agreed on by ALPN when the channel was opened; empty when nothing was. */
  default String applicationProtocol() {
    return "";
  }

  /**
   * Waits for the client's first byte, holding next to nothing; false: it sends none. Whoever calls
   * it does so once, before {@link #open}.
   */
  default boolean awaitFirst() throws IOException {
    return true;
  }

  /** Does what has to be done before the first byte, which may take long; called once. */
  void open() throws IOException;

  /** Writes at least something. */
  int write(ByteBuffer from) throws IOException;

  /** Writes at least something of several buffers. */
  long write(ByteBuffer[] from, int offset, int count) throws IOException;

  /** Writes all of several buffers. */
  default void writeAll(ByteBuffer[] from) throws IOException {
    for (int i = 0; i < from.length; ) {
      if (from[i].hasRemaining()) {
        write(from, i, from.length - i);
      } else {
        i++;
      }
    }
  }

  /** Whether nothing else that the client sends through its connection is read at present. */
  default boolean keepsOthersWaiting() {
    return false;
  }

  /** Whoever reads and writes is about to take its time: what else the client sends is read. */
  default void stepAside() {}

  /** Whether reading waits for something to come; it does by default. */
  void configureBlocking(boolean blocking) throws IOException;

  /** Whoever reads sees the end, and can still write. */
  void shutdownInput() throws IOException;

  /** The client sees the end of what was written; what it still sends means nothing any more. */
  void shutdownOutput() throws IOException;

  /**
   * Bytes as the socket has them, and the first of them, for which a connection waits without a
   * buffer.
   */
  final class Plain implements ClientChannel {

    private final SocketChannel socket;
    private ByteBuffer first; // null: nothing was waited for, or it was taken

    /** Reads and writes a socket that is connected. */
    public Plain(SocketChannel socket) {
      this.socket = socket;
    }

    @Override
    public SocketChannel socket() {
      return socket;
    }

    @Override
    public boolean isEncrypted() {
      return false;
    }

    @Override
    public boolean awaitFirst() throws IOException {
      ByteBuffer one = ByteBuffer.allocate(1);
      if (socket.read(one) < 0) {
        return false;
      }
      first = one.flip();
      return true;
    }

    @Override
    public void open() {
      // There is nothing to agree on.
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
      if (first == null) {
        return socket.read(to);
      }
      to.put(first);
      first = null;
      return 1;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
      return socket.write(from);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int count) throws IOException {
      return socket.write(from, offset, count);
    }

    @Override
    public void configureBlocking(boolean blocking) throws IOException {
      socket.configureBlocking(blocking);
    }

    @Override
    public void shutdownInput() throws IOException {
      socket.shutdownInput();
    }

    @Override
    public void shutdownOutput() throws IOException {
      socket.shutdownOutput();
    }

    @Override
    public boolean isOpen() {
      return socket.isOpen();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
