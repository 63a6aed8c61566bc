package io.nereid.server.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Bytes as the socket has them, and the first of them, for which a connection waits without a
 * buffer.
 */
public final class PlainChannel implements ClientChannel {

  private final SocketChannel socket;
  private ByteBuffer first; // null: nothing was waited for, or it was taken

  /** Of a socket that is connected. */
  public PlainChannel(SocketChannel socket) {
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
