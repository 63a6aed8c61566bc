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

  /** Whether other requests wait for the thread that serves this one's: nobody else reads them. */
  default boolean keepsOthersWaiting() {
    return false;
  }

  /** Whoever reads and writes is about to take its time: another thread reads those requests. */
  default void stepAside() {}

  /** Whether reading waits for something to come; it does by default. */
  void configureBlocking(boolean blocking) throws IOException;

  /** Whoever reads sees the end, and can still write. */
  void shutdownInput() throws IOException;

  /** The client sees the end of what was written; what it still sends means nothing any more. */
  void shutdownOutput() throws IOException;
}
