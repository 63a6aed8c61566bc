package io.nereid.server.grpc;

import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Random;

/** A message as the transport may give it: lent in pieces of any size, or read from a stream. */
class Fragments extends InputStream {

  private final byte[] bytes;
  private final Random random;
  private int position;

  private Fragments(byte[] bytes, Random random) {
    this.bytes = bytes;
    this.random = random;
  }

  /** One of the forms. */
  static InputStream of(byte[] bytes, Random random) {
    return switch (random.nextInt(3)) {
      case 0 -> new Fragments(bytes, random);
      case 1 -> new Measured(bytes, random);
      default -> new Lent(bytes, random);
    };
  }

  private int piece(int most) {
    int left = bytes.length - position;
    return Math.min(Math.min(most, left), random.nextInt(3) == 0 ? left : 1 + random.nextInt(9));
  }

  int left() {
    return bytes.length - position;
  }

  @Override
  public int read() {
    return position == bytes.length ? -1 : bytes[position++] & 0xFF;
  }

  @Override
  public int read(byte[] into, int offset, int count) {
    if (position == bytes.length) {
      return -1;
    }
    int piece = piece(count);
    System.arraycopy(bytes, position, into, offset, piece);
    position += piece;
    return piece;
  }

  @Override
  public long skip(long count) {
    int skipped = (int) Math.min(count, bytes.length - position);
    position += skipped;
    return skipped;
  }

  /** With a known length. */
  private static class Measured extends Fragments implements KnownLength {
    Measured(byte[] bytes, Random random) {
      super(bytes, random);
    }

    @Override
    public int available() {
      return left();
    }
  }

  /** With a known length, and in buffers. */
  private static final class Lent extends Measured implements HasByteBuffer {
    Lent(byte[] bytes, Random random) {
      super(bytes, random);
    }

    @Override
    public boolean byteBufferSupported() {
      return true;
    }

    @Override
    public ByteBuffer getByteBuffer() {
      Fragments all = this;
      if (left() == 0) {
        return null;
      }
      int length = all.piece(Integer.MAX_VALUE);
      int before = all.random.nextInt(4);
      ByteBuffer buffer =
          all.random.nextBoolean()
              ? ByteBuffer.allocateDirect(before + length + 3)
              : ByteBuffer.allocate(before + length + 3);
      buffer.position(before).put(all.bytes, all.position, length).limit(before + length);
      return buffer.position(before).asReadOnlyBuffer();
    }
  }
}
