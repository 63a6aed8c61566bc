package io.nereid.server.grpc;

import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** The bytes of a message that is there as a whole, where they lie. One thread reads it. */
final class WholeMessage extends InputStream implements KnownLength, HasByteBuffer {

  private final ByteBuffer bytes;

  WholeMessage(ByteBuffer bytes) {
    this.bytes = bytes;
  }

  @Override
  public int available() {
    return bytes.remaining();
  }

  @Override
  public int read() {
    return bytes.hasRemaining() ? bytes.get() & 0xFF : -1;
  }

  @Override
  public int read(byte[] to, int offset, int count) {
    int most = Math.min(count, bytes.remaining());
    if (most == 0) {
      return count == 0 ? 0 : -1;
    }
    bytes.get(to, offset, most);
    return most;
  }

  @Override
  public long skip(long count) {
    int most = (int) Math.max(0, Math.min(count, bytes.remaining()));
    bytes.position(bytes.position() + most);
    return most;
  }

  @Override
  public boolean byteBufferSupported() {
    return true;
  }

  @Override
  public ByteBuffer getByteBuffer() {
    return bytes.hasRemaining() ? bytes.slice() : null;
  }
}
