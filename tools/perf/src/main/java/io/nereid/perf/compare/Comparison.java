package io.nereid.perf.compare;

import io.nereid.perf.compare.Outcome.Metric;
import io.nereid.perf.compare.Outcome.Pair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Measures two sides in turns: every benchmark gets forks A B B A, again and again, until its
 * intervals are narrow or the time is up. Benchmarks that look slower then get a second batch.
 *
 * @param <S> the type of sides
 */
final class Comparison<S> {

  /** The fewest pairs of the second batch, whatever the time. */
  static final int LEAST_CONFIRMING_PAIRS = 6;

  private static final int MOST_PAIRS = 200;

  /** The share of the time that the first batch may use; the rest is kept for suspects. */
  private static final double FIRST_SHARE = 2.0 / 3;

  private final Fork.Source<S> forks;
  private final S base;
  private final S candidate;
  private final Judge judge;
  private final long timeNs;
  private final LongSupplier clockNs;
  private final Consumer<String> progress;

  Comparison(
      Fork.Source<S> forks,
      S base,
      S candidate,
      Judge judge,
      Duration time,
      LongSupplier clockNs,
      Consumer<String> progress) {
    this.forks = forks;
    this.base = base;
    this.candidate = candidate;
    this.judge = judge;
    this.timeNs = time.toNanos();
    this.clockNs = clockNs;
    this.progress = progress;
  }

  List<Outcome> run(Collection<BenchmarkId> ids) {
    List<ComparedBenchmark> benchmarks = new ArrayList<>();
    for (BenchmarkId id : ids) {
      benchmarks.add(new ComparedBenchmark(id, judge, ids.size() * Metric.values().length));
    }
    long startNs = clockNs.getAsLong();
    runFirst(benchmarks, startNs);
    runSecond(benchmarks, startNs);
    return benchmarks.stream().map(ComparedBenchmark::outcome).toList();
  }

  private void runFirst(List<ComparedBenchmark> benchmarks, long startNs) {
    for (int round = 1; ; round++) {
      int left = 0;
      for (ComparedBenchmark benchmark : benchmarks) {
        boolean enough = benchmark.firstCount() >= Bootstrap.LEAST_PAIRS;
        if (benchmark.failed() || benchmark.firstCount() >= MOST_PAIRS || benchmark.isNarrow()) {
          continue;
        }
        if (enough && isOver(startNs, FIRST_SHARE)) {
          return;
        }
        left++;
        visit(benchmark, benchmark::addFirst);
      }
      if (left == 0) {
        return;
      }
      progress.accept(
          "round %d, %d s of %d s: %d of %d known well enough"
              .formatted(
                  round,
                  (clockNs.getAsLong() - startNs) / 1_000_000_000,
                  timeNs / 1_000_000_000,
                  benchmarks.stream().filter(ComparedBenchmark::isNarrow).count(),
                  benchmarks.size()));
    }
  }

  private void runSecond(List<ComparedBenchmark> benchmarks, long startNs) {
    List<ComparedBenchmark> suspects =
        benchmarks.stream().filter(ComparedBenchmark::isSuspect).toList();
    suspects.forEach(suspect ->
        progress.accept(suspect.id() + " looks slower: a second batch of forks decides"));
    boolean more = true;
    while (more) {
      more = false;
      for (ComparedBenchmark suspect : suspects) {
        int count = suspect.secondCount();
        boolean enough = count >= LEAST_CONFIRMING_PAIRS;
        if (suspect.failed() || (enough && (count >= suspect.firstCount() || isOver(startNs, 1)))) {
          continue;
        }
        more = true;
        visit(suspect, suspect::addSecond);
      }
    }
  }

  private boolean isOver(long startNs, double share) {
    return clockNs.getAsLong() - startNs >= timeNs * share;
  }

  /** Runs forks A B B A, so that steady changes of the machine cancel. */
  private void visit(ComparedBenchmark benchmark, Consumer<Pair> sink) {
    try {
      Fork baseFork = forks.run(base, benchmark.id());
      Fork candidateFork = forks.run(candidate, benchmark.id());
      sink.accept(new Pair(baseFork, candidateFork));
      candidateFork = forks.run(candidate, benchmark.id());
      baseFork = forks.run(base, benchmark.id());
      sink.accept(new Pair(baseFork, candidateFork));
    } catch (MeasurementException e) {
      benchmark.fail(e.getMessage());
      progress.accept(benchmark.id() + " could not be measured: " + e.getMessage());
    }
  }
}
