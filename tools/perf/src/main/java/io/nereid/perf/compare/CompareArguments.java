package io.nereid.perf.compare;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * The options of all commands that compare two sides, and the common steps to the reports and the
 * exit code.
 */
public final class CompareArguments {

  /** No slowdown was found. */
  public static final int FINE = 0;

  /** Something is slower. */
  public static final int SLOWER = 1;

  /** The command line makes no sense. */
  public static final int USAGE = 2;

  /** Nothing, or not everything, could be measured. */
  public static final int NOT_MEASURED = 4;

  /** The two sides have nothing in common; nothing else is wrong. */
  public static final int NOTHING_IN_COMMON = 5;

  /**
   * The time of a fork besides its iterations: starting two JVMs, loading models, ending. A
   * comparison of 106 benchmarks took 6.9 s a fork on two processors, of which 2.6 were iterations;
   * one of five that start no server took 4.4 s.
   */
  private static final int FORK_START_MS = 4300;

  @Option(names = "--only", paramLabel = "REGEX", description = "Only what has this in its name.")
  private Pattern only = Pattern.compile("");

  @Option(
      names = "--time",
      paramLabel = "TIME",
      converter = TimeOption.class,
      description = "As much as it may take, such as 90s, 10m or 1h; 10m by default.")
  private Duration time = Duration.ofMinutes(10);

  @Option(
      names = "--threshold",
      paramLabel = "PERCENT",
      converter = PercentOption.class,
      description = "The slowdown that counts, such as 5%%, which is the default.")
  private double threshold = 0.05;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Where the reports and their history go; build/bench/report by default.")
  private Path out = Path.of("build", "bench", "report");

  /** Called by picocli. */
  public CompareArguments() {}

  /** The directory of reports, which exists. */
  public Path out() throws IOException {
    return Files.createDirectories(out);
  }

  /**
   * One of the two sides of a comparison.
   *
   * @param label its name for people
   * @param side makes its forks
   * @param ids its benchmarks
   * @param <S> the type of sides
   */
  public record Side<S>(String label, S side, SortedSet<BenchmarkId> ids) {}

  /**
   * Compares, and writes the results: a table for people, a page, and all numbers.
   *
   * @param suite the name of the comparison, for people
   * @param settings settings of the forks, for estimating the time
   * @return the exit code
   */
  public <S> int compare(
      Fork.Source<S> forks,
      Side<S> base,
      Side<S> candidate,
      String suite,
      Fork.Settings settings,
      PrintWriter printed)
      throws IOException {
    Instant at = Instant.now();
    SortedSet<BenchmarkId> ofBase = wanted(base.ids());
    SortedSet<BenchmarkId> ofCandidate = wanted(candidate.ids());
    SortedSet<BenchmarkId> common = new TreeSet<>(ofBase);
    common.retainAll(ofCandidate);
    if (common.isEmpty()) {
      progress(
          Numbers.format(
              "nothing to compare: of %s, %s has %d and %s has %d, none of them in both",
              suite, base.label(), ofBase.size(), candidate.label(), ofCandidate.size()));
      return NOTHING_IN_COMMON;
    }
    progress(
        Numbers.format(
            "%s against %s: %d to compare, %s",
            candidate.label(), base.label(), common.size(), duration(common.size(), settings)));
    Comparison<S> comparison =
        new Comparison<>(
            forks,
            base.side(),
            candidate.side(),
            new Judge(threshold),
            time,
            System::nanoTime,
            CompareArguments::progress);
    List<Outcome> outcomes = comparison.run(common);
    return report(
        new ComparisonRun(
            at,
            base.label(),
            candidate.label(),
            suite,
            threshold,
            Machine.describe(),
            outcomes,
            difference(ofBase, ofCandidate),
            difference(ofCandidate, ofBase)),
        printed);
  }

  private SortedSet<BenchmarkId> wanted(SortedSet<BenchmarkId> all) {
    SortedSet<BenchmarkId> wanted = new TreeSet<>(all);
    wanted.removeIf(id -> !only.matcher(id.key()).find());
    return wanted;
  }

  private static List<BenchmarkId> difference(
      SortedSet<BenchmarkId> ids, SortedSet<BenchmarkId> others) {
    List<BenchmarkId> left = new ArrayList<>(ids);
    left.removeAll(others);
    return left;
  }

  private String duration(int count, Fork.Settings settings) {
    // Estimates the least time: as many forks for each side as an interval needs, with the
    // machine's present load.
    long forkMs = FORK_START_MS + settings.under(Machine.load()).totalMs();
    long leastS = count * 2L * Bootstrap.LEAST_PAIRS * forkMs / 1000;
    return leastS > time.toSeconds()
        ? "about " + leastS + " s, since fewer forks would tell nothing"
        : "at most about " + time.toSeconds() + " s";
  }

  private int report(ComparisonRun run, PrintWriter printed) throws IOException {
    Path history = Files.createDirectories(out().resolve("history"));
    Path json = out.resolve("compare.json");
    History.write(run, json);
    Files.copy(
        json,
        history.resolve(run.at().toString().replace(':', '-') + ".json"),
        StandardCopyOption.REPLACE_EXISTING);
    Path html = out.resolve("compare.html");
    Files.writeString(html, ComparisonReport.html(run, History.read(history)));
    printed.print(ComparisonReport.text(run));
    printed.println("Report: " + html + " and " + json.getFileName());
    printed.flush();
    if (!run.slower().isEmpty()) {
      run.slower()
          .forEach(outcome ->
              progress(
                  "%s is slower by more than %s, in two batches of forks"
                      .formatted(outcome.id(), Numbers.percent(run.threshold()))));
      return SLOWER;
    }
    return run.failed().isEmpty() ? FINE : NOT_MEASURED;
  }

  private static void progress(String line) {
    System.err.println("bench compare: " + line);
  }

  /** A share on the command line, such as 5%. */
  static final class PercentOption implements ITypeConverter<Double> {

    PercentOption() {}

    @Override
    public Double convert(String value) {
      String number = value.endsWith("%") ? value.substring(0, value.length() - 1) : value;
      try {
        double percent = Double.parseDouble(number);
        if (percent > 0 && percent <= 1000) {
          return percent / 100;
        }
      } catch (NumberFormatException e) {
        // Said below.
      }
      throw new TypeConversionException("expected percent such as 5%, got " + value);
    }
  }
}
