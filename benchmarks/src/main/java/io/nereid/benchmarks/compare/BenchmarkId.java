package io.nereid.benchmarks.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Names one benchmark with values for its parameters: what is the same in both builds.
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

  private static final long PATIENCE_MS = 60_000;

  /** JMH prints a parameter like this: {@code param "batching" = {false, true}}. */
  private static final Pattern PARAMETER = Pattern.compile("\\s+param \"(.+)\" = \\{(.*)}");

  private static final Pattern NAME = Pattern.compile("[A-Za-z_$][\\w$]*(\\.[A-Za-z_$][\\w$]*)+");

  static SortedSet<BenchmarkId> list(JmhProcess jmh, Build side) throws MeasurementException {
    return parse(jmh.run(side, PATIENCE_MS, List.of("-lp")));
  }

  /** From what JMH prints with {@code -lp}. */
  static SortedSet<BenchmarkId> parse(String printed) {
    SortedSet<BenchmarkId> ids = new TreeSet<>();
    List<BenchmarkId> current = List.of();
    for (String line : printed.lines().toList()) {
      Matcher parameter = PARAMETER.matcher(line);
      if (parameter.matches()) {
        current = product(current, parameter.group(1), parameter.group(2).split(", "));
      } else if (NAME.matcher(line.strip()).matches()) {
        ids.addAll(current);
        current = List.of(BenchmarkId.of(line.strip(), new TreeMap<>()));
      }
    }
    ids.addAll(current);
    return ids;
  }

  private static List<BenchmarkId> product(List<BenchmarkId> ids, String name, String[] values) {
    List<BenchmarkId> all = new ArrayList<>();
    for (BenchmarkId id : ids) {
      for (String value : values) {
        TreeMap<String, String> parameters = new TreeMap<>(id.parameters());
        parameters.put(name, value);
        all.add(new BenchmarkId(id.name(), parameters));
      }
    }
    return all;
  }
}
