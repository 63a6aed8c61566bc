package io.nereid.benchmarks.compare;

import java.util.Arrays;

/**
 * What one fresh JVM measured of one benchmark, for one operation.
 *
 * @param timeNs by the clock
 * @param cpuNs of all processors; NaN: it could not be read
 * @param allocatedBytes of the Java heap; NaN: unknown
 */
record Fork(double timeNs, double cpuNs, double allocatedBytes) {

  /**
   * One number of a fork's iterations: the mean of their lower half. What disturbs an iteration
   * makes it slower, never faster, so the lower half is where the code itself is seen.
   */
  static double lowerHalf(double[] iterations) {
    double[] sorted = iterations.clone();
    Arrays.sort(sorted);
    return Arrays.stream(sorted, 0, (sorted.length + 1) / 2).average().orElse(Double.NaN);
  }
}
