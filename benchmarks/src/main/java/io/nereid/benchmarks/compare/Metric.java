package io.nereid.benchmarks.compare;

import java.util.List;
import java.util.function.ToDoubleFunction;

/** What of a fork is compared. */
enum Metric {
  /** Time by the clock: what users see, and what other work on the machine disturbs most. */
  TIME("time", Fork::timeNs),
  /** Processor time: stands still while others have the processors. */
  CPU("cpu", Fork::cpuNs);

  private final String label;
  private final ToDoubleFunction<Fork> value;

  Metric(String label, ToDoubleFunction<Fork> value) {
    this.label = label;
    this.value = value;
  }

  String label() {
    return label;
  }

  double of(Fork fork) {
    return value.applyAsDouble(fork);
  }

  /** Logarithms of candidate / base; pairs in which one could not be read are left out. */
  double[] logRatios(List<Pair> pairs) {
    return pairs.stream()
        .mapToDouble(pair -> Math.log(of(pair.candidate()) / of(pair.base())))
        .filter(Double::isFinite)
        .toArray();
  }
}
