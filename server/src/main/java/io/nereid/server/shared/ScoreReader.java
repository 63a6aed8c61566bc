package io.nereid.server.shared;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * Reads the elements of a tensor as scores: as comparable numbers, and as text. For one thread; the
 * memory is its caller's.
 */
final class ScoreReader {

  /** Digits behind the point, as C++ prints floating-point numbers. */
  private static final int DECIMALS = 6;

  private static final int SCALE = 1_000_000;

  /** A little less than half of the last digit. */
  private static final double LARGEST_ZERO = 5e-7;

  /** Up to here, halves of the last digit can be told from others. */
  private static final double LARGEST_SCALED = (1L << 52) / (double) SCALE;

  private final DataType type;
  private final MemorySegment data;

  /** Makes a reader for a type for which {@link #isScore}. */
  ScoreReader(DataType type, MemorySegment data) {
    this.type = type;
    this.data = data;
  }

  /** True if elements of this type can be scores. */
  static boolean isScore(DataType type) {
    return switch (type) {
      case INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FP32, FP64 -> true;
      case BOOL, FP16, BF16, BYTES -> false;
    };
  }

  /** A number that compares as the element does. */
  long key(long index) {
    return switch (type) {
      case FP32 -> key(data.get(JAVA_FLOAT_UNALIGNED, index * Float.BYTES));
      case FP64 -> key(data.get(JAVA_DOUBLE_UNALIGNED, index * Double.BYTES));
      case UINT64 -> data.get(JAVA_LONG_UNALIGNED, index * Long.BYTES) ^ Long.MIN_VALUE;
      default -> integer(index);
    };
  }

  /** Orders NaN below everything; both zeros are equal. */
  private static long key(double value) {
    if (Double.isNaN(value)) {
      return Long.MIN_VALUE;
    }
    long bits = Double.doubleToRawLongBits(value + 0.0);
    return bits ^ (bits >> 63 & Long.MAX_VALUE);
  }

  /** Writes the element as C++ prints it. */
  void write(long index, StringBuilder text) {
    switch (type) {
      case FP32 -> fixed(data.get(JAVA_FLOAT_UNALIGNED, index * Float.BYTES), text);
      case FP64 -> fixed(data.get(JAVA_DOUBLE_UNALIGNED, index * Double.BYTES), text);
      case UINT64 ->
          text.append(Long.toUnsignedString(data.get(JAVA_LONG_UNALIGNED, index * Long.BYTES)));
      default -> text.append(integer(index));
    }
  }

  private static void fixed(double value, StringBuilder text) {
    if (Double.doubleToRawLongBits(value) < 0) {
      text.append('-');
    }
    double size = Math.abs(value);
    if (Double.isNaN(size)) {
      text.append("nan");
    } else if (Double.isInfinite(size)) {
      text.append("inf");
    } else if (size <= LARGEST_ZERO) {
      // shortcut: the exact value of the smallest numbers has a thousand digits
      text.append("0.000000");
    } else if (size < LARGEST_SCALED) {
      long scaled = scaled(size);
      int point = text.append(scaled / SCALE).length();
      text.append(SCALE + scaled % SCALE).setCharAt(point, '.'); // in place of a 1
    } else {
      // Rounds the exact value once.
      text.append(new BigDecimal(size).setScale(DECIMALS, RoundingMode.HALF_EVEN).toPlainString());
    }
  }

  /** The exact value, which is not smaller than half of the last digit, in last digits. */
  private static long scaled(double size) {
    double product = size * SCALE;
    double error = Math.fma(size, SCALE, -product); // the exact product is the sum of both
    double rounded = Math.rint(product);
    double off = product - rounded;
    // The error decides only what seemed to lie in the middle.
    if (off == 0.5 && error > 0) {
      rounded++;
    } else if (off == -0.5 && error < 0) {
      rounded--;
    }
    return (long) rounded;
  }

  private long integer(long index) {
    return switch (type) {
      case INT8 -> data.get(JAVA_BYTE, index);
      case UINT8 -> data.get(JAVA_BYTE, index) & 0xff;
      case INT16 -> data.get(JAVA_SHORT_UNALIGNED, index * Short.BYTES);
      case UINT16 -> data.get(JAVA_SHORT_UNALIGNED, index * Short.BYTES) & 0xffff;
      case INT32 -> data.get(JAVA_INT_UNALIGNED, index * Integer.BYTES);
      case UINT32 -> data.get(JAVA_INT_UNALIGNED, index * Integer.BYTES) & 0xffff_ffffL;
      case INT64 -> data.get(JAVA_LONG_UNALIGNED, index * Long.BYTES);
      default -> throw new IllegalStateException(type + " has no integers");
    };
  }
}
