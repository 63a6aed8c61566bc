package io.nereid.benchmarks.compare;

import java.util.Map;

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
