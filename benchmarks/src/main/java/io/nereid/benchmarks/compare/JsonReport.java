package io.nereid.benchmarks.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import tools.jackson.jr.ob.JSON;

/** A comparison as JSON: everything that was measured, so that it can be judged anew. */
final class JsonReport {

  private JsonReport() {}

  static void write(ComparisonRun run, Path file) throws IOException {
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("at", run.at().toString());
    root.put("base", run.base());
    root.put("candidate", run.candidate());
    root.put("suite", run.suite());
    root.put("threshold", run.threshold());
    root.put("machine", run.machine());
    root.put("slower", run.slower().stream().map(outcome -> outcome.id().key()).toList());
    List<Object> benchmarks = new ArrayList<>();
    for (Outcome outcome : run.outcomes()) {
      benchmarks.add(benchmark(outcome));
    }
    root.put("benchmarks", benchmarks);
    root.put("only_base", run.onlyBase().stream().map(BenchmarkId::key).toList());
    root.put("only_candidate", run.onlyCandidate().stream().map(BenchmarkId::key).toList());
    Files.writeString(
        file, JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(root) + "\n");
  }

  private static Map<String, Object> benchmark(Outcome outcome) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("name", outcome.id().name());
    entry.put("parameters", outcome.id().parameters());
    if (outcome.failure() != null) {
      entry.put("failure", outcome.failure());
      return entry;
    }
    entry.put("verdict", outcome.verdict().name());
    Map<String, Object> metrics = new LinkedHashMap<>();
    outcome
        .verdicts()
        .forEach(
            (metric, verdict) ->
                metrics.put(metric.label(), metric(outcome.estimates().get(metric), verdict)));
    entry.put("metrics", metrics);
    entry.put("base", forks(outcome, Pair::base));
    entry.put("candidate", forks(outcome, Pair::candidate));
    return entry;
  }

  private static Map<String, Object> metric(Estimate estimate, Verdict verdict) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("verdict", verdict.name());
    if (estimate != null) {
      entry.put("ratio", estimate.ratio());
      entry.put("low", estimate.low());
      entry.put("high", estimate.high());
      entry.put("pair_count", estimate.pairCount());
    }
    return entry;
  }

  private static Map<String, Object> forks(Outcome outcome, Function<Pair, Fork> side) {
    List<Fork> forks = outcome.pairs().stream().map(side).toList();
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("time_ns", numbers(forks, Fork::timeNs));
    entry.put("cpu_ns", numbers(forks, Fork::cpuNs));
    entry.put("allocated_bytes", numbers(forks, Fork::allocatedBytes));
    return entry;
  }

  /** JSON has no word for what is not a number. */
  private static List<Double> numbers(List<Fork> forks, Function<Fork, Double> value) {
    List<Double> numbers = new ArrayList<>();
    for (Fork fork : forks) {
      double number = value.apply(fork);
      numbers.add(Double.isFinite(number) ? number : null);
    }
    return numbers;
  }
}
