package io.nereid.tensor;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The layout of {@link DataType#BYTES} tensors. */
final class ByteStrings {

  private static final ValueLayout.OfInt LENGTH =
      JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private ByteStrings() {}

  static MemorySegment encode(byte[][] values) {
    long size = 0;
    for (byte[] value : values) {
      size += Integer.BYTES + (long) value.length;
    }
    MemorySegment encoded = MemorySegment.ofArray(new byte[Math.toIntExact(size)]);
    long offset = 0;
    for (byte[] value : values) {
      encoded.set(LENGTH, offset, value.length);
      MemorySegment.copy(value, 0, encoded, JAVA_BYTE, offset + Integer.BYTES, value.length);
      offset += Integer.BYTES + value.length;
    }
    return encoded;
  }

  /** Decodes all elements, of which there must be exactly {@code count}. */
  static byte[][] decode(MemorySegment encoded, int count) {
    byte[][] values = new byte[count][];
    long offset = 0;
    for (int i = 0; i < count; i++) {
      long length = lengthAt(encoded, offset, i);
      values[i] = encoded.asSlice(offset + Integer.BYTES, length).toArray(JAVA_BYTE);
      offset += Integer.BYTES + length;
    }
    if (offset != encoded.byteSize()) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          (encoded.byteSize() - offset) + " bytes follow the last of " + count + " byte strings");
    }
    return values;
  }

  /** Element {@code index}; the elements before it are skipped one by one. */
  static byte[] element(MemorySegment encoded, long index) {
    long offset = skip(encoded, 0, index);
    long length = lengthAt(encoded, offset, index);
    return encoded.asSlice(offset + Integer.BYTES, length).toArray(JAVA_BYTE);
  }

  /** Returns the end of the {@code count} elements that begin at {@code offset}. */
  static long skip(MemorySegment encoded, long offset, long count) {
    long end = offset;
    for (long i = 0; i < count; i++) {
      end += Integer.BYTES + lengthAt(encoded, end, i);
    }
    return end;
  }

  private static long lengthAt(MemorySegment encoded, long offset, long index) {
    long left = encoded.byteSize() - offset;
    if (left >= Integer.BYTES) {
      long length = Integer.toUnsignedLong(encoded.get(LENGTH, offset));
      if (length <= left - Integer.BYTES) {
        return length;
      }
    }
    throw new NereidException(
        StatusCode.INVALID_ARGUMENT,
        "byte string %s begins at byte %s and ends beyond the %s bytes of the tensor"
            .formatted(index, offset, encoded.byteSize()));
  }
}
