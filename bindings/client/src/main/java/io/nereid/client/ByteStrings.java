package io.nereid.client;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/** The layout of {@link DataType#BYTES} tensors. */
final class ByteStrings {

  private ByteStrings() {}

  static MemorySegment encode(byte[][] values) {
    long size = 0;
    for (byte[] value : values) {
      size += Integer.BYTES + (long) value.length;
    }
    MemorySegment encoded = MemorySegment.ofArray(new byte[Math.toIntExact(size)]);
    long offset = 0;
    for (byte[] value : values) {
      encoded.set(Layouts.INT, offset, value.length);
      MemorySegment.copy(value, 0, encoded, JAVA_BYTE, offset + Integer.BYTES, value.length);
      offset += Integer.BYTES + value.length;
    }
    return encoded;
  }

  /** Every element, in order; there must be exactly {@code count}. */
  static byte[][] decode(MemorySegment encoded, long count) {
    long size = byteSize(encoded, count);
    if (size != encoded.byteSize()) {
      throw InferenceException.malformed(
          (encoded.byteSize() - size)
              + " bytes follow the last of "
              + count
              + " elements of a BYTES tensor");
    }
    byte[][] values = new byte[(int) count][];
    long at = 0;
    for (int i = 0; i < count; i++) {
      long length = Integer.toUnsignedLong(encoded.get(Layouts.INT, at));
      values[i] = encoded.asSlice(at + Integer.BYTES, length).toArray(JAVA_BYTE);
      at += Integer.BYTES + length;
    }
    return values;
  }

  /** The size of the first {@code count} elements. */
  static long byteSize(MemorySegment encoded, long count) {
    long at = 0;
    for (long i = 0; i < count; i++) {
      long left = encoded.byteSize() - at - Integer.BYTES;
      long length = left < 0 ? 0 : Integer.toUnsignedLong(encoded.get(Layouts.INT, at));
      if (length > left) {
        throw InferenceException.malformed(
            "element "
                + i
                + " of a BYTES tensor of "
                + count
                + " begins at byte "
                + at
                + " and ends beyond its "
                + encoded.byteSize()
                + " bytes");
      }
      at += Integer.BYTES + length;
    }
    return at;
  }
}
