package io.nereid.benchmarks.compare;

/**
 * A ratio of the candidate's cost to the base's, with what is not known of it.
 *
 * @param ratio above 1: the candidate costs more
 * @param low lower end of the 95 % interval
 * @param high its upper end
 * @param strictLow lower end of the interval that judges: wider, because many ratios are judged
 * @param strictHigh its upper end
 * @param pairCount how many pairs of forks it comes from
 */
public record Estimate(
    double ratio, double low, double high, double strictLow, double strictHigh, int pairCount) {

  /** Half of the 95 % interval, as a share of the ratio. */
  double halfWidth() {
    return Math.sqrt(high / low) - 1;
  }

  /** The largest change that the 95 % interval leaves open, as a share. */
  double largestChange() {
    return Math.max(high, 1 / low) - 1;
  }

  boolean isSlower() {
    return strictLow > 1;
  }

  boolean isFaster() {
    return strictHigh < 1;
  }
}
