package io.nereid.perf.compare;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Intervals of a ratio by a bootstrap over pairs of forks.
 *
 * <p>The value of a pair is the logarithm of candidate / base for two forks that ran one after the
 * other, so that a longer slowdown of the machine affects both. The estimate is the mean without
 * the lowest and the highest fifth: nearly as precise as the whole mean for mild noise, and
 * insensitive to a few wild pairs. The bootstrap of few pairs is too narrow by nature; its spread
 * is widened by the factor by which Student's t exceeds the normal distribution for as many pairs.
 */
public final class Bootstrap {

  /** The fewest pairs for a meaningful interval. */
  public static final int LEAST_PAIRS = 4;

  private static final int RESAMPLES = 2000;
  private static final double NORMAL_95 = 1.959964;

  private Bootstrap() {}

  /**
   * The ratio and its intervals.
   *
   * @param logRatios of the pairs, at least {@link #LEAST_PAIRS}
   * @param comparisonCount the number of ratios judged together, this one included
   * @param seed of the resampling: the same data gives the same interval
   */
  public static Estimate estimate(double[] logRatios, int comparisonCount, long seed) {
    int count = logRatios.length;
    if (count < LEAST_PAIRS) {
      throw new IllegalArgumentException(
          "expected at least " + LEAST_PAIRS + " pairs, got " + count);
    }
    double center = trimmedMean(logRatios.clone());
    double deviation = deviation(logRatios, center, seed);
    double shrinkage = Math.sqrt(count / (count - 1.0));
    double half = deviation * shrinkage * StudentT.quantile(0.025, count - 1);
    double strictHalf =
        deviation * shrinkage * StudentT.quantile(0.025 / comparisonCount, count - 1);
    return new Estimate(
        Math.exp(center),
        Math.exp(center - half),
        Math.exp(center + half),
        Math.exp(center - strictHalf),
        Math.exp(center + strictHalf),
        count);
  }

  /** The mean without the fifth at either end; sorts the values. */
  static double trimmedMean(double[] values) {
    Arrays.sort(values);
    int cut = values.length / 5;
    double sum = 0;
    for (int i = cut; i < values.length - cut; i++) {
      sum += values[i];
    }
    return sum / (values.length - 2 * cut);
  }

  /**
   * The estimate's deviation by the bootstrap, as a standard deviation: computed from the middle 95
   * % of the resampled estimates, which extreme resamples do not affect.
   */
  private static double deviation(double[] values, double center, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double[] estimates = new double[RESAMPLES];
    double[] resample = new double[values.length];
    for (int i = 0; i < RESAMPLES; i++) {
      for (int j = 0; j < resample.length; j++) {
        resample[j] = values[random.nextInt(values.length)];
      }
      estimates[i] = trimmedMean(resample);
    }
    Arrays.sort(estimates);
    double low = center - estimates[(int) (0.025 * RESAMPLES)];
    double high = estimates[(int) (0.975 * RESAMPLES)] - center;
    return Math.max(low, high) / NORMAL_95;
  }

  /** The middle value; sorts the values. */
  public static double median(double[] values) {
    Arrays.sort(values);
    int middle = values.length / 2;
    return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }

  /**
   * A ratio of the candidate's cost to the base's, with its uncertainty.
   *
   * @param ratio above 1: the candidate costs more
   * @param low lower end of the 95 % interval
   * @param high its upper end
   * @param strictLow lower end of the interval for the verdict, which is wider because many ratios
   *     are judged
   * @param strictHigh its upper end
   * @param pairCount the number of pairs of forks
   */
  public record Estimate(
      double ratio, double low, double high, double strictLow, double strictHigh, int pairCount) {

    /** Half of the 95 % interval, as a share of the ratio. */
    double halfWidth() {
      return Math.sqrt(high / low) - 1;
    }

    /** The largest change within the 95 % interval, as a share. */
    double largestChange() {
      return Math.max(high, 1 / low) - 1;
    }

    boolean isSlower() {
      return strictLow > 1;
    }

    boolean isFaster() {
      return strictHigh < 1;
    }
  }
}
