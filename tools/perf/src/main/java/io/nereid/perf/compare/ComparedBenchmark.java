package io.nereid.perf.compare;

import io.nereid.perf.compare.Bootstrap.Estimate;
import io.nereid.perf.compare.Outcome.Metric;
import io.nereid.perf.compare.Outcome.Pair;
import io.nereid.perf.compare.Outcome.Verdict;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** One benchmark during its comparison: its pairs so far, and their estimates. */
final class ComparedBenchmark {

  private final BenchmarkId id;
  private final Judge judge;
  private final int comparisonCount;
  private final List<Pair> first = new ArrayList<>();
  private final List<Pair> second = new ArrayList<>();
  private final Map<Metric, Estimate> estimates =
      new EnumMap<>(Metric.class); // cache: estimates of `first`
  private String failure; // null: none

  ComparedBenchmark(BenchmarkId id, Judge judge, int comparisonCount) {
    this.id = id;
    this.judge = judge;
    this.comparisonCount = comparisonCount;
  }

  BenchmarkId id() {
    return id;
  }

  /** The number of pairs in the batch that finds suspects. */
  int firstCount() {
    return first.size();
  }

  /** The number of pairs in the batch that confirms. */
  int secondCount() {
    return second.size();
  }

  void addFirst(Pair pair) {
    first.add(pair);
    estimates.clear();
  }

  void addSecond(Pair pair) {
    second.add(pair);
  }

  void fail(String message) {
    failure = message;
  }

  boolean failed() {
    return failure != null;
  }

  /**
   * Returns the estimate by the first batch; null when it has too few pairs, or the system lacks
   * the metric.
   */
  Estimate firstEstimate(Metric metric) {
    if (!estimates.containsKey(metric)) {
      estimates.put(metric, estimate(metric, first));
    }
    return estimates.get(metric);
  }

  /** True if the intervals of all available metrics are narrow enough. */
  boolean isNarrow() {
    if (!judge.isNarrow(firstEstimate(Metric.TIME))) {
      return false;
    }
    Estimate cpu = firstEstimate(Metric.CPU);
    return cpu == null || judge.isNarrow(cpu);
  }

  boolean isSuspect() {
    for (Metric metric : Metric.values()) {
      if (isSuspect(metric)) {
        return true;
      }
    }
    return false;
  }

  private boolean isSuspect(Metric metric) {
    Estimate estimate = firstEstimate(metric);
    return estimate != null && judge.isSuspect(estimate);
  }

  private Estimate estimate(Metric metric, List<Pair> pairs) {
    double[] logRatios = metric.logRatios(pairs);
    return logRatios.length < Bootstrap.LEAST_PAIRS
        ? null
        : Bootstrap.estimate(logRatios, comparisonCount, id.key().hashCode());
  }

  Outcome outcome() {
    List<Pair> all = new ArrayList<>(first);
    all.addAll(second);
    Map<Metric, Estimate> both = new EnumMap<>(Metric.class);
    Map<Metric, Verdict> verdicts = new EnumMap<>(Metric.class);
    for (Metric metric : Metric.values()) {
      Estimate estimate = estimate(metric, all);
      if (estimate == null && metric == Metric.CPU && !first.isEmpty()) {
        continue; // this system lacks the metric
      }
      both.put(metric, estimate);
      verdicts.put(
          metric,
          isSuspect(metric) && !second.isEmpty()
              ? judge.confirmed(estimate(metric, second), estimate)
              : judge.first(firstEstimate(metric)));
    }
    return new Outcome(id, List.copyOf(all), both, verdicts, failure);
  }
}
