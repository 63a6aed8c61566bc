package io.nereid.internal.config;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.TextFormat;
import io.nereid.types.NereidException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Converts single JSON values to protobuf's text format. */
final class JsonScalars {

  /** More digits than any 64-bit number has. */
  private static final int MAX_DIGITS = 20;

  private static final int MAX_LENGTH = 100;

  /**
   * Matches numbers that always fit 32 bits: nearly all numbers, and those in the huge lists of
   * malicious requests.
   */
  private static final Pattern SMALL = Pattern.compile("-?[0-9]{1,9}");

  private static final Pattern DECIMAL = Pattern.compile("-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?");

  /** Makes the exception for a value that cannot be used. */
  interface Failure extends Function<String, NereidException> {}

  private JsonScalars() {}

  static String string(String value) {
    return "\"" + TextFormat.escapeBytes(ByteString.copyFromUtf8(value)) + "\"";
  }

  /** A whole number, also in the form {@code 1e3} or {@code 4.0}. */
  static String integer(FieldDescriptor field, String given, Failure failure) {
    boolean unsigned =
        switch (field.getType()) {
          case UINT32, UINT64, FIXED32, FIXED64 -> true;
          default -> false;
        };
    if (SMALL.matcher(given).matches()) {
      int small = Integer.parseInt(given);
      if (small >= 0 || !unsigned) {
        return Integer.toString(small);
      }
    }
    int bits = field.getJavaType() == FieldDescriptor.JavaType.INT ? 32 : 64;
    BigInteger least = unsigned ? BigInteger.ZERO : BigInteger.ONE.shiftLeft(bits - 1).negate();
    BigInteger most = BigInteger.ONE.shiftLeft(unsigned ? bits : bits - 1).subtract(BigInteger.ONE);
    BigInteger number = whole(given);
    if (number == null || number.compareTo(least) < 0 || number.compareTo(most) > 0) {
      throw failure.apply(
          "expected a whole number from " + least + " to " + most + ", got " + shortened(given));
    }
    return number.toString();
  }

  /** Returns a whole number; null if the text is none, or far too large. */
  private static BigInteger whole(String given) {
    BigDecimal number = decimal(given);
    if (number == null) {
      return null;
    }
    if (number.signum() == 0) {
      return BigInteger.ZERO;
    }
    BigDecimal stripped = number.stripTrailingZeros();
    // Checked before 1e999999999 becomes a number of that many digits.
    long digits = (long) stripped.precision() - stripped.scale();
    return stripped.scale() > 0 || digits > MAX_DIGITS ? null : stripped.toBigIntegerExact();
  }

  private static BigDecimal decimal(String given) {
    if (given.length() > MAX_LENGTH || !DECIMAL.matcher(given).matches()) {
      return null;
    }
    try {
      return new BigDecimal(given);
    } catch (NumberFormatException e) {
      return null; // the exponent is no int
    }
  }

  static String real(FieldDescriptor field, String given, Failure failure) {
    switch (given) {
      case "NaN" -> {
        return "nan";
      }
      case "Infinity" -> {
        return "inf";
      }
      case "-Infinity" -> {
        return "-inf";
      }
      default -> {
        boolean single = field.getJavaType() == FieldDescriptor.JavaType.FLOAT;
        if (decimal(given) != null) {
          double value = single ? Float.parseFloat(given) : Double.parseDouble(given);
          if (Double.isFinite(value)) {
            return single ? Float.toString((float) value) : Double.toString(value);
          }
        }
        throw failure.apply(
            "expected a number that fits %s bits, got %s"
                .formatted(single ? "32" : "64", shortened(given)));
      }
    }
  }

  static String constant(EnumDescriptor type, String given, Failure failure) {
    if (type.findValueByName(given) == null) {
      throw unknown(type, given, failure);
    }
    return given;
  }

  static String constantOfNumber(EnumDescriptor type, String given, Failure failure) {
    BigInteger number = whole(given);
    EnumValueDescriptor value =
        number == null || number.bitLength() > 31
            ? null
            : type.findValueByNumber(number.intValue());
    if (value == null) {
      throw unknown(type, given, failure);
    }
    return value.getName();
  }

  private static NereidException unknown(EnumDescriptor type, String given, Failure failure) {
    return failure.apply(
        "expected "
            + type.getValues().stream()
                .map(EnumValueDescriptor::getName)
                .collect(Collectors.joining(", "))
            + ", got "
            + shortened(given));
  }

  private static String shortened(String given) {
    return given.length() > 40 ? given.substring(0, 40) + "..." : given;
  }
}
