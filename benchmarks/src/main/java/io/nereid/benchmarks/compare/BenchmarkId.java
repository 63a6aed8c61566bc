package io.nereid.benchmarks.compare;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * One benchmark with values for its parameters: what is the same on both sides.
 *
 * @param name class and method
 * @param parameters their values by name
 */
record BenchmarkId(String name, SortedMap<String, String> parameters)
    implements Comparable<BenchmarkId> {

  BenchmarkId {
    parameters = new TreeMap<>(parameters);
  }

  static BenchmarkId of(String name, Map<String, String> parameters) {
    return new BenchmarkId(name, new TreeMap<>(parameters));
  }

  /** For people: without the package, and without what class names end with. */
  @Override
  public String toString() {
    String[] parts = name.split("\\.");
    String text =
        parts.length < 2
            ? name
            : parts[parts.length - 2].replaceFirst("Benchmark$", "")
                + "."
                + parts[parts.length - 1];
    return parameters.isEmpty() ? text : text + " " + parameterText();
  }

  private String parameterText() {
    return parameters.entrySet().stream()
        .map(entry -> entry.getKey() + "=" + entry.getValue())
        .collect(Collectors.joining(" "));
  }

  /** All of it, as a key. */
  String key() {
    return parameters.isEmpty() ? name : name + " " + parameterText();
  }

  @Override
  public int compareTo(BenchmarkId other) {
    return key().compareTo(other.key());
  }
}
