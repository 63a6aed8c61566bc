package io.nereid.perf.compare;

import java.util.Random;

/**
 * Forks of a machine that other work disturbs: it changes its speed slowly, forks differ, and now
 * and then one is slowed a lot. Time passes as forks run.
 */
final class SimulatedForks implements Fork.Source<String> {

  private static final long FORK_NS = 1_500_000_000L;

  private final Random random;
  private final String candidate;
  private final double timeFactor;
  private final double cpuFactor;
  private final double deviation;
  private long nowNs;

  /** With a candidate whose cost is the base's times the factors. */
  SimulatedForks(
      long seed, String candidate, double timeFactor, double cpuFactor, double deviation) {
    random = new Random(seed);
    this.candidate = candidate;
    this.timeFactor = timeFactor;
    this.cpuFactor = cpuFactor;
    this.deviation = deviation;
  }

  long nowNs() {
    return nowNs;
  }

  @Override
  public Fork run(String side, BenchmarkId id) {
    nowNs += FORK_NS;
    boolean changed = side.equals(candidate) && id.name().endsWith("changed");
    double minutes = nowNs / 60e9;
    double weather = 1 + 0.1 * Math.sin(minutes) + 0.02 * minutes;
    double own = Math.exp(deviation * random.nextGaussian());
    double spike = random.nextInt(12) == 0 ? 1 + random.nextDouble() : 1;
    double cpuNs = 800 * Math.sqrt(weather) * own * (changed ? cpuFactor : 1);
    double timeNs =
        800
            * weather
            * own
            * spike
            * Math.exp(deviation * random.nextGaussian())
            * (changed ? timeFactor : 1);
    return new Fork(timeNs, cpuNs, 297);
  }
}
