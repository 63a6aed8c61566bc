package io.nereid.server.json;

import java.math.BigInteger;
import tools.jackson.core.io.NumberInput;

/** Reads a decimal number and converts it to the nearest binary one. */
final class JsonNumber {

  /** Digits are taken as long as their value is below this, so that one more fits a long. */
  private static final long MOST_DIGITS = 100_000_000_000_000_000L;

  /** Powers of ten that are exact as doubles. */
  private static final double[] POWERS = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22
  };

  private static final int MOST_BYTES = 1000;

  private static final long MOST_EXACT = 1L << 53;

  // A double whose lower bits are these lies exactly between two floats.
  private static final long BELOW_FLOAT = (1L << 29) - 1;
  private static final long MIDPOINT = 1L << 28;

  /**
   * A double this close to the midpoint of two floats, in units of its last place, does not tell
   * which float is nearer. The double's own error is at most three units: one half from the digits
   * that were left out, one from the rest of them, one from the power.
   */
  private static final long ERROR = 8;

  private boolean negative;
  private long digits;
  private int exponent;
  private boolean exact;
  private boolean isSpecial;
  private double special;
  private char[] characters = new char[64];

  /**
   * Reads a number whose first byte behind a sign was taken; true if it has a fraction or an
   * exponent.
   */
  boolean read(JsonBytes text, boolean negative, int first) {
    int c = first;
    if (!isDigit(c)) {
      throw text.unexpected(c, "a digit");
    }
    long digits = 0;
    int exponent = 0;
    boolean exact = true;
    int leading = c;
    int length = 0;
    for (; isDigit(c); c = text.take(), length++) {
      if (digits < MOST_DIGITS) {
        digits = digits * 10 + (c - '0');
      } else {
        exact = false;
        exponent++;
      }
    }
    if (leading == '0' && length > 1) {
      throw text.malformed("a number starts with 0");
    }
    boolean fraction = c == '.' || c == 'e' || c == 'E';
    if (c == '.') {
      c = text.take();
      if (!isDigit(c)) {
        throw text.unexpected(c, "a digit");
      }
      for (; isDigit(c); c = text.take()) {
        if (digits < MOST_DIGITS) {
          digits = digits * 10 + (c - '0');
          exponent--;
        } else {
          exact = false;
        }
      }
    }
    if (c == 'e' || c == 'E') {
      c = text.take();
      boolean down = c == '-';
      if (down || c == '+') {
        c = text.take();
      }
      if (!isDigit(c)) {
        throw text.unexpected(c, "a digit");
      }
      int power = 0;
      for (; isDigit(c); c = text.take()) {
        power = Math.min(power * 10 + (c - '0'), 1 << 24);
      }
      exponent += down ? -power : power;
    }
    text.putBack(c);
    if (text.position() - text.tokenStart() > MOST_BYTES) {
      throw text.malformed("expected a number of at most " + MOST_BYTES + " characters");
    }
    set(negative, digits, exponent, exact);
    return fraction;
  }

  private static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  /** Sets {@code digits} times ten to the {@code exponent}; not exact: digits were left out. */
  private void set(boolean negative, long digits, int exponent, boolean exact) {
    this.negative = negative;
    this.digits = digits;
    this.exponent = exponent;
    this.exact = exact;
    isSpecial = false;
  }

  /** Sets NaN or an infinity. */
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

  /** True if all digits of an integer are in {@link #longValue}. */
  boolean isExact() {
    return exact;
  }

  long longValue() {
    return negative ? -digits : digits;
  }

  /** An integer of any size; the time grows faster than the number of digits. */
  BigInteger integer(String text) {
    return new BigInteger(text.length() > 64 ? text.substring(0, 64) : text);
  }

  /** The nearest float; NaN: only the slow way finds it. */
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

  /** The nearest double; NaN: only the slow way finds it. */
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

  /** An approximation of the number without its sign; NaN if the power is not exact. */
  private double quotient() {
    if (exponent == 0 || digits == 0) {
      return digits;
    }
    if (exponent < 0) {
      return -exponent < POWERS.length ? digits / POWERS[-exponent] : Double.NaN;
    }
    return exponent < POWERS.length ? digits * POWERS[exponent] : Double.NaN;
  }

  /** The nearest double to the text of any number. */
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
