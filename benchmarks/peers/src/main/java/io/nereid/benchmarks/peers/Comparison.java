package io.nereid.benchmarks.peers;

import java.util.Arrays;
import java.util.List;
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
    return Ratio.of(logRatios);
  }

  static double median(List<ForkCase> forks, ToDoubleFunction<ForkCase> figure) {
    double[] values = forks.stream().mapToDouble(figure).toArray();
    Arrays.sort(values);
    int middle = values.length / 2;
    return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }
}
