package io.nereid.benchmarks.peers;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A ratio over pairs of forks that ran one after the other, with its 95 % interval by a bootstrap
 * over the pairs.
 *
 * @param low not a number where there are too few pairs for an interval
 * @param high as {@code low}
 */
record Ratio(double value, double low, double high) {

  private static final int LEAST_PAIRS = 4;
  private static final int RESAMPLES = 2000;

  /** Of the logarithms of the pairs' ratios. */
  static Ratio of(double[] logRatios) {
    double value = Math.exp(mean(logRatios));
    if (logRatios.length < LEAST_PAIRS) {
      return new Ratio(value, Double.NaN, Double.NaN);
    }
    // The same figures give the same interval.
    SplittableRandom random = new SplittableRandom(logRatios.length);
    double[] means = new double[RESAMPLES];
    double[] resample = new double[logRatios.length];
    for (int i = 0; i < RESAMPLES; i++) {
      for (int j = 0; j < resample.length; j++) {
        resample[j] = logRatios[random.nextInt(logRatios.length)];
      }
      means[i] = mean(resample);
    }
    Arrays.sort(means);
    return new Ratio(
        value, Math.exp(means[RESAMPLES / 40]), Math.exp(means[RESAMPLES - RESAMPLES / 40 - 1]));
  }

  private static double mean(double[] values) {
    return Arrays.stream(values).average().orElseThrow();
  }

  boolean hasInterval() {
    return !Double.isNaN(low);
  }
}
