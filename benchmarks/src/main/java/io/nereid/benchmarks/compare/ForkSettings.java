package io.nereid.benchmarks.compare;

/**
 * How long a fork warms up and measures: many short iterations, the better half of which counts.
 *
 * @param warmUps iterations before anything counts
 * @param warmUpMs length of each
 * @param iterations iterations that count
 * @param iterationMs length of each
 */
record ForkSettings(int warmUps, int warmUpMs, int iterations, int iterationMs) {

  /** Until the compilers are done with most of it. */
  static final ForkSettings THOROUGH = new ForkSettings(8, 200, 20, 50);

  /** For many forks in a minute. */
  static final ForkSettings QUICK = new ForkSettings(6, 100, 12, 40);

  long totalMs() {
    return (long) warmUps * warmUpMs + (long) iterations * iterationMs;
  }
}
