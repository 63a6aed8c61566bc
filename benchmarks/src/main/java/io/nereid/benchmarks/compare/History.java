package io.nereid.benchmarks.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/** Ratios of the comparisons whose JSON was kept in a directory. */
final class History {

  private History() {}

  /**
   * One ratio of a comparison.
   *
   * @param at when it was made
   * @param base with what it compared
   * @param metric the label of what was compared
   */
  record Point(Instant at, String base, String metric, double ratio, double low, double high) {}

  /** The points by the key of the benchmark, in the order of time. Broken files are passed over. */
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
        continue; // it failed then
      }
      Map<String, String> parameters = new TreeMap<>();
      ((Map<?, ?>) benchmark.get("parameters"))
          .forEach((name, value) -> parameters.put((String) name, (String) value));
      String key = BenchmarkId.of((String) benchmark.get("name"), parameters).key();
      ((Map<?, ?>) benchmark.get("metrics"))
          .forEach(
              (metric, value) -> {
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
}
