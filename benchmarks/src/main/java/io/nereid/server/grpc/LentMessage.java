package io.nereid.server.grpc;

import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** A message as the transport lends it: in pieces of native memory. */
final class LentMessage extends InputStream implements KnownLength, HasByteBuffer {

  /** Of the transport's buffers. */
  private static final int PIECE_BYTES = 16 << 10;

  private final ByteBuffer left;

  /** Reads the buffer, whose position stays where it is. */
  LentMessage(ByteBuffer message) {
    left = message.duplicate();
  }

  @Override
  public boolean byteBufferSupported() {
    return true;
  }

  @Override
  public ByteBuffer getByteBuffer() {
    return left.hasRemaining()
        ? left.slice(left.position(), Math.min(PIECE_BYTES, left.remaining())).asReadOnlyBuffer()
        : null;
  }

  @Override
  public int available() {
    return left.remaining();
  }

  @Override
  public long skip(long count) {
    int skipped = (int) Math.min(count, left.remaining());
    left.position(left.position() + skipped);
    return skipped;
  }

  @Override
  public int read() {
    return left.hasRemaining() ? left.get() & 0xff : -1;
  }

  @Override
  public int read(byte[] into, int offset, int count) {
    if (!left.hasRemaining()) {
      return -1;
    }
    int taken = Math.min(count, left.remaining());
    left.get(into, offset, taken);
    return taken;
  }
}
