package io.nereid.perf.compare;

/**
 * Quantiles of Student's t distribution, for few degrees of freedom too. With t = sqrt(n) tan(a)
 * its density becomes cos(a) to the power of n - 1, which Simpson's rule integrates with more than
 * enough digits.
 */
final class StudentT {

  private static final int STEPS = 400;

  private StudentT() {}

  /**
   * The quantile.
   *
   * @param upperTail probability above it, at most one half
   * @param freedom degrees of freedom, at least 1
   */
  static double quantile(double upperTail, int freedom) {
    double wanted = 2 * upperTail * integral(0, Math.PI / 2, freedom - 1);
    double low = 0;
    double high = Math.PI / 2;
    for (int i = 0; i < 40; i++) {
      double middle = (low + high) / 2;
      if (integral(middle, Math.PI / 2, freedom - 1) > wanted) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return Math.sqrt(freedom) * Math.tan((low + high) / 2);
  }

  /** The integral of a power of the cosine. */
  private static double integral(double from, double to, int power) {
    double step = (to - from) / STEPS;
    double sum = Math.pow(Math.cos(from), power) + Math.pow(Math.abs(Math.cos(to)), power);
    for (int i = 1; i < STEPS; i++) {
      sum += (i % 2 == 1 ? 4 : 2) * Math.pow(Math.cos(from + i * step), power);
    }
    return sum * step / 3;
  }
}
