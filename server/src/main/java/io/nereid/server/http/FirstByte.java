package io.nereid.server.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The first byte of a connection, for which it waits before it has any buffer. */
final class FirstByte {

  private ByteBuffer received; // null: nothing was waited for, or it was taken

  /** Whether it came; waits for it. */
  boolean await(SocketChannel socket) throws IOException {
    ByteBuffer one = ByteBuffer.allocate(1);
    if (socket.read(one) < 0) {
      return false;
    }
    received = one.flip();
    return true;
  }

  /** Whether it came and is still to be taken. */
  boolean isThere() {
    return received != null;
  }

  /** Puts it where it belongs. */
  int take(ByteBuffer to) {
    to.put(received);
    received = null;
    return 1;
  }
}
