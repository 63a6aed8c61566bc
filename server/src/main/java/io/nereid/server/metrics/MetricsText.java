package io.nereid.server.metrics;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;

/**
 * Prometheus' text format, version 0.0.4, or OpenMetrics 1.0.0. The samples of a family follow the
 * call that begins it, and have the same names in both. A counter of OpenMetrics has a name that
 * ends in {@code _total}; one whose name does not is of unknown type there.
 */
final class MetricsText {

  private static final String TOTAL = "_total";

  private final StringBuilder text = new StringBuilder(16 << 10);
  private final boolean open;
  private String family = "";

  /**
   * Begins a text.
   *
   * @param open whether it is OpenMetrics
   */
  MetricsText(boolean open) {
    this.open = open;
  }

  /** A label in the form between braces. */
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

  /** A model's labels and another one, in the order of their names, as in Triton. */
  static String sorted(String ofModel, String other) {
    int version = ofModel.lastIndexOf("version=\"");
    return version < 0 || other.compareTo("version") > 0
        ? labels(ofModel, other)
        : ofModel.substring(0, version) + labels(other, ofModel.substring(version));
  }

  /**
   * Begins a metric of values that only grow; the samples come next. {@code help} is one line
   * without backslashes.
   */
  MetricsText counter(String name, String help) {
    return family(name, "counter", help);
  }

  /** Begins a metric of values that rise and fall; the samples come next. */
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
    String told = name;
    String kind = type;
    String line = help;
    if (open) {
      line = help.replace("\"", "\\\"");
      if (type.equals("counter") && name.endsWith(TOTAL)) {
        told = name.substring(0, name.length() - TOTAL.length());
      } else if (type.equals("counter")) {
        kind = "unknown";
      }
    }
    text.append("# HELP ").append(told).append(' ').append(line).append('\n');
    text.append("# TYPE ").append(told).append(' ').append(kind).append('\n');
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
   * @param bounds upper bounds, ascending; the bucket without a bound is added
   * @param cumulative for each bound, the count of values up to and including it
   * @param count the count of all values
   * @param exemplars results of {@link #exemplar}, by bucket; null: none
   */
  void histogramSample(
      String labels,
      String[] bounds,
      long[] cumulative,
      long count,
      double sum,
      String[] exemplars) {
    for (int i = 0; i < bounds.length; i++) {
      name("_bucket", labels(labels, label("le", bounds[i])));
      text.append(cumulative[i]);
      endBucket(exemplars[i]);
    }
    name("_bucket", labels(labels, label("le", "+Inf")));
    text.append(count);
    endBucket(exemplars[bounds.length]);
    totals(labels, count, sum);
  }

  private void endBucket(String exemplar) {
    if (open && exemplar != null) {
      text.append(exemplar);
    }
    text.append('\n');
  }

  /** An example of a bucket's values, which only OpenMetrics shows. */
  static String exemplar(String traceId, double value, long atMs) {
    String time = BigDecimal.valueOf(atMs, 3).toPlainString();
    return " # {" + label("trace_id", traceId) + "} " + number(value) + " " + time;
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

  /** Adds families that other code wrote in the text format, each with its help and type. */
  void foreign(String families) {
    String help = "";
    for (String line : (Iterable<String>) families.lines()::iterator) {
      String[] words = line.split(" ", 4);
      if (line.startsWith("# HELP ")) {
        help = words.length == 4 ? words[3] : "";
      } else if (line.startsWith("# TYPE ")) {
        family(words[2], words[3], help);
      } else {
        text.append(line).append('\n');
      }
    }
  }

  @Override
  public String toString() {
    return text.toString();
  }

  byte[] bytes() {
    if (open) {
      text.append("# EOF\n");
    }
    return toString().getBytes(StandardCharsets.UTF_8);
  }
}
