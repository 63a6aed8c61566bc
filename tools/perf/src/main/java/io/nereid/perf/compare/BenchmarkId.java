package io.nereid.perf.compare;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The name of a thing to compare, the same on both sides: a benchmark with values for its
 * parameters, or a model.
 *
 * @param name class and method, or the model
 * @param parameters their values by name
 */
public record BenchmarkId(String name, SortedMap<String, String> parameters)
    implements Comparable<BenchmarkId> {

  /** Sorts the parameters. */
  public BenchmarkId {
    parameters = new TreeMap<>(parameters);
  }

  /** Makes an id from any map of parameters. */
  public static BenchmarkId of(String name, Map<String, String> parameters) {
    return new BenchmarkId(name, new TreeMap<>(parameters));
  }

  /** The name for people: a benchmark without its package and the suffix of its class. */
  @Override
  public String toString() {
    String[] parts = name.split("\\.");
    boolean ofClass = parts.length > 1 && Character.isUpperCase(parts[parts.length - 2].charAt(0));
    String text =
        !ofClass
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

  /** The whole id as a key. */
  public String key() {
    return parameters.isEmpty() ? name : name + " " + parameterText();
  }

  @Override
  public int compareTo(BenchmarkId other) {
    return key().compareTo(other.key());
  }
}
