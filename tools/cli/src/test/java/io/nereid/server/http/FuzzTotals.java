package io.nereid.server.http;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;
import java.util.TreeSet;

/**
 * The sums of all runs of a fuzzer, in a file of the directory that has its inputs. For one thread
 * of one process at a time.
 */
final class FuzzTotals {

  private static final String NAME = "totals.properties";

  private final Path file;
  private final Properties sums = new Properties();

  private FuzzTotals(Path file) {
    this.file = file;
  }

  /** The sums of a directory; if it has none, those of an earlier directory, or none. */
  static FuzzTotals of(Path directory, Path earlier) throws IOException {
    FuzzTotals totals = new FuzzTotals(directory.resolve(NAME));
    Path from = Files.exists(totals.file) ? totals.file : earlier.resolve(NAME);
    if (Files.exists(from)) {
      try (Reader in = Files.newBufferedReader(from)) {
        totals.sums.load(in);
      }
    }
    return totals;
  }

  /** Adds a run, and writes the file at once. */
  void add(String target, FuzzRun.Outcome run) throws IOException {
    add(target, "runs", 1);
    add(target, "inputs", run.executions());
    add(target, "edges", run.edges() - of(target, "edges")); // those of the last run
    add(target, "findings", run.findings());
    add(target, "processor-seconds", run.processorSeconds());
    try (Writer out = Files.newBufferedWriter(file)) {
      sums.store(out, null);
    }
  }

  private void add(String target, String figure, double more) {
    sums.setProperty(
        target + "." + figure, String.format(Locale.ROOT, "%.2f", of(target, figure) + more));
  }

  /** A figure of a target, or of all. */
  private double of(String target, String figure) {
    return sums.stringPropertyNames().stream()
        .filter(key -> key.equals(target + "." + figure) || target.equals("all"))
        .filter(key -> key.endsWith("." + figure))
        .mapToDouble(key -> Double.parseDouble(sums.getProperty(key)))
        .sum();
  }

  /** A line for each target, and one for all. */
  @Override
  public String toString() {
    TreeSet<String> targets = new TreeSet<>();
    sums.stringPropertyNames().forEach(key -> targets.add(key.substring(0, key.indexOf('.'))));
    StringBuilder text = new StringBuilder();
    targets.forEach(target -> text.append(line(target)));
    return text.append(line("all")).toString();
  }

  private String line(String target) {
    return String.format(
        Locale.ROOT,
        "%s: %.0f runs, %.0f inputs tried, %.0f edges seen, %.0f findings, %.2f processor-hours%n",
        target,
        of(target, "runs"),
        of(target, "inputs"),
        of(target, "edges"),
        of(target, "findings"),
        of(target, "processor-seconds") / 3600);
  }
}
