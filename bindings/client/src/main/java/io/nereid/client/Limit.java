package io.nereid.client;

import java.time.Duration;
import java.util.Optional;

/** Until when a call may take. */
final class Limit {

  static final Limit NONE = new Limit(false, 0);

  private final boolean set;
  private final long deadlineNs; // of System.nanoTime

  private Limit(boolean set, long deadlineNs) {
    this.set = set;
    this.deadlineNs = deadlineNs;
  }

  /** So long from now on; empty: as long as it takes. */
  static Limit in(Optional<Duration> duration) {
    return duration.map(length -> new Limit(true, System.nanoTime() + nanos(length))).orElse(NONE);
  }

  /** At most a hundred years, beyond which nanoseconds overflow. */
  private static long nanos(Duration duration) {
    return duration.compareTo(Duration.ofDays(36_500)) > 0
        ? Duration.ofDays(36_500).toNanos()
        : duration.toNanos();
  }

  boolean isSet() {
    return set;
  }

  /** What is left, which can be below 0; no less than centuries when there is no limit. */
  long remainingNs() {
    return set ? deadlineNs - System.nanoTime() : Long.MAX_VALUE;
  }
}
