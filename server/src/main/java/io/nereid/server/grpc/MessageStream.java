package io.nereid.server.grpc;

import io.grpc.KnownLength;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** The bytes of a long message while it comes, for the thread that reads it, and waits. */
final class MessageStream extends InputStream implements KnownLength, DirectInput {

  private final LongMessage<?> message;

  MessageStream(LongMessage<?> message) {
    this.message = message;
  }

  @Override
  public int available() {
    return message.left();
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] to, int offset, int count) throws IOException {
    return message.read(ByteBuffer.wrap(to, offset, count), false);
  }

  @Override
  public void readFully(ByteBuffer to) throws IOException {
    message.read(to, true);
  }
}
