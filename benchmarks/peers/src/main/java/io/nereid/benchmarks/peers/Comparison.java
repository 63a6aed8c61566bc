package io.nereid.benchmarks.peers;

import io.nereid.benchmarks.compare.Bootstrap;
import io.nereid.benchmarks.compare.Estimate;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * A case of a plan, Nereid beside a peer.
 *
 * @param nereid its forks, by rounds
 * @param other the peer's, as many
 */
record Comparison(Plan plan, Case of, Side peer, List<ForkCase> nereid, List<ForkCase> other) {

  static Comparison of(Results results, Plan plan, Case each, Side peer) {
    return new Comparison(
        plan, each, peer, results.of(plan, Side.NEREID, each), results.of(plan, peer, each));
  }

  /**
   * Nereid's figure by the peer's.
   *
   * @param interval at 95 %; empty where there are too few pairs of forks for one
   */
  record Ratio(double value, Optional<Estimate> interval) {}

  /** Above 1: Nereid answers more. */
  Ratio throughput() {
    return ratio(ForkCase::requestsPerSecond);
  }

  /** Below 1: Nereid needs less. */
  Ratio cpu() {
    return ratio(ForkCase::cpuUsPerRequest);
  }

  private Ratio ratio(ToDoubleFunction<ForkCase> figure) {
    double[] logRatios = new double[nereid.size()];
    for (int i = 0; i < logRatios.length; i++) {
      logRatios[i] =
          Math.log(figure.applyAsDouble(nereid.get(i)) / figure.applyAsDouble(other.get(i)));
    }
    if (logRatios.length < Bootstrap.LEAST_PAIRS) {
      return new Ratio(median(nereid, figure) / median(other, figure), Optional.empty());
    }
    Estimate estimate = Bootstrap.estimate(logRatios, 1, of.id().hashCode());
    return new Ratio(estimate.ratio(), Optional.of(estimate));
  }

  static double median(List<ForkCase> forks, ToDoubleFunction<ForkCase> figure) {
    double[] values = forks.stream().mapToDouble(figure).toArray();
    Arrays.sort(values);
    int middle = values.length / 2;
    return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }
}
