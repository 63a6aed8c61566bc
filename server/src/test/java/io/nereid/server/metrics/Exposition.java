package io.nereid.server.metrics;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads Prometheus' text format as strictly as it is specified, and stricter where scrapers are
 * lenient: every family has help and a type in front of its samples, all in one place. OpenMetrics
 * is read as strictly.
 */
final class Exposition {

  private static final Pattern FAMILY =
      Pattern.compile("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)\\})? (\\S+)");
  private static final Pattern LABEL =
      Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\n]|\\\\[\\\\\"n])*)\"(,|$)");
  private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");
  private static final Set<String> TYPES = Set.of("counter", "gauge", "histogram", "summary");
  private static final Pattern EXEMPLAR =
      Pattern.compile("\\{trace_id=\"([0-9a-f]{32})\"\\} (\\S+) (\\d+\\.\\d{3})");
  private static final String END = "# EOF\n";

  /** An example of what a bucket has counted. */
  record Exemplar(String traceId, double value, double seconds) {}

  /** Samples of one family, by name and labels. */
  record Family(String type, String help, Map<Series, Double> samples) {}

  /** What one value belongs to. */
  record Series(String name, Map<String, String> labels) {}

  private final Map<String, Family> families = new LinkedHashMap<>();
  private final Map<Series, Exemplar> exemplars = new LinkedHashMap<>();
  private final boolean open;

  private Exposition(boolean open) {
    this.open = open;
  }

  static Exposition parse(String text) {
    return new Exposition(false).read(text);
  }

  static Exposition parseOpen(String text) {
    check(text.endsWith("\n" + END), "no end", text.substring(Math.max(0, text.length() - 100)));
    return new Exposition(true).read(text.substring(0, text.length() - END.length()));
  }

  private Exposition read(String text) {
    if (!text.endsWith("\n")) {
      throw new AssertionError("the last line does not end");
    }
    String help = null;
    String name = null;
    for (String line : text.substring(0, text.length() - 1).split("\n", -1)) {
      Matcher family = FAMILY.matcher(line);
      if (!line.startsWith("#")) {
        sample(name, line);
      } else if (!family.matches()) {
        throw new AssertionError("neither help nor type: " + line);
      } else if (family.group(1).equals("HELP")) {
        check(!families.containsKey(family.group(2)), "a family twice", line);
        name = family.group(2);
        help = family.group(3);
      } else {
        check(family.group(2).equals(name), "a type without help", line);
        String type = family.group(3);
        check(TYPES.contains(type) || (open && type.equals("unknown")), "no such type", line);
        check(!open || !name.endsWith("_total"), "no name of a family", line);
        Family known = families.put(name, new Family(type, help, new LinkedHashMap<>()));
        check(known == null, "two types", line);
      }
    }
    families.forEach(Exposition::checkFamily);
    return this;
  }

  private void sample(String family, String line) {
    check(family != null && families.containsKey(family), "a sample before its type", line);
    String[] parts = open ? line.split(" # ", 2) : new String[] {line};
    Matcher sample = SAMPLE.matcher(parts[0]);
    check(sample.matches(), "no sample", line);
    String name = sample.group(1);
    check(
        suffixes(families.get(family).type()).stream().anyMatch(s -> name.equals(family + s)),
        "a sample that is not of " + family,
        line);
    Series series = new Series(name, labels(sample.group(2)));
    Double known = families.get(family).samples().put(series, number(sample.group(3)));
    check(known == null, "a series twice", line);
    if (parts.length == 2) {
      check(name.endsWith("_bucket"), "an exemplar of something else than a bucket", line);
      Matcher exemplar = EXEMPLAR.matcher(parts[1]);
      check(exemplar.matches(), "no exemplar", line);
      double value = Double.parseDouble(exemplar.group(2));
      check(value <= number(series.labels().get("le")), "an exemplar of another bucket", line);
      exemplars.put(
          series, new Exemplar(exemplar.group(1), value, Double.parseDouble(exemplar.group(3))));
    }
  }

  private List<String> suffixes(String type) {
    return switch (type) {
      case "counter" -> List.of(open ? "_total" : "");
      case "histogram" -> List.of("_bucket", "_sum", "_count");
      case "summary" -> List.of("", "_sum", "_count");
      default -> List.of("");
    };
  }

  private static double number(String text) {
    return text.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
  }

  private static Map<String, String> labels(String text) {
    Map<String, String> labels = new TreeMap<>();
    if (text == null) {
      return labels;
    }
    Matcher label = LABEL.matcher(text);
    int at = 0;
    while (at < text.length()) {
      check(label.find(at) && label.start() == at, "no label at " + at, text);
      String value =
          ESCAPE
              .matcher(label.group(2))
              .replaceAll(found ->
                  found.group(1).equals("n") ? "\n" : Matcher.quoteReplacement(found.group(1)));
      check(labels.put(label.group(1), value) == null, "a label twice", text);
      at = label.end();
    }
    return labels;
  }

  private static void checkFamily(String name, Family family) {
    for (Map.Entry<Series, Double> sample : family.samples().entrySet()) {
      if (family.type().equals("counter")) {
        check(sample.getValue() >= 0, "a negative counter", sample.toString());
      }
    }
    if (family.type().equals("histogram")) {
      checkHistogram(name, family);
    }
  }

  private static void checkHistogram(String name, Family family) {
    Map<Map<String, String>, List<double[]>> buckets = new LinkedHashMap<>();
    Set<Map<String, String>> rows = new HashSet<>();
    family
        .samples()
        .forEach((series, value) -> {
          Map<String, String> labels = new TreeMap<>(series.labels());
          String bound = labels.remove("le");
          check(series.name().endsWith("_bucket") == (bound != null), "le", series.toString());
          rows.add(labels);
          if (bound != null) {
            buckets
                .computeIfAbsent(labels, any -> new ArrayList<>())
                .add(new double[] {number(bound), value});
          }
        });
    for (Map<String, String> labels : rows) {
      List<double[]> row = buckets.get(labels);
      check(row != null, "no buckets", name + labels);
      for (int i = 1; i < row.size(); i++) {
        check(row.get(i)[0] > row.get(i - 1)[0], "bounds do not ascend", name + labels);
        check(row.get(i)[1] >= row.get(i - 1)[1], "buckets do not grow", name + labels);
      }
      check(Double.isInfinite(row.getLast()[0]), "the last bucket has a bound", name + labels);
      Double count = family.samples().get(new Series(name + "_count", labels));
      check(count != null && count == row.getLast()[1], "not the count", name + labels);
      Double sum = family.samples().get(new Series(name + "_sum", labels));
      check(sum != null && (count > 0 || sum == 0), "not the sum", name + labels);
    }
  }

  private static void check(boolean holds, String message, String where) {
    if (!holds) {
      throw new AssertionError(message + ": " + where);
    }
  }

  Family family(String name) {
    Family family = families.get(name);
    check(family != null, "no such family", name);
    return family;
  }

  /** All series. */
  Set<Series> series() {
    Set<Series> all = new HashSet<>();
    families.values().forEach(family -> all.addAll(family.samples().keySet()));
    return all;
  }

  /** The buckets that have exemplars, with these. */
  Map<Series, Exemplar> exemplars() {
    return exemplars;
  }

  boolean has(String name) {
    return families.containsKey(name);
  }

  /** Scrapes until a series has a value: some are counted a moment after a reply. */
  static Exposition await(
      Callable<Exposition> scraping, double wanted, String name, String... labels)
      throws Exception {
    long deadlineNs = System.nanoTime() + 60_000_000_000L;
    Exposition metrics = scraping.call();
    while (!Objects.equals(metrics.find(name, labels), wanted)) {
      check(System.nanoTime() - deadlineNs < 0, "it does not become " + wanted, name);
      metrics = scraping.call();
    }
    return metrics;
  }

  /** The value of a series; its labels in pairs. */
  double value(String name, String... labels) {
    Double value = find(name, labels);
    check(value != null, "no such series", name + List.of(labels));
    return value;
  }

  private Double find(String name, String... labels) {
    Map<String, String> wanted = new TreeMap<>();
    for (int i = 0; i < labels.length; i += 2) {
      wanted.put(labels[i], labels[i + 1]);
    }
    return families.values().stream()
        .map(family -> family.samples().get(new Series(name, wanted)))
        .filter(found -> found != null)
        .findFirst()
        .orElse(null);
  }
}
