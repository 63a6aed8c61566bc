package io.nereid.statistics;

import java.util.Arrays;

/**
 * A distribution of durations in fixed buckets. All histograms share their buckets, so those of
 * several models or versions can be merged. Immutable.
 */
public final class Histogram {

  /** Inclusive upper bounds in nanoseconds, ascending; shared by all histograms. */
  private final long[] boundsNs;

  private final long[] counts;

  /**
   * Makes a histogram, which owns both arrays: do not change them afterwards.
   *
   * @param boundsNs inclusive upper bounds of the buckets, ascending
   * @param counts how many durations are in each bucket
   */
  public Histogram(long[] boundsNs, long[] counts) {
    if (boundsNs.length != counts.length) {
      throw new IllegalArgumentException(
          boundsNs.length + " buckets but " + counts.length + " counts");
    }
    this.boundsNs = boundsNs;
    this.counts = counts;
  }

  /** The number of durations in the histogram. */
  public long count() {
    long sum = 0;
    for (long count : counts) {
      sum += count;
    }
    return sum;
  }

  /** The number of buckets. */
  public int bucketCount() {
    return counts.length;
  }

  /** The longest duration that belongs to {@code bucket}, in nanoseconds. */
  public long bucketNs(int bucket) {
    return boundsNs[bucket];
  }

  /** The number of durations in {@code bucket}. */
  public long count(int bucket) {
    return counts[bucket];
  }

  /**
   * A duration in nanoseconds that {@code percent} of all durations do not exceed: the upper bound
   * of their bucket. 0 when the histogram is empty.
   */
  public long percentileNs(double percent) {
    if (!(percent >= 0 && percent <= 100)) {
      throw new IllegalArgumentException("percent must be from 0 to 100, got " + percent);
    }
    long total = count();
    if (total == 0) {
      return 0;
    }
    long rank = Math.max(1, (long) Math.ceil(total * (percent / 100)));
    long seen = 0;
    for (int i = 0; i < counts.length; i++) {
      seen += counts[i];
      if (seen >= rank) {
        return boundsNs[i];
      }
    }
    return boundsNs[boundsNs.length - 1];
  }

  /** The durations of both. */
  public Histogram merge(Histogram other) {
    if (!Arrays.equals(boundsNs, other.boundsNs)) {
      throw new IllegalArgumentException("the histograms have different buckets");
    }
    long[] sums = new long[counts.length];
    for (int i = 0; i < sums.length; i++) {
      sums[i] = counts[i] + other.counts[i];
    }
    return new Histogram(boundsNs, sums);
  }

  /**
   * Returns the durations that were added since {@code earlier}; all of them if the histogram was
   * begun anew since then.
   */
  public Histogram since(Histogram earlier) {
    if (!Arrays.equals(boundsNs, earlier.boundsNs)) {
      throw new IllegalArgumentException("the histograms have different buckets");
    }
    long[] added = new long[counts.length];
    for (int i = 0; i < added.length; i++) {
      added[i] = counts[i] - earlier.counts[i];
      if (added[i] < 0) {
        return this;
      }
    }
    return new Histogram(boundsNs, added);
  }

  /** A short summary for logs. */
  @Override
  public String toString() {
    return "Histogram[count=%s, p50Ns=%s, p99Ns=%s]"
        .formatted(count(), percentileNs(50), percentileNs(99));
  }
}
