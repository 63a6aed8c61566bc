package io.nereid.client;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Says how elements lie in a tensor: little-endian, at any address. */
final class Layouts {

  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  static {
    // Arrays are sent as they lie in memory.
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new UnsupportedOperationException("needs a machine whose byte order is little-endian");
    }
  }

  private Layouts() {}

  /** Writes the low bits of a number as an element of 1, 2, 4 or 8 bytes. */
  static void put(MemorySegment to, int byteSize, long index, long bits) {
    switch (byteSize) {
      case Byte.BYTES -> to.set(ValueLayout.JAVA_BYTE, index, (byte) bits);
      case Short.BYTES -> to.set(SHORT, index * Short.BYTES, (short) bits);
      case Integer.BYTES -> to.set(INT, index * Integer.BYTES, (int) bits);
      default -> to.set(LONG, index * Long.BYTES, bits);
    }
  }
}
