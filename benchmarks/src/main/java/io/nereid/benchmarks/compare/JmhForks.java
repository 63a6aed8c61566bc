package io.nereid.benchmarks.compare;

import io.nereid.perf.compare.BenchmarkId;
import io.nereid.perf.compare.Fork;
import io.nereid.perf.compare.Machine;
import io.nereid.perf.compare.MeasurementException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/** Runs forks by the JMH of each build, in a process of its own. */
final class JmhForks implements Fork.Source<Build> {

  /** On top of the time that iterations take: two JVMs start, models load, machines stall. */
  private static final long PATIENCE_MS = 120_000;

  private final JmhProcess jmh;
  private final Machine.Pace pace;

  JmhForks(JmhProcess jmh, Fork.Settings settings) {
    this.jmh = jmh;
    pace = new Machine.Pace(settings);
  }

  @Override
  public Fork run(Build side, BenchmarkId id) throws MeasurementException {
    Fork.Settings settings = pace.next();
    Path result = jmh.file("result.json");
    List<String> arguments = new ArrayList<>();
    arguments.add("^" + id.name().replace(".", "\\.").replace("$", "\\$") + "$");
    id.parameters()
        .forEach((name, value) -> {
          arguments.add("-p");
          arguments.add(name + "=" + value);
        });
    arguments.addAll(
        List.of(
            "-f",
            "1",
            "-foe",
            "true",
            "-wi",
            Integer.toString(settings.warmUps()),
            "-w",
            settings.warmUpMs() + "ms",
            "-i",
            Integer.toString(settings.iterations()),
            "-r",
            settings.iterationMs() + "ms"));
    // Without them the forks would inherit those of JMH's own JVM.
    arguments.addAll(List.of("-jvmArgs", "-Xms512m -Xmx512m -XX:-UsePerfData"));
    arguments.addAll(List.of("-prof", CpuTimeProfiler.class.getName(), "-prof", "gc"));
    arguments.addAll(List.of("-rf", "json", "-rff", result.toString()));
    try {
      Files.deleteIfExists(result);
      String printed = jmh.run(side, PATIENCE_MS + settings.totalMs(), arguments);
      if (!Files.exists(result)) {
        throw new MeasurementException(
            id + " of " + side.label() + " left no result:\n" + printed.strip());
      }
      return parse(Files.readString(result));
    } catch (IOException | JacksonException e) {
      throw new MeasurementException("the result of " + id + " cannot be read: " + e, e);
    }
  }

  /** One fork of JMH's JSON. */
  static Fork parse(String json) throws MeasurementException {
    List<?> results = JSON.std.listFrom(json);
    if (results.size() != 1) {
      throw new MeasurementException("expected one result of JMH, got " + results.size());
    }
    Map<?, ?> result = (Map<?, ?>) results.getFirst();
    Map<?, ?> primary = (Map<?, ?>) result.get("primaryMetric");
    TimeUnits units = TimeUnits.parse((String) primary.get("scoreUnit"));
    double[] times = iterations(primary);
    for (int i = 0; i < times.length; i++) {
      times[i] = units.nsPerOperation(times[i]);
    }
    Map<?, ?> secondary = (Map<?, ?>) result.get("secondaryMetrics");
    return new Fork(
        Fork.lowerHalf(times),
        secondary(secondary, CpuTimeProfiler.LABEL),
        secondary(secondary, "gc.alloc.rate.norm"));
  }

  private static double secondary(Map<?, ?> metrics, String label) {
    for (Map.Entry<?, ?> metric : metrics.entrySet()) {
      if (((String) metric.getKey()).endsWith(label)) { // old versions put a dot in front
        return Fork.lowerHalf(iterations((Map<?, ?>) metric.getValue()));
      }
    }
    return Double.NaN;
  }

  private static double[] iterations(Map<?, ?> metric) {
    List<?> forks = (List<?>) metric.get("rawData");
    return ((List<?>) forks.getFirst())
        .stream().mapToDouble(value -> ((Number) value).doubleValue()).toArray();
  }

  /**
   * The unit of JMH's scores: time of an operation, or operations in a time.
   *
   * @param ns nanoseconds of the unit of time
   * @param throughput whether the score counts operations
   */
  record TimeUnits(double ns, boolean throughput) {

    private static final Map<String, Double> NS =
        Map.of("ns", 1.0, "us", 1e3, "ms", 1e6, "s", 1e9, "min", 60e9);

    /** From text such as {@code us/op} or {@code ops/s}. */
    static TimeUnits parse(String unit) throws MeasurementException {
      String[] parts = unit.split("/");
      boolean throughput = parts[0].equals("ops");
      Double ns = NS.get(parts[throughput ? parts.length - 1 : 0]);
      if (parts.length != 2 || ns == null) {
        throw new MeasurementException(
            "expected scores in a unit such as ns/op or ops/s, got " + unit);
      }
      return new TimeUnits(ns, throughput);
    }

    double nsPerOperation(double score) {
      return throughput ? ns / score : score * ns;
    }
  }
}
