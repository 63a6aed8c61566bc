package io.nereid.server.json;

/**
 * Writes floats of moderate size as decimal text; for others the caller has a slower way. The
 * results of both are the same, to the letter.
 */
final class DecimalText {

  /** The room that {@link #write} may need. */
  static final int MAX_LENGTH = 24;

  /** Powers of ten that are exact as doubles. */
  private static final double[] POWERS = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
  };

  private static final int[] WHOLE_POWERS = {
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000
  };

  /** The binary exponent, as it is stored, of the least number that is written here. */
  private static final int LEAST_EXPONENT = Float.floatToIntBits(1e-3f) >>> 23;

  private static final int MANTISSA = (1 << 23) - 1;

  /** The digits behind the point for six significant digits, by binary exponent. */
  private static final byte[] FRACTIONS = fractions();

  /** The digits of 0 to 99. */
  private static final byte[] PAIRS = pairs();

  private DecimalText() {}

  private static byte[] fractions() {
    byte[] fractions = new byte[(Float.floatToIntBits(1e7f) >>> 23) - LEAST_EXPONENT + 1];
    for (int i = 0; i < fractions.length; i++) {
      float least = Math.max(1e-3f, Float.intBitsToFloat(i + LEAST_EXPONENT << 23));
      int fraction = 8;
      for (double power = 1e-2; fraction > 1 && least >= (float) power; power *= 10) {
        fraction--;
      }
      fractions[i] = (byte) fraction;
    }
    return fractions;
  }

  private static byte[] pairs() {
    byte[] pairs = new byte[200];
    for (int i = 0; i < 100; i++) {
      pairs[2 * i] = (byte) ('0' + i / 10);
      pairs[2 * i + 1] = (byte) ('0' + i % 10);
    }
    return pairs;
  }

  /**
   * Writes the shortest text that reads back as the same float, as {@link Float#toString(float)}
   * does; returns its end, or -1 if the caller's slower way is needed.
   */
  static int write(float value, byte[] to, int at) {
    float size = Math.abs(value);
    if (!(size >= 1e-3f && size < 1e7f)) {
      return -1;
    }
    int bits = Float.floatToRawIntBits(size);
    int exponent = bits >>> 23;
    // Half the distance to the next float, and to the one before, which is nearer if the mantissa
    // is 0.
    double up = Double.longBitsToDouble((long) (exponent - 127 - 24 + 1023) << 52);
    double down = (bits & MANTISSA) == 0 ? up / 2 : up;
    // Decimals of six digits are further apart than floats, and those of seven are not closer in
    // any range of one binary exponent used here: if one of them is this float, it is the nearest,
    // and its trailing zeros can go. More digits are tried one by one. Every product is exact: a
    // float has 24 bits, and a power here is 26 odd ones and some that only shift.
    int fraction = FRACTIONS[exponent - LEAST_EXPONENT];
    int most = fraction + 3;
    for (int tried = fraction; tried <= most; tried++) {
      double exact = size * POWERS[tried];
      double digits = Math.rint(exact);
      double error = digits - exact;
      if (error < up * POWERS[tried] && -error < down * POWERS[tried] && digits < 1e9) {
        return put(value < 0, (int) digits, tried, tried == fraction, to, at);
      }
    }
    return -1;
  }

  private static int put(
      boolean negative, int number, int places, boolean zeros, byte[] to, int at) {
    int digits = number;
    int fraction = places;
    if (zeros) {
      while (fraction > 1 && digits % 10 == 0) {
        digits /= 10;
        fraction--;
      }
    }
    int start = at;
    if (negative) {
      to[start++] = '-';
    }
    int count = fraction + 1; // at least one digit before the point
    while (count < WHOLE_POWERS.length && digits >= WHOLE_POWERS[count]) {
      count++;
    }
    int end = start + count + 1;
    int point = end - 1 - fraction;
    int whole = putBefore(end, digits, fraction, to);
    to[point] = '.';
    putBefore(point, whole, count - fraction, to);
    return end;
  }

  /**
   * Writes the last digits of a number so that they end at {@code end}; returns the rest of the
   * number.
   */
  private static int putBefore(int end, int number, int count, byte[] to) {
    int rest = number;
    int at = end;
    for (int left = count; left >= 2; left -= 2) {
      int pair = rest % 100 * 2;
      rest /= 100;
      to[--at] = PAIRS[pair + 1];
      to[--at] = PAIRS[pair];
    }
    if ((count & 1) != 0) {
      to[--at] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    return rest;
  }
}
