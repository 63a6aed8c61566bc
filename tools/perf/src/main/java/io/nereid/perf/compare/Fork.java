package io.nereid.perf.compare;

import java.util.Arrays;

/**
 * The measurement of one benchmark by one fresh process, for one operation.
 *
 * @param timeNs by the clock
 * @param cpuNs of all processors; NaN: unknown
 * @param allocatedBytes of the Java heap; NaN: not known
 */
public record Fork(double timeNs, double cpuNs, double allocatedBytes) {

  /**
   * Returns one number for a fork's iterations: the mean of their lower half. A disturbance makes
   * an iteration slower, never faster, so the lower half shows the code itself.
   */
  public static double lowerHalf(double[] iterations) {
    double[] sorted = iterations.clone();
    Arrays.sort(sorted);
    return Arrays.stream(sorted, 0, (sorted.length + 1) / 2).average().orElse(Double.NaN);
  }

  /**
   * The lengths of a fork's warm-up and measurement: many short iterations, of which the faster
   * half counts.
   *
   * @param warmUps iterations before anything counts
   * @param warmUpMs length of each
   * @param iterations iterations that count
   * @param iterationMs length of each
   */
  public record Settings(int warmUps, int warmUpMs, int iterations, int iterationMs) {

    /** Long enough for the compilers to finish most of their work. */
    public static final Settings THOROUGH = new Settings(8, 200, 20, 50);

    /** Short, for many forks in a minute. */
    public static final Settings QUICK = new Settings(6, 100, 12, 40);

    private static final int MOST_LOAD = 12;

    /** The total time, if no iteration takes longer. */
    public long totalMs() {
      return (long) warmUps * warmUpMs + (long) iterations * iterationMs;
    }

    /**
     * Returns longer settings for a busy machine, on which the code would otherwise be measured
     * before it is compiled.
     *
     * @param load threads that want a processor, per processor
     */
    public Settings under(double load) {
      int factor = (int) Math.max(1, Math.min(load, MOST_LOAD));
      return new Settings(
          warmUps * factor, warmUpMs, iterations, iterationMs * Math.min(factor, 3));
    }
  }

  /**
   * Runs forks.
   *
   * @param <S> the type of sides
   */
  @FunctionalInterface
  public interface Source<S> {

    /** Measures one benchmark of one side in a fresh process. */
    Fork run(S side, BenchmarkId id) throws MeasurementException;
  }
}
