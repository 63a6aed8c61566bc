package io.nereid.perf;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Random;

/**
 * Says when requests of an open loop should be sent: at a constant rate, or at random with
 * independent gaps (a Poisson process). It does not wait for anybody: a request that could not be
 * sent in time keeps its time, and its latency counts from there.
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

  /** The time of the next request that nobody has taken. */
  synchronized long nextNs() {
    return startNs + (long) offsetNs;
  }

  /** Takes the next request if its time has come; else {@link #NONE}. */
  synchronized long takeDue(long nowNs) {
    long atNs = startNs + (long) offsetNs;
    if (atNs - nowNs > 0) {
      return NONE;
    }
    taken++;
    // Not summed up for a constant rate, where the errors of the sum would be a drift.
    offsetNs = random == null ? taken * 1e9 / ratePerSecond : offsetNs + gapNs();
    return atNs;
  }

  private double gapNs() {
    return -Math.log1p(-random.nextDouble()) * 1e9 / ratePerSecond;
  }

  /** About how many requests are due and not taken. */
  long backlog(long nowNs) {
    long lateNs = nowNs - nextNs();
    return lateNs <= 0 ? 0 : 1 + (long) (lateNs / 1e9 * ratePerSecond);
  }
}
