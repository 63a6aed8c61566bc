package io.nereid.statistics;

/**
 * The number of times that something happened, and the time that it took altogether.
 *
 * @param count how often
 * @param totalNs all durations together, in nanoseconds
 */
public record DurationStatistic(long count, long totalNs) {

  /** The mean in nanoseconds; 0 when it never happened. */
  public double meanNs() {
    return count == 0 ? 0 : (double) totalNs / count;
  }
}
