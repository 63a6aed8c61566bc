package io.nereid.recording.compare;

import io.nereid.types.DataType;
import io.nereid.types.HalfPrecision;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * An output of an answer. The memory stays the maker's, and is only read while it is compared.
 *
 * @param dataType the type of its elements
 * @param shape its dimensions
 * @param content its elements, in the protocol's binary form, from position to limit
 */
public record Answer(DataType dataType, List<Long> shape, ByteBuffer content) {

  /** Takes the elements as little-endian numbers. */
  public Answer {
    shape = List.copyOf(shape);
    content = content.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The same in memory of its own. */
  public Answer copy() {
    ByteBuffer own = ByteBuffer.allocate(content.limit()).put(content.duplicate()).flip();
    return new Answer(dataType, shape, own);
  }

  /** True if elements are numbers whose nearness means something. */
  boolean isNumeric() {
    return dataType != DataType.BYTES && dataType != DataType.BOOL;
  }

  /** True if elements are floating-point numbers, which have a last place. */
  boolean isFloating() {
    return switch (dataType) {
      case FP16, BF16, FP32, FP64 -> true;
      default -> false;
    };
  }

  /** The number of elements of a fixed size. */
  int count() {
    return content.limit() / dataType.byteSize();
  }

  /** An element as a number; 64-bit integers lose their last bits. */
  double number(int index) {
    int at = index * dataType.byteSize();
    return switch (dataType) {
      case FP32 -> content.getFloat(at);
      case FP64 -> content.getDouble(at);
      case FP16, BF16 -> HalfPrecision.toFloat(dataType, content.getShort(at));
      case INT8 -> content.get(at);
      case UINT8, BOOL, BYTES -> Byte.toUnsignedInt(content.get(at));
      case INT16 -> content.getShort(at);
      case UINT16 -> Short.toUnsignedInt(content.getShort(at));
      case INT32 -> content.getInt(at);
      case UINT32 -> Integer.toUnsignedLong(content.getInt(at));
      case INT64, UINT64 -> content.getLong(at);
    };
  }

  /** Says how many numbers of its type lie below a floating-point element, from 0 on. */
  long place(int index) {
    int size = dataType.byteSize();
    long bits =
        switch (size) {
          case 2 -> content.getShort(index * size);
          case 4 -> content.getInt(index * size);
          default -> content.getLong(index * size);
        };
    long least = -1L << 8 * size - 1;
    return bits < 0 ? least - bits : bits;
  }
}
