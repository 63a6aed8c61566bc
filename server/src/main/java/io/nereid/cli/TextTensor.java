package io.nereid.cli;

import io.nereid.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/** Tensors from values as people write them. */
final class TextTensor {

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private TextTensor() {}

  static Tensor of(TensorSpec spec, List<String> values, long[] shape) {
    DataType type = spec.dataType();
    checkShape(spec, values.size(), shape);
    try {
      return switch (type) {
        case BYTES -> Tensor.ofStrings(values.toArray(String[]::new), shape);
        case FP16, BF16 -> Tensor.ofHalfFloats(type, floats(values), shape);
        case FP32 -> Tensor.ofFloats(floats(values), shape);
        case FP64 -> Tensor.ofDoubles(doubles(values), shape);
        default -> Tensor.of(type, integers(type, values), shape);
      };
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("input '" + spec.name() + "': " + e.getMessage(), e);
    }
  }

  private static void checkShape(TensorSpec spec, long count, long[] shape) {
    long needed = InputShape.elementCount(shape);
    if (needed != count) {
      throw new IllegalArgumentException(
          "input '"
              + spec.name()
              + "': shape "
              + Arrays.toString(shape)
              + " takes "
              + needed
              + " values, got "
              + count);
    }
  }

  private static double[] doubles(List<String> values) {
    double[] doubles = new double[values.size()];
    for (int i = 0; i < doubles.length; i++) {
      try {
        doubles[i] = Double.parseDouble(values.get(i));
      } catch (NumberFormatException e) {
        throw wrong(i, "a number", values.get(i));
      }
    }
    return doubles;
  }

  private static float[] floats(List<String> values) {
    double[] doubles = doubles(values);
    float[] floats = new float[doubles.length];
    for (int i = 0; i < floats.length; i++) {
      // Not a cast of the double, which would round twice.
      floats[i] = Float.parseFloat(values.get(i));
    }
    return floats;
  }

  private static NumberFormatException wrong(int index, String expected, String got) {
    return new NumberFormatException(
        "expected " + expected + " as value " + (index + 1) + ", got '" + got + "'");
  }

  private static MemorySegment integers(DataType type, List<String> values) {
    int size = type.byteSize();
    MemorySegment segment = MemorySegment.ofArray(new byte[values.size() * size]);
    for (int i = 0; i < values.size(); i++) {
      long number = integer(type, i, values.get(i));
      long at = (long) i * size;
      switch (size) {
        case 1 -> segment.set(ValueLayout.JAVA_BYTE, at, (byte) number);
        case 2 -> segment.set(SHORT, at, (short) number);
        case 4 -> segment.set(INT, at, (int) number);
        default -> segment.set(LONG, at, number);
      }
    }
    return segment;
  }

  private static long integer(DataType type, int index, String text) {
    if (type == DataType.BOOL) {
      return switch (text) {
        case "true", "1" -> 1;
        case "false", "0" -> 0;
        default -> throw wrong(index, "true or false", text);
      };
    }
    int bits = 8 * type.byteSize();
    boolean unsigned = type.name().startsWith("U");
    BigInteger least = unsigned ? BigInteger.ZERO : BigInteger.ONE.shiftLeft(bits - 1).negate();
    BigInteger most = BigInteger.ONE.shiftLeft(unsigned ? bits : bits - 1).subtract(BigInteger.ONE);
    String expected = type + " from " + least + " to " + most;
    if (!text.matches("[+-]?[0-9]{1,20}")) {
      throw wrong(index, expected, text);
    }
    BigInteger number = new BigInteger(text);
    if (number.compareTo(least) < 0 || number.compareTo(most) > 0) {
      throw wrong(index, expected, text);
    }
    return number.longValue();
  }
}
