package io.nereid.perf.compare;

import io.nereid.perf.compare.Bootstrap.Estimate;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * The result of a comparison for one benchmark.
 *
 * @param id the benchmark
 * @param pairs its forks, in the order of their runs
 * @param estimates by metric; null: too few pairs; no entry: not available
 * @param verdicts of the same metrics
 * @param failure the reason why it could not be measured; null: it was
 */
record Outcome(
    BenchmarkId id,
    List<Pair> pairs,
    Map<Metric, Estimate> estimates,
    Map<Metric, Verdict> verdicts,
    String failure) {

  /** The most important verdict of all metrics. */
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

  /** Two forks that ran one after the other. */
  record Pair(Fork base, Fork candidate) {}

  /** The verdicts on a ratio. */
  enum Verdict {
    /** Slower by more than the threshold, in two independent batches of forks. */
    SLOWER("SLOWER"),
    /** Slower in the first batch, but not in the second. */
    NOT_CONFIRMED("slower, not confirmed"),
    FASTER("faster"),
    /** Any change is small or cannot be distinguished from noise. */
    NO_CHANGE("no change"),
    /** Too few pairs for an interval. */
    UNKNOWN("too few forks");

    private final String label;

    Verdict(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }
  }

  /** The figures of a fork that are compared. */
  enum Metric {
    /** Time by the clock, which users see, and which other work on the machine disturbs most. */
    TIME("time", Fork::timeNs),
    /** Processor time, which does not pass while other processes have the processors. */
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

    /** Logarithms of candidate / base; pairs with an unknown value are left out. */
    double[] logRatios(List<Pair> pairs) {
      return pairs.stream()
          .mapToDouble(pair -> Math.log(of(pair.candidate()) / of(pair.base())))
          .filter(Double::isFinite)
          .toArray();
    }
  }
}
