package io.nereid.benchmarks.compare;

import io.nereid.perf.compare.BenchmarkId;
import io.nereid.perf.compare.CompareArguments;
import io.nereid.perf.compare.MeasurementException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SortedSet;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Compares two builds; {@code ./dev bench compare} makes the builds and calls this. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    description = "Compares the benchmarks of two builds.",
    sortOptions = false)
public final class CompareCommand implements Callable<Integer> {

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

  @Mixin private CompareArguments arguments;

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
          return CompareArguments.NOT_MEASURED;
        });
  }

  @Override
  public Integer call() throws MeasurementException, IOException {
    Path work = Files.createDirectories(arguments.out().resolve("work")).toAbsolutePath();
    JmhProcess jmh = new JmhProcess(work);
    Build baseBuild = Build.in(baseName, base);
    Build candidateBuild = Build.in(candidateName, candidate);
    SortedSet<BenchmarkId> ofBase = ofSuite(jmh.list(baseBuild));
    SortedSet<BenchmarkId> ofCandidate =
        baseBuild.isSame(candidateBuild) ? ofBase : ofSuite(jmh.list(candidateBuild));
    return arguments.compare(
        new JmhForks(jmh, suite.settings()),
        new CompareArguments.Side<>(baseName, baseBuild, ofBase),
        new CompareArguments.Side<>(candidateName, candidateBuild, ofCandidate),
        suite.name().toLowerCase(Locale.ROOT),
        suite.settings(),
        new PrintWriter(System.out));
  }

  private SortedSet<BenchmarkId> ofSuite(SortedSet<BenchmarkId> all) {
    all.removeIf(id -> !suite.contains(id));
    return all;
  }
}
