package io.nereid.benchmarks.compare;

import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What a comparison says of one benchmark.
 *
 * @param id the benchmark
 * @param pairs all its forks, in the order in which they ran
 * @param estimates by metric; null: too few pairs; no entry: it cannot be read here
 * @param verdicts of the same metrics
 * @param failure why it could not be measured; null: it was
 */
record Outcome(
    BenchmarkId id,
    List<Pair> pairs,
    Map<Metric, Estimate> estimates,
    Map<Metric, Verdict> verdicts,
    String failure) {

  /** The one that matters most of all metrics. */
  Verdict verdict() {
    Verdict worst = Verdict.NO_CHANGE;
    for (Verdict candidate :
        List.of(Verdict.FASTER, Verdict.UNKNOWN, Verdict.NOT_CONFIRMED, Verdict.SLOWER)) {
      if (verdicts.containsValue(candidate)) {
        worst = candidate;
      }
    }
    return worst;
  }

  boolean isSlower() {
    return failure == null && verdict() == Verdict.SLOWER;
  }

  /** Median over the forks of a side. */
  double median(Function<Pair, Fork> side, Metric metric) {
    return median(pairs.stream().map(side).mapToDouble(metric::of).toArray());
  }

  /** Bytes of the Java heap that an operation takes, by the median fork. */
  double allocatedBytes(Function<Pair, Fork> side) {
    return median(pairs.stream().map(side).mapToDouble(Fork::allocatedBytes).toArray());
  }

  private static double median(double[] values) {
    return values.length == 0 ? Double.NaN : Bootstrap.median(values);
  }
}
