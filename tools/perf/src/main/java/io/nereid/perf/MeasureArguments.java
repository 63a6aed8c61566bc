package io.nereid.perf;

import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The options for the length of measurements, and for the results. */
final class MeasureArguments {

  @Option(
      names = {"-p", "--measurement-interval"},
      paramLabel = "MS",
      defaultValue = "1000",
      description = "The length of a window; ${DEFAULT-VALUE} by default.")
  private long windowMs;

  @Option(
      names = {"-r", "--max-trials"},
      paramLabel = "N",
      defaultValue = "10",
      description = "Windows at most; ${DEFAULT-VALUE} by default.")
  private int mostWindows;

  @Option(
      names = {"-s", "--stability-percentage"},
      paramLabel = "PERCENT",
      defaultValue = "10",
      description =
          "A load is measured when throughput and latency of the last three windows are so near"
              + " to their mean; ${DEFAULT-VALUE} by default.")
  private double tolerancePercent;

  @Option(
      names = "--percentile",
      paramLabel = "P",
      description = "Which latency has to be stable; the mean by default.")
  private Double percentile;

  @Option(
      names = "--warm-up",
      paramLabel = "MS",
      defaultValue = "1000",
      description = "Before the first window of a load; ${DEFAULT-VALUE} by default.")
  private long warmUpMs;

  @Option(
      names = "--within",
      paramLabel = "MS",
      description = "Count the answers that came within so many milliseconds.")
  private Double withinMs;

  @Option(
      names = "--server-pid",
      paramLabel = "PID",
      description =
          "The server's process, for its CPU; by default whoever listens at the port, if that is"
              + " on this machine.")
  private Long serverPid;

  @Option(
      names = {"--csv", "-f"},
      paramLabel = "FILE",
      description = "Write the results as CSV.")
  private Path csv;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON.")
  private Path json;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Write a report with plots, all in one file.")
  private Path html;

  @Option(
      names = {"-q", "--quiet"},
      description = "No line that shows what is going on.")
  private boolean quiet;

  LevelRunner.Options options(long seed) {
    DataArguments.expect(
        windowMs >= 1 && windowMs <= 3_600_000, "-p from 1 to 3600000, got " + windowMs);
    DataArguments.expect(
        mostWindows >= 1 && mostWindows <= 10_000, "-r from 1 to 10000, got " + mostWindows);
    DataArguments.expect(tolerancePercent > 0, "-s above 0, got " + tolerancePercent);
    DataArguments.expect(warmUpMs >= 0, "--warm-up of 0 or more, got " + warmUpMs);
    DataArguments.expect(
        percentile == null || percentile > 0 && percentile <= 100,
        "--percentile above 0 and up to 100, got " + percentile);
    DataArguments.expect(
        withinMs == null || withinMs > 0 && withinMs <= 3_600_000,
        "--within above 0 and up to 3600000, got " + withinMs);
    return new LevelRunner.Options(
        Duration.ofMillis(windowMs),
        mostWindows,
        tolerancePercent / 100,
        percentile == null ? 0 : percentile,
        Duration.ofMillis(warmUpMs),
        seed,
        withinMs == null ? Duration.ZERO : Duration.ofNanos(Math.round(withinMs * 1e6)));
  }

  ServerProcess process(Target target) {
    return serverPid == null ? ServerProcess.at(target) : ServerProcess.of(serverPid);
  }

  Path csv() {
    return csv;
  }

  Path json() {
    return json;
  }

  Path html() {
    return html;
  }

  boolean quiet() {
    return quiet;
  }
}
