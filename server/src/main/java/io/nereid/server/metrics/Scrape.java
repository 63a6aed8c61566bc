package io.nereid.server.metrics;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The metrics of a server at one moment, parsed from Prometheus' text format. Lines that are no
 * samples are ignored.
 */
public final class Scrape {

  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*+)(?:\\{(.*)\\})? (\\S++)");
  private static final Pattern LABEL =
      Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*+)=\"((?:[^\"\\\\]++|\\\\.)*+)\"");
  private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");

  /** One value with its labels. */
  record Sample(Map<String, String> labels, double value) {

    /** The value of a label; empty if there is none of that name. */
    String label(String name) {
      return labels.getOrDefault(name, "");
    }
  }

  private final Map<String, List<Sample>> samples = new HashMap<>();

  private Scrape() {}

  /** Reads a text. */
  public static Scrape parse(String text) {
    Scrape scrape = new Scrape();
    text.lines().filter(line -> !line.startsWith("#")).forEach(scrape::read);
    return scrape;
  }

  private void read(String line) {
    Matcher sample = SAMPLE.matcher(line);
    if (!sample.matches()) {
      return;
    }
    Map<String, String> labels = new HashMap<>();
    if (sample.group(2) != null) {
      Matcher label = LABEL.matcher(sample.group(2));
      while (label.find()) {
        String value = label.group(2);
        labels.put(
            label.group(1),
            value.indexOf('\\') < 0
                ? value
                : ESCAPE
                    .matcher(value)
                    .replaceAll(found ->
                        found.group(1).equals("n")
                            ? "\n"
                            : Matcher.quoteReplacement(found.group(1))));
      }
    }
    try {
      double value = Double.parseDouble(sample.group(3).replace("Inf", "Infinity"));
      samples
          .computeIfAbsent(sample.group(1), name -> new ArrayList<>())
          .add(new Sample(labels, value));
    } catch (NumberFormatException e) {
      // The line is no sample.
    }
  }

  /** The samples of a name. */
  List<Sample> samples(String name) {
    return samples.getOrDefault(name, List.of());
  }

  /** The sum of the values that have at least these labels; NaN if there are none. */
  public double sum(String name, Map<String, String> labels) {
    return samples(name).stream()
        .filter(sample -> sample.labels.entrySet().containsAll(labels.entrySet()))
        .mapToDouble(Sample::value)
        .reduce(Double::sum)
        .orElse(Double.NaN);
  }

  /** The values that have these labels, keyed by another label's value. */
  public Map<String, Double> by(String label, String name, Map<String, String> labels) {
    Map<String, Double> values = new TreeMap<>();
    samples(name).stream()
        .filter(sample -> sample.labels.entrySet().containsAll(labels.entrySet()))
        .forEach(sample -> values.put(sample.labels.get(label), sample.value));
    return values;
  }

  /**
   * A quantile of the values that a histogram with these labels got since an earlier moment,
   * assuming even spread within a bucket. NaN: no values; the last bound: the quantile is above it.
   */
  public double quantileSince(
      Scrape earlier, String histogram, Map<String, String> labels, double quantile) {
    NavigableMap<Double, Double> now = buckets(histogram, labels);
    NavigableMap<Double, Double> before = earlier.buckets(histogram, labels);
    boolean anew =
        before.entrySet().stream()
            .anyMatch(bucket -> now.getOrDefault(bucket.getKey(), 0.0) < bucket.getValue());
    if (!anew) {
      before.forEach((bound, count) -> now.merge(bound, -count, Double::sum));
    }
    double all = now.isEmpty() ? 0 : now.lastEntry().getValue();
    double rank = quantile * all;
    double lower = 0;
    double below = 0;
    for (Map.Entry<Double, Double> bucket : now.entrySet()) {
      double upper = bucket.getKey();
      if (all > 0 && bucket.getValue() >= rank) {
        return Double.isInfinite(upper)
            ? lower
            : lower + (upper - lower) * (rank - below) / (bucket.getValue() - below);
      }
      lower = upper;
      below = bucket.getValue();
    }
    return Double.NaN;
  }

  /** The counts up to each bound. */
  private NavigableMap<Double, Double> buckets(String histogram, Map<String, String> labels) {
    NavigableMap<Double, Double> buckets = new TreeMap<>();
    for (Sample sample : samples(histogram + "_bucket")) {
      if (sample.labels.entrySet().containsAll(labels.entrySet())) {
        String bound = sample.label("le").replace("Inf", "Infinity");
        try {
          buckets.merge(Double.valueOf(bound), sample.value(), Double::sum);
        } catch (NumberFormatException e) {
          // The label is no bound.
        }
      }
    }
    return buckets;
  }
}
