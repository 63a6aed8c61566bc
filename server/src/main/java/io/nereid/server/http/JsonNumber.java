package io.nereid.server.http;

import java.math.BigInteger;
import tools.jackson.core.io.NumberInput;

/** A decimal number that was read: its first digits, and ways to the nearest binary one. */
final class JsonNumber {

  /** Digits are taken as long as their value is below this, so that one more fits a long. */
  static final long MOST_DIGITS = 100_000_000_000_000_000L;

  /** Exact as doubles. */
  private static final double[] POWERS = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22
  };

  private static final long MOST_EXACT = 1L << 53;

  // A double whose lower bits are these lies exactly between two floats.
  private static final long BELOW_FLOAT = (1L << 29) - 1;
  private static final long MIDPOINT = 1L << 28;

  /**
   * How close to it a double may be whose own error is at most three units in its last place: one
   * half from the digits that were left out, one from the rest of them, one from the power.
   */
  private static final long ERROR = 8;

  private boolean negative;
  private long digits;
  private int exponent;
  private boolean exact;
  private boolean isSpecial;
  private double special;
  private char[] characters = new char[64];

  /** {@code digits} times ten to the {@code exponent}; not exact: there were more digits. */
  void set(boolean negative, long digits, int exponent, boolean exact) {
    this.negative = negative;
    this.digits = digits;
    this.exponent = exponent;
    this.exact = exact;
    isSpecial = false;
  }

  /** NaN or infinite. */
  void special(double value) {
    special = value;
    isSpecial = true;
  }

  boolean isSpecial() {
    return isSpecial;
  }

  double special() {
    return special;
  }

  /** Whether all digits of an integer are in {@link #longValue}. */
  boolean isExact() {
    return exact;
  }

  long longValue() {
    return negative ? -digits : digits;
  }

  /** An integer of any size; it takes time that grows faster than the number of its digits. */
  BigInteger integer(String text) {
    return new BigInteger(text.length() > 64 ? text.substring(0, 64) : text);
  }

  /** The nearest float; NaN: somebody else has to find it. */
  float quickFloat() {
    if (isSpecial) {
      return (float) special;
    }
    double value = quotient();
    boolean normal = value >= Float.MIN_NORMAL && value <= Float.MAX_VALUE;
    long toMidpoint = (Double.doubleToRawLongBits(value) & BELOW_FLOAT) - MIDPOINT;
    if (value == 0 ? digits != 0 : !normal || Math.abs(toMidpoint) <= ERROR) {
      return Float.NaN;
    }
    return (float) (negative ? -value : value);
  }

  /** The nearest double; NaN: somebody else has to find it. */
  double quickDouble() {
    if (isSpecial) {
      return special;
    }
    // With exact operands the quotient is rounded once, and so correctly.
    if (!exact || digits > MOST_EXACT) {
      return Double.NaN;
    }
    double value = quotient();
    return negative ? -value : value;
  }

  /** Nearly the number without its sign; NaN when the power is not exact. */
  private double quotient() {
    if (exponent == 0 || digits == 0) {
      return digits;
    }
    if (exponent < 0) {
      return -exponent < POWERS.length ? digits / POWERS[-exponent] : Double.NaN;
    }
    return exponent < POWERS.length ? digits * POWERS[exponent] : Double.NaN;
  }

  /** The nearest double to the text of a number, whatever it is. */
  double slowDouble(byte[] text, int from, int to) {
    int length = to - from;
    if (characters.length < length) {
      characters = new char[length];
    }
    for (int i = 0; i < length; i++) {
      characters[i] = (char) text[from + i];
    }
    return NumberInput.parseDouble(characters, 0, length, true);
  }
}
