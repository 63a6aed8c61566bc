package io.nereid.server.metrics;

import java.util.List;

/**
 * In which forms latencies of models are told: Triton's --metrics-config.
 *
 * @param counters whether their sums are there
 * @param histograms whether Triton's histograms are
 * @param summaries whether quantiles are; the runtime has to keep {@link
 *     io.nereid.NereidOptions#stageHistograms} for them
 * @param quantiles which, each from 0 to 1
 */
public record MetricsConfig(
    boolean counters, boolean histograms, boolean summaries, List<Double> quantiles) {

  /** Counters and histograms, and Triton's quantiles for who asks for summaries. */
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
}
