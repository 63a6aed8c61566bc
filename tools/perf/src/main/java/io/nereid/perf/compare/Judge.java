package io.nereid.perf.compare;

import io.nereid.perf.compare.Bootstrap.Estimate;
import io.nereid.perf.compare.Outcome.Verdict;

/**
 * Decides what a ratio means.
 *
 * <p>A slowdown is reported only if the ratio is above the threshold and the interval that allows
 * for the number of comparisons excludes 1, and then a second batch of forks, which was asked for
 * because of the first and is counted by itself, excludes 1 as well and leaves the ratio of all
 * forks above the threshold.
 *
 * @param threshold a smaller slowdown is none, as a share
 */
record Judge(double threshold) {

  /** True if a second batch is to be asked. */
  boolean isSuspect(Estimate first) {
    return first.isSlower() && first.ratio() > 1 + threshold;
  }

  /** The verdict on a ratio that no second batch was asked about. */
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

  /** True if more forks would tell nothing that matters. */
  boolean isNarrow(Estimate estimate) {
    return estimate != null && estimate.halfWidth() < threshold / 2;
  }
}
