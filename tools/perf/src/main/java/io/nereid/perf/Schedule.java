package io.nereid.perf;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Random;

/**
 * The due times of an open loop's requests: at a constant rate, or with independent random gaps (a
 * Poisson process). Times do not move: a request that is sent late keeps its due time, from which
 * its latency counts.
 */
final class Schedule {

  /** No request is due. */
  static final long NONE = Long.MIN_VALUE;

  private final double ratePerSecond;
  private final Random random; // null: constant
  private final long startNs;

  @GuardedBy("this")
  private long taken;

  @GuardedBy("this")
  private double offsetNs;

  Schedule(double ratePerSecond, boolean poisson, long seed, long startNs) {
    this.ratePerSecond = ratePerSecond;
    this.startNs = startNs;
    random = poisson ? new Random(seed) : null;
    if (poisson) {
      offsetNs = gapNs();
    }
  }

  /** The time of the next request that was not taken. */
  synchronized long nextNs() {
    return startNs + (long) offsetNs;
  }

  /** Takes the next request if its time has come, and returns that; else {@link #NONE}. */
  synchronized long takeDue(long nowNs) {
    long atNs = startNs + (long) offsetNs;
    if (atNs - nowNs > 0) {
      return NONE;
    }
    taken++;
    // A product and not a sum for a constant rate, since rounding errors of a sum would drift.
    offsetNs = random == null ? taken * 1e9 / ratePerSecond : offsetNs + gapNs();
    return atNs;
  }

  private double gapNs() {
    return -Math.log1p(-random.nextDouble()) * 1e9 / ratePerSecond;
  }

  /** The approximate number of requests that are due and not taken. */
  long backlog(long nowNs) {
    long lateNs = nowNs - nextNs();
    return lateNs <= 0 ? 0 : 1 + (long) (lateNs / 1e9 * ratePerSecond);
  }
}
