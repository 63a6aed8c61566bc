package io.nereid.perf.compare;

import io.nereid.perf.compare.Bootstrap.Estimate;
import io.nereid.perf.compare.Outcome.Pair;
import io.nereid.perf.compare.Outcome.Verdict;
import io.nereid.perf.report.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/**
 * Comparisons as files of JSON: written with all measurements, so that they can be judged anew, and
 * read again for their ratios.
 */
final class History {

  private History() {}

  /**
   * One ratio of a comparison.
   *
   * @param at when it was made
   * @param base the base of the comparison
   * @param metric the label of the metric
   */
  record Point(Instant at, String base, String metric, double ratio, double low, double high) {}

  /** The points by the key of the benchmark, in the order of time. Broken files are ignored. */
  static Map<String, List<Point>> read(Path directory) throws IOException {
    Map<String, List<Point>> points = new TreeMap<>();
    if (!Files.isDirectory(directory)) {
      return points;
    }
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(file -> file.toString().endsWith(".json")).toList()) {
        try {
          add(JSON.std.mapFrom(Files.readString(file)), points);
        } catch (JacksonException | ClassCastException | NullPointerException e) {
          System.err.println("passed over " + file + ", which is no comparison: " + e.getMessage());
        }
      }
    }
    points.values().forEach(list -> list.sort(Comparator.comparing(Point::at)));
    return points;
  }

  private static void add(Map<String, Object> run, Map<String, List<Point>> points) {
    Instant at = Instant.parse((String) run.get("at"));
    String base = (String) run.get("base");
    for (Object each : (List<?>) run.get("benchmarks")) {
      Map<?, ?> benchmark = (Map<?, ?>) each;
      if (benchmark.get("metrics") == null) {
        continue; // that measurement failed
      }
      Map<String, String> parameters = new TreeMap<>();
      ((Map<?, ?>) benchmark.get("parameters"))
          .forEach((name, value) -> parameters.put((String) name, (String) value));
      String key = BenchmarkId.of((String) benchmark.get("name"), parameters).key();
      ((Map<?, ?>) benchmark.get("metrics"))
          .forEach((metric, value) -> {
            Map<?, ?> numbers = (Map<?, ?>) value;
            if (numbers.get("ratio") != null) {
              points
                  .computeIfAbsent(key, absent -> new ArrayList<>())
                  .add(
                      new Point(
                          at,
                          base,
                          (String) metric,
                          number(numbers, "ratio"),
                          number(numbers, "low"),
                          number(numbers, "high")));
            }
          });
    }
  }

  private static double number(Map<?, ?> numbers, String name) {
    return ((Number) numbers.get(name)).doubleValue();
  }

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
    Files.writeString(file, Json.text(root));
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
        .forEach((metric, verdict) ->
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

  /** Returns numbers for JSON, with null for NaN. */
  private static List<Double> numbers(List<Fork> forks, Function<Fork, Double> value) {
    List<Double> numbers = new ArrayList<>();
    for (Fork fork : forks) {
      double number = value.apply(fork);
      numbers.add(Double.isFinite(number) ? number : null);
    }
    return numbers;
  }
}
