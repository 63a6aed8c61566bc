package io.nereid.server.metrics;

import io.nereid.server.options.RecordCopy;
import java.util.List;

/**
 * The forms in which metrics have models' latencies, as in Triton's --metrics-config.
 *
 * @param counters whether their sums are there
 * @param histograms whether Triton's histograms are
 * @param summaries whether quantiles are; the runtime has to keep {@link
 *     io.nereid.NereidOptions#stageHistograms} for them
 * @param quantiles which, each from 0 to 1
 */
public record MetricsConfig(
    boolean counters, boolean histograms, boolean summaries, List<Double> quantiles) {

  /** Counters and histograms, and Triton's quantiles if summaries are asked for. */
  public static final MetricsConfig DEFAULT =
      new MetricsConfig(true, true, false, List.of(0.5, 0.9, 0.95, 0.99, 0.999));

  /** Checks the quantiles and copies them. */
  public MetricsConfig {
    quantiles = List.copyOf(quantiles);
    for (double quantile : quantiles) {
      if (!(quantile >= 0 && quantile <= 1)) {
        throw new IllegalArgumentException("quantiles must be 0 to 1, got " + quantile);
      }
    }
  }

  /** Returns a copy with or without sums. */
  public MetricsConfig withCounters(boolean wanted) {
    return RecordCopy.with(this, "counters", wanted);
  }

  /** Returns a copy with or without Triton's histograms. */
  public MetricsConfig withHistograms(boolean wanted) {
    return RecordCopy.with(this, "histograms", wanted);
  }

  /** Returns a copy with or without quantiles. */
  public MetricsConfig withSummaries(boolean wanted) {
    return RecordCopy.with(this, "summaries", wanted);
  }

  /** Returns a copy with other quantiles. */
  public MetricsConfig withQuantiles(List<Double> others) {
    return RecordCopy.with(this, "quantiles", others);
  }
}
