package io.nereid.benchmarks.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Compares two builds; {@code ./dev bench compare} makes the builds and calls this. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    description = "Compares the benchmarks of two builds.",
    sortOptions = false)
public final class CompareCommand implements Callable<Integer> {

  /** No slowdown was found. */
  static final int FINE = 0;

  /** Something is slower. */
  static final int SLOWER = 1;

  /** The command line makes no sense. */
  static final int USAGE = 2;

  /** Nothing, or not everything, could be measured. */
  static final int NOT_MEASURED = 4;

  /** Nothing is wrong, but the two have no benchmark in common. */
  static final int NOTHING_IN_COMMON = 5;

  @Option(names = "--base", required = true, paramLabel = "DIR", description = "the base's build")
  private Path base;

  @Option(names = "--base-name", paramLabel = "NAME", description = "what the base is called")
  private String baseName = "base";

  @Option(names = "--candidate", required = true, paramLabel = "DIR", description = "the other one")
  private Path candidate;

  @Option(names = "--candidate-name", paramLabel = "NAME", description = "what it is called")
  private String candidateName = "candidate";

  @Option(
      names = "--suite",
      paramLabel = "SUITE",
      description = "one of core, json, grpc, http, onnx, all, fast; core unless said otherwise")
  private Suite suite = Suite.CORE;

  @Option(
      names = "--only",
      paramLabel = "REGEX",
      description = "of the suite, only benchmarks whose name has this in it")
  private Pattern only = Pattern.compile("");

  @Option(
      names = "--time",
      paramLabel = "TIME",
      converter = TimeOption.class,
      description = "as much as it may take, such as 90s, 10m or 1h; 10m unless said otherwise")
  private Duration time = Duration.ofMinutes(10);

  @Option(
      names = "--threshold",
      paramLabel = "PERCENT",
      converter = PercentOption.class,
      description = "the slowdown that counts, such as 5%%, which is the default")
  private double threshold = 0.05;

  @Option(names = "--out", paramLabel = "DIR", description = "where reports and the history go")
  private Path out = Path.of("build", "bench", "report");

  /** Made by {@link #main}. */
  private CompareCommand() {}

  /** Called by {@code ./dev bench compare}. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new CompareCommand())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler((exception, command, parsed) -> {
          if (!(exception instanceof MeasurementException)) {
            throw exception;
          }
          command.getErr().println("bench compare: " + exception.getMessage());
          return NOT_MEASURED;
        });
  }

  @Override
  public Integer call() throws MeasurementException, IOException {
    Instant at = Instant.now();
    Files.createDirectories(out);
    JmhProcess jmh = new JmhProcess(Files.createDirectories(out.resolve("work")).toAbsolutePath());
    Build baseSide = Build.in(baseName, base);
    Build candidateSide = Build.in(candidateName, candidate);
    SortedSet<BenchmarkId> ofBase = wanted(BenchmarkId.list(jmh, baseSide));
    SortedSet<BenchmarkId> ofCandidate =
        baseSide.isSame(candidateSide) ? ofBase : wanted(BenchmarkId.list(jmh, candidateSide));
    SortedSet<BenchmarkId> common = new TreeSet<>(ofBase);
    common.retainAll(ofCandidate);
    if (common.isEmpty()) {
      progress(
          Numbers.format(
              "nothing to compare: of the suite %s, %s has %d benchmarks and %s has %d, none of"
                  + " them in both",
              suite.name().toLowerCase(Locale.ROOT),
              baseName,
              ofBase.size(),
              candidateName,
              ofCandidate.size()));
      return NOTHING_IN_COMMON;
    }
    announce(common.size());
    Comparison comparison =
        new Comparison(
            new JmhForks(jmh, suite.settings()),
            baseSide,
            candidateSide,
            new Judge(threshold),
            time,
            System::nanoTime,
            CompareCommand::progress);
    List<Outcome> outcomes = comparison.run(common);
    ComparisonRun run =
        new ComparisonRun(
            at,
            baseName,
            candidateName,
            suite.name().toLowerCase(Locale.ROOT),
            threshold,
            Machine.describe(),
            outcomes,
            difference(ofBase, ofCandidate),
            difference(ofCandidate, ofBase));
    return report(run);
  }

  private SortedSet<BenchmarkId> wanted(SortedSet<BenchmarkId> all) {
    SortedSet<BenchmarkId> wanted = new TreeSet<>(all);
    wanted.removeIf(id -> !suite.contains(id) || !only.matcher(id.key()).find());
    return wanted;
  }

  private static List<BenchmarkId> difference(
      SortedSet<BenchmarkId> ids, SortedSet<BenchmarkId> others) {
    List<BenchmarkId> left = new ArrayList<>(ids);
    left.removeAll(others);
    return left;
  }

  private void announce(int count) {
    // Of each side as many forks as an interval needs; about a second for the JVMs to start.
    long leastS = count * 2L * Bootstrap.LEAST_PAIRS * (suite.settings().totalMs() + 1000) / 1000;
    progress(
        Numbers.format(
            "%s against %s: %d benchmarks, at most about %s",
            candidateName,
            baseName,
            count,
            leastS > time.toSeconds()
                ? leastS + " s, since fewer forks would tell nothing"
                : time.toSeconds() + " s"));
  }

  private int report(ComparisonRun run) throws IOException {
    Path history = Files.createDirectories(out.resolve("history"));
    Path json = out.resolve("compare.json");
    History.write(run, json);
    Files.copy(
        json,
        history.resolve(run.at().toString().replace(':', '-') + ".json"),
        StandardCopyOption.REPLACE_EXISTING);
    Path html = out.resolve("compare.html");
    Files.writeString(html, ComparisonReport.html(run, History.read(history)));
    System.out.print(ComparisonReport.text(run));
    System.out.println("Report: " + html + " and " + json.getFileName());
    if (!run.slower().isEmpty()) {
      run.slower()
          .forEach(outcome ->
              progress(
                  outcome.id()
                      + " is slower by more than "
                      + Numbers.percent(run.threshold())
                      + ", in two batches of forks"));
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
