package io.nereid.server.http;

/**
 * Floats as decimal text, for the common case of moderate size; for others the caller has a slower
 * way. The results are the same as of that, to the letter.
 */
final class DecimalText {

  /** Room that {@link #write} may need. */
  static final int MAX_LENGTH = 24;

  /** Exact as doubles. */
  private static final double[] POWERS = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
  };

  private static final long[] WHOLE_POWERS = wholePowers();

  // A double whose lower bits are these lies exactly between two floats.
  private static final long BELOW_FLOAT = (1L << 29) - 1;
  private static final long MIDPOINT = 1L << 28;

  private DecimalText() {}

  private static long[] wholePowers() {
    long[] powers = new long[19];
    powers[0] = 1;
    for (int i = 1; i < powers.length; i++) {
      powers[i] = powers[i - 1] * 10;
    }
    return powers;
  }

  /** Whether rounding to a float depends on digits that rounding to a double has lost. */
  private static boolean isBetweenFloats(double value) {
    return (Double.doubleToRawLongBits(value) & BELOW_FLOAT) == MIDPOINT;
  }

  /**
   * Writes the shortest text that reads back as the same float, as {@link Float#toString(float)}
   * does; returns its end, or -1 when somebody else has to.
   */
  static int write(float value, byte[] to, int at) {
    double size = Math.abs((double) value);
    if (!(size >= 1e-3 && size < 1e7)) {
      return -1;
    }
    // With six digits, decimals are further apart than floats: if one of them is this float, it is
    // the nearest, and the zeros at its end can go. More digits are tried one by one.
    int fraction = fractionOfSixDigits(size);
    long digits = nearest(size, fraction);
    if (isFloat(digits, fraction, value)) {
      while (fraction > 1 && digits % 10 == 0) {
        digits /= 10;
        fraction--;
      }
      return put(value < 0, digits, fraction, to, at);
    }
    for (int more = 1; more <= 3; more++) {
      digits = nearest(size, fraction + more);
      if (isFloat(digits, fraction + more, value)) {
        return put(value < 0, digits, fraction + more, to, at);
      }
    }
    return -1;
  }

  /** Digits behind the point that make six from the first that is not zero; at least one. */
  private static int fractionOfSixDigits(double size) {
    int fraction = 8;
    for (double power = 1e-2; fraction > 1 && size >= power; power *= 10) {
      fraction--;
    }
    return fraction;
  }

  /** The product is exact: a float has 24 bits, and no power here more than 26 odd ones. */
  private static long nearest(double size, int fraction) {
    return (long) Math.rint(size * POWERS[fraction]);
  }

  private static boolean isFloat(long digits, int fraction, float value) {
    double read = digits / POWERS[fraction];
    return (float) read == Math.abs(value) && !isBetweenFloats(read);
  }

  private static int put(boolean negative, long digits, int fraction, byte[] to, int at) {
    int start = at;
    if (negative) {
      to[start++] = '-';
    }
    int count = fraction + 1; // a digit before the point, if only a zero
    while (digits >= WHOLE_POWERS[count]) {
      count++;
    }
    int end = start + count + 1;
    int point = end - 1 - fraction;
    long rest = digits;
    for (int i = end - 1; i > point; i--) {
      to[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    to[point] = '.';
    for (int i = point - 1; i >= start; i--) {
      to[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    return end;
  }
}
