package io.nereid.perf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The bytes of a connection, as they are or encrypted; neither call blocks. */
interface Wire {

  SocketChannel channel();

  /** Writes what the socket takes; true: all of it. */
  boolean write(ByteBuffer head, ByteBuffer tail) throws IOException;

  /** Returns how many bytes came, 0 when there are none now, -1 at the end. */
  int read(ByteBuffer into) throws IOException;

  /** Whether bytes are here that the socket does not tell of. */
  boolean hasBuffered();

  void close();

  /** Without encryption. */
  final class Plain implements Wire {
    private final SocketChannel channel;
    private final ByteBuffer[] both = new ByteBuffer[2];

    Plain(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public SocketChannel channel() {
      return channel;
    }

    @Override
    public boolean write(ByteBuffer head, ByteBuffer tail) throws IOException {
      if (!tail.hasRemaining()) {
        channel.write(head);
        return !head.hasRemaining();
      }
      both[0] = head;
      both[1] = tail;
      channel.write(both);
      return !tail.hasRemaining();
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      return channel.read(into);
    }

    @Override
    public boolean hasBuffered() {
      return false;
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        return; // nothing is lost
      }
    }
  }
}
