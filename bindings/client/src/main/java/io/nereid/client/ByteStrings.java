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
    // Each element takes four bytes at least: a count that cannot be right allocates nothing.
    if (count > encoded.byteSize() / Integer.BYTES) {
      throw InferenceException.malformed(
          "a BYTES tensor of " + count + " elements has only " + encoded.byteSize() + " bytes");
    }
    byte[][] values = new byte[(int) count][];
    long offset = 0;
    for (int i = 0; i < count; i++) {
      long left = encoded.byteSize() - offset - Integer.BYTES;
      long length = left < 0 ? 0 : Integer.toUnsignedLong(encoded.get(Layouts.INT, offset));
      if (length > left) {
        throw InferenceException.malformed(
            "element "
                + i
                + " of a BYTES tensor begins at byte "
                + offset
                + " and ends beyond its "
                + encoded.byteSize()
                + " bytes");
      }
      values[i] = encoded.asSlice(offset + Integer.BYTES, length).toArray(JAVA_BYTE);
      offset += Integer.BYTES + length;
    }
    if (offset != encoded.byteSize()) {
      throw InferenceException.malformed(
          (encoded.byteSize() - offset)
              + " bytes follow the last of "
              + count
              + " elements of a BYTES tensor");
    }
    return values;
  }
}
