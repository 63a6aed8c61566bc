package io.nereid.client;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;

/** Views and copies of tensors' memory as little-endian buffers. */
final class Buffers {

  private Buffers() {}

  /** A view of what remains of a buffer, with a position of its own. */
  static ByteBuffer view(ByteBuffer buffer) {
    return buffer.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A view of some of the bytes of a buffer, counted from its beginning. */
  static ByteBuffer slice(ByteBuffer buffer, int at, int byteSize) {
    return buffer.slice(at, byteSize).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The bytes of the elements that remain in a buffer. */
  static long byteSize(Buffer buffer) {
    return (long) buffer.remaining() * elementSize(buffer);
  }

  private static int elementSize(Buffer buffer) {
    if (buffer instanceof ByteBuffer) {
      return Byte.BYTES;
    }
    if (buffer instanceof ShortBuffer) {
      return Short.BYTES;
    }
    return buffer instanceof IntBuffer || buffer instanceof FloatBuffer
        ? Integer.BYTES
        : Long.BYTES;
  }

  /** The bytes of a buffer: a view of them if it is one of bytes, else a copy. */
  static ByteBuffer bytes(Buffer buffer) {
    if (buffer instanceof ByteBuffer) {
      return view((ByteBuffer) buffer);
    }
    ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(byteSize(buffer)));
    return copy(buffer, bytes.order(ByteOrder.LITTLE_ENDIAN)).flip();
  }

  /** Appends the bytes of {@code from}, whose position stays, to a little-endian buffer. */
  static ByteBuffer copy(Buffer from, ByteBuffer to) {
    Buffer elements = from.duplicate();
    if (elements instanceof ByteBuffer) {
      return to.put((ByteBuffer) elements);
    }
    int end = Math.toIntExact(to.position() + byteSize(from));
    if (elements instanceof ShortBuffer) {
      to.asShortBuffer().put((ShortBuffer) elements);
    } else if (elements instanceof IntBuffer) {
      to.asIntBuffer().put((IntBuffer) elements);
    } else if (elements instanceof FloatBuffer) {
      to.asFloatBuffer().put((FloatBuffer) elements);
    } else if (elements instanceof LongBuffer) {
      to.asLongBuffer().put((LongBuffer) elements);
    } else {
      to.asDoubleBuffer().put((DoubleBuffer) elements);
    }
    return to.position(end);
  }

  /** Writes the low bits of a number as an element of 1, 2, 4 or 8 bytes. */
  static void put(ByteBuffer to, int byteSize, long bits) {
    switch (byteSize) {
      case Byte.BYTES -> to.put((byte) bits);
      case Short.BYTES -> to.putShort((short) bits);
      case Integer.BYTES -> to.putInt((int) bits);
      default -> to.putLong(bits);
    }
  }
}
