package io.nereid.server.shared;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteOrder;

/** Reads the elements of a tensor as scores: as numbers to be compared, and as text. */
final class ScoreReader {

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Digits behind the point, as C++ prints floating-point numbers. */
  private static final int DECIMALS = 6;

  /** A little less than half of the last digit. */
  private static final double LARGEST_ZERO = 5e-7;

  private final DataType type;
  private final MemorySegment data;

  /** For a type that {@link #isScore}. */
  ScoreReader(DataType type, MemorySegment data) {
    this.type = type;
    this.data = data;
  }

  /** Whether elements of this type can be scores. */
  static boolean isScore(DataType type) {
    return switch (type) {
      case INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FP32, FP64 -> true;
      case BOOL, FP16, BF16, BYTES -> false;
    };
  }

  /** A number that compares as the element does. */
  long key(long index) {
    return switch (type) {
      case FP32 -> key(data.get(FLOAT, index * Float.BYTES));
      case FP64 -> key(data.get(DOUBLE, index * Double.BYTES));
      case UINT64 -> data.get(LONG, index * Long.BYTES) ^ Long.MIN_VALUE;
      default -> integer(index);
    };
  }

  /** NaN is below everything; both zeros are the same. */
  private static long key(double value) {
    if (Double.isNaN(value)) {
      return Long.MIN_VALUE;
    }
    long bits = Double.doubleToRawLongBits(value + 0.0);
    return bits ^ (bits >> 63 & Long.MAX_VALUE);
  }

  /** The element as C++ prints it. */
  String text(long index) {
    return switch (type) {
      case FP32 -> fixed(data.get(FLOAT, index * Float.BYTES));
      case FP64 -> fixed(data.get(DOUBLE, index * Double.BYTES));
      case UINT64 -> Long.toUnsignedString(data.get(LONG, index * Long.BYTES));
      default -> Long.toString(integer(index));
    };
  }

  private static String fixed(double value) {
    boolean negative = Double.doubleToRawLongBits(value) < 0;
    String text;
    if (Double.isNaN(value)) {
      text = "nan";
    } else if (Double.isInfinite(value)) {
      text = "inf";
    } else if (Math.abs(value) <= LARGEST_ZERO) {
      text = "0.000000"; // the exact value of the smallest numbers has a thousand digits
    } else {
      // The exact value, rounded once.
      text =
          new BigDecimal(Math.abs(value))
              .setScale(DECIMALS, RoundingMode.HALF_EVEN)
              .toPlainString();
    }
    return negative ? "-" + text : text;
  }

  private long integer(long index) {
    return switch (type) {
      case INT8 -> data.get(JAVA_BYTE, index);
      case UINT8 -> data.get(JAVA_BYTE, index) & 0xff;
      case INT16 -> data.get(SHORT, index * Short.BYTES);
      case UINT16 -> data.get(SHORT, index * Short.BYTES) & 0xffff;
      case INT32 -> data.get(INT, index * Integer.BYTES);
      case UINT32 -> data.get(INT, index * Integer.BYTES) & 0xffff_ffffL;
      case INT64 -> data.get(LONG, index * Long.BYTES);
      default -> throw new IllegalStateException(type + " has no integers");
    };
  }
}
