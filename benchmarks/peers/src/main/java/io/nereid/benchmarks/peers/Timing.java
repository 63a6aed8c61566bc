package io.nereid.benchmarks.peers;

import java.time.Duration;

/**
 * How long a case takes in a fork.
 *
 * @param warmUp processor time under load before anything is counted; twice, the first time for all
 *     cases
 * @param measured what is counted
 */
record Timing(Duration warmUp, Duration measured) {

  static final Timing FULL = new Timing(Duration.ofMillis(500), Duration.ofMillis(800));

  /** To see that everything works; the figures mean nothing. */
  static final Timing SMOKE = new Timing(Duration.ofMillis(100), Duration.ofMillis(100));

  /** What so many cases take in one fork that has a processor for itself, without its start. */
  Duration of(int caseCount) {
    return warmUp.multipliedBy(2).plus(measured).multipliedBy(caseCount);
  }
}
