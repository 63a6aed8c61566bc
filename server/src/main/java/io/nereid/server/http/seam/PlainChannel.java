package io.nereid.server.http.seam;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A channel without encryption. */
final class PlainChannel implements ClientChannel {

  private final SocketChannel socket;

  /** Reads and writes a socket that is connected. */
  PlainChannel(SocketChannel socket) {
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
  public void open() {
    // There is nothing to agree on.
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    return socket.read(to);
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
