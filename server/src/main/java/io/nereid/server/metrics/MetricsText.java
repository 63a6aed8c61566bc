package io.nereid.server.metrics;

import java.nio.charset.StandardCharsets;

/**
 * Prometheus' text format, version 0.0.4. The samples of a family follow the call that begins it.
 */
final class MetricsText {

  private final StringBuilder text = new StringBuilder(16 << 10);
  private String family = "";

  /** A label as it stands between braces. */
  static String label(String name, String value) {
    StringBuilder label = new StringBuilder(name.length() + value.length() + 3);
    label.append(name).append("=\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '\\' -> label.append("\\\\");
        case '"' -> label.append("\\\"");
        case '\n' -> label.append("\\n");
        default -> label.append(c);
      }
    }
    return label.append('"').toString();
  }

  /** Labels together. */
  static String labels(String one, String other) {
    return one + "," + other;
  }

  /** Values that only grow; the samples come next. {@code help} is one line without backslashes. */
  MetricsText counter(String name, String help) {
    return family(name, "counter", help);
  }

  /** Values that come and go; the samples come next. */
  MetricsText gauge(String name, String help) {
    return family(name, "gauge", help);
  }

  /** Begins a metric of counts and sums: {@link #summarySample} comes next. */
  MetricsText summary(String name, String help) {
    return family(name, "summary", help);
  }

  /** Begins a metric of counts by ranges: {@link #histogramSample} comes next. */
  MetricsText histogram(String name, String help) {
    return family(name, "histogram", help);
  }

  private MetricsText family(String name, String type, String help) {
    family = name;
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    return this;
  }

  MetricsText sample(String labels, long value) {
    name("", labels);
    text.append(value).append('\n');
    return this;
  }

  MetricsText sample(String labels, double value) {
    name("", labels);
    text.append(number(value)).append('\n');
    return this;
  }

  void summarySample(String labels, long count, double sum) {
    totals(labels, count, sum);
  }

  /**
   * A histogram.
   *
   * @param bounds upper bounds, ascending; that without a bound is added
   * @param cumulative of each bound, what is up to and including it
   * @param count all of it
   */
  void histogramSample(String labels, String[] bounds, long[] cumulative, long count, double sum) {
    for (int i = 0; i < bounds.length; i++) {
      name("_bucket", labels(labels, label("le", bounds[i])));
      text.append(cumulative[i]).append('\n');
    }
    name("_bucket", labels(labels, label("le", "+Inf")));
    text.append(count).append('\n');
    totals(labels, count, sum);
  }

  private void totals(String labels, long count, double sum) {
    name("_sum", labels);
    text.append(number(sum)).append('\n');
    name("_count", labels);
    text.append(count).append('\n');
  }

  private void name(String suffix, String labels) {
    text.append(family).append(suffix);
    if (!labels.isEmpty()) {
      text.append('{').append(labels).append('}');
    }
    text.append(' ');
  }

  private static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : Double.toString(value);
  }

  /** Families that others have written, whole lines of them. */
  void foreign(String families) {
    text.append(families);
  }

  @Override
  public String toString() {
    return text.toString();
  }

  byte[] bytes() {
    return toString().getBytes(StandardCharsets.UTF_8);
  }
}
