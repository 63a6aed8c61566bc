package io.nereid.server.metrics;

import io.nereid.server.trace.TraceExemplars;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.Histogram;
import java.math.BigDecimal;
import java.util.List;
import java.util.stream.Stream;

/**
 * Reduces the core's hundreds of histogram ranges to a few with round bounds, the same for all
 * models.
 */
final class Buckets {

  /** Durations in seconds. */
  static final Buckets SECONDS =
      new Buckets(
          1_000_000_000,
          "0.00001",
          "0.000025",
          "0.00005",
          "0.0001",
          "0.00025",
          "0.0005",
          "0.001",
          "0.0025",
          "0.005",
          "0.01",
          "0.025",
          "0.05",
          "0.1",
          "0.25",
          "0.5",
          "1",
          "2.5",
          "5",
          "10");

  /** Durations in milliseconds, by Triton's bounds. */
  static final Buckets MILLISECONDS = new Buckets(1_000_000, "100", "500", "2000", "5000");

  /** Batch sizes. */
  static final Buckets SIZES =
      new Buckets(1, "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024");

  private final long unit;
  private final String[] labels;
  private final long[] bounds;

  private Buckets(long unit, String... labels) {
    this.unit = unit;
    this.labels = labels;
    bounds =
        Stream.of(labels)
            .mapToLong(
                label -> new BigDecimal(label).multiply(BigDecimal.valueOf(unit)).longValueExact())
            .toArray();
  }

  /**
   * Writes durations. If a bound falls into one of the core's ranges, all durations of that range
   * count as above the bound, so that no duration seems shorter than it was. Such a range is 1/16
   * of the bound at most.
   */
  void write(MetricsText text, String series, Histogram durations, long totalNs) {
    write(text, series, durations, totalNs, List.of());
  }

  /** Writes durations with exemplars, of which each bucket gets the newest. */
  void write(
      MetricsText text,
      String series,
      Histogram durations,
      long totalNs,
      List<TraceExemplars.Exemplar> examples) {
    long[] cumulative = new long[bounds.length];
    long count = 0;
    int bound = 0;
    for (int i = 0; i < durations.bucketCount(); i++) {
      while (bound < bounds.length && durations.bucketNs(i) > bounds[bound]) {
        cumulative[bound++] = count;
      }
      count += durations.count(i);
    }
    text.histogramSample(
        series, labels, cumulative, count, totalNs / (double) unit, exemplars(examples));
  }

  private String[] exemplars(List<TraceExemplars.Exemplar> examples) {
    TraceExemplars.Exemplar[] newest = new TraceExemplars.Exemplar[bounds.length + 1];
    for (TraceExemplars.Exemplar example : examples) {
      int bucket = 0;
      while (bucket < bounds.length && example.durationNs() > bounds[bucket]) {
        bucket++;
      }
      if (newest[bucket] == null || newest[bucket].endMs() <= example.endMs()) {
        newest[bucket] = example;
      }
    }
    String[] exemplars = new String[newest.length];
    for (int i = 0; i < newest.length; i++) {
      if (newest[i] != null) {
        exemplars[i] =
            MetricsText.exemplar(
                newest[i].traceId(), newest[i].durationNs() / (double) unit, newest[i].endMs());
      }
    }
    return exemplars;
  }

  /** Writes the sizes of batches. */
  void write(MetricsText text, String series, List<BatchStatistics> batches) {
    long[] cumulative = new long[bounds.length];
    long count = 0;
    long sum = 0;
    for (BatchStatistics batch : batches) {
      long executions = batch.computeInfer().count();
      for (int i = bounds.length - 1; i >= 0 && batch.batchSize() <= bounds[i]; i--) {
        cumulative[i] += executions;
      }
      count += executions;
      sum += batch.batchSize() * executions;
    }
    text.histogramSample(series, labels, cumulative, count, sum, exemplars(List.of()));
  }
}
