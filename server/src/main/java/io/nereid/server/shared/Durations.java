package io.nereid.server.shared;

import java.time.Duration;

/** Durations that people set. */
public final class Durations {

  /** Longer durations mean "without end", and would overflow as nanoseconds. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private Durations() {}

  /** The duration, or a hundred years if it is longer. */
  public static Duration limited(Duration duration) {
    return duration.compareTo(LONGEST) < 0 ? duration : LONGEST;
  }
}
