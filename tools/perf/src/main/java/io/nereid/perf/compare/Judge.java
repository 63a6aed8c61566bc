package io.nereid.perf.compare;

import io.nereid.perf.compare.Bootstrap.Estimate;
import io.nereid.perf.compare.Outcome.Verdict;

/**
 * Gives the verdict on a ratio.
 *
 * <p>A slowdown is reported only if the ratio is above the threshold and the interval, corrected
 * for the number of comparisons, excludes 1, and if a second batch of forks, estimated separately,
 * also excludes 1 and the ratio of all forks is still above the threshold.
 *
 * @param threshold the least slowdown that is reported, as a share
 */
record Judge(double threshold) {

  /** True if a second batch is needed. */
  boolean isSuspect(Estimate first) {
    return first.isSlower() && first.ratio() > 1 + threshold;
  }

  /** The verdict on a ratio without a second batch. */
  Verdict first(Estimate estimate) {
    if (estimate == null) {
      return Verdict.UNKNOWN;
    }
    if (isSuspect(estimate)) {
      return Verdict.NOT_CONFIRMED;
    }
    boolean faster = estimate.isFaster() && estimate.ratio() < 1 / (1 + threshold);
    return faster ? Verdict.FASTER : Verdict.NO_CHANGE;
  }

  /**
   * The verdict on a suspect.
   *
   * @param second the second batch alone
   * @param both both batches together
   */
  Verdict confirmed(Estimate second, Estimate both) {
    boolean confirmed = second != null && second.low() > 1 && both.ratio() > 1 + threshold;
    return confirmed ? Verdict.SLOWER : Verdict.NOT_CONFIRMED;
  }

  /** True if the interval is so narrow that more forks are not needed. */
  boolean isNarrow(Estimate estimate) {
    return estimate != null && estimate.halfWidth() < threshold / 2;
  }
}
