package io.nereid.statistics;

/**
 * A count of events, and their total time.
 *
 * @param count the number of events
 * @param totalNs all durations together, in nanoseconds
 */
public record DurationStatistic(long count, long totalNs) {

  /** The mean in nanoseconds; 0 without events. */
  public double meanNs() {
    return count == 0 ? 0 : (double) totalNs / count;
  }
}
