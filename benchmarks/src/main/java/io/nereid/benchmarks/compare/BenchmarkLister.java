package io.nereid.benchmarks.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds out which benchmarks a side has, for all values of their parameters. */
final class BenchmarkLister {

  private static final long PATIENCE_MS = 60_000;

  /** As JMH prints it: {@code param "batching" = {false, true}}. */
  private static final Pattern PARAMETER = Pattern.compile("\\s+param \"(.+)\" = \\{(.*)}");

  private static final Pattern NAME = Pattern.compile("[A-Za-z_$][\\w$]*(\\.[A-Za-z_$][\\w$]*)+");

  private BenchmarkLister() {}

  static SortedSet<BenchmarkId> list(JmhProcess jmh, Side side) throws MeasurementException {
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
