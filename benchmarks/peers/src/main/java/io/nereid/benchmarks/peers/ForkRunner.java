package io.nereid.benchmarks.peers;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tools.jackson.jr.ob.JSON;

/** Runs forks, each a JVM of its own with the same settings for every side. */
final class ForkRunner {

  /** Beyond what a fork needs by its timing, even on a machine that does much else. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private static final int TOLD_LINES = 20;

  private final Places places;
  private final Timing timing;
  private final Path results;

  ForkRunner(Places places, Timing timing, Path results) {
    this.places = places;
    this.timing = timing;
    this.results = results;
  }

  /** Runs a side for one round and returns its results by the cases' ids. */
  Map<String, Load.Result> run(Plan plan, int round, Side side) throws IOException {
    String name = "%s-%02d-%s".formatted(plan.id(), round + 1, side.id());
    Path log = results.resolve(name + ".log");
    Path output = results.resolve(name + ".json");
    ProcessBuilder builder = new ProcessBuilder(command(plan, side, output));
    builder.redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().put("LD_LIBRARY_PATH", places.libraries());
    // Neither library tells its maker of the runs.
    builder.environment().put("ORT_DISABLE_TELEMETRY", "1");
    builder.environment().put("OPT_OUT_TRACKING", "true");
    Process process = builder.start();
    try {
      Duration patience = PATIENCE.plus(timing.of(plan.cases().size()));
      if (!process.waitFor(patience.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            "%s did not end within %d s%s".formatted(name, patience.toSeconds(), tail(log)));
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted while " + name + " ran", e);
    } finally {
      process.destroyForcibly();
    }
    if (process.exitValue() != 0) {
      throw new IllegalStateException(
          "%s ended with %d%s".formatted(name, process.exitValue(), tail(log)));
    }
    return read(output);
  }

  private List<String> command(Plan plan, Side side, Path output) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xms512m",
            "-Xmx512m",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Dorg.bytedeco.javacpp.cachedir=" + places.directory().resolve("javacpp"),
            // Nothing is freed by the collector there, so it need not follow JavaCPP's pointers.
            "-Dorg.bytedeco.javacpp.nopointergc=true",
            "-Dai.djl.offline=true",
            "-cp",
            classPath(),
            ForkMain.class.getName()));
    command.addAll(
        List.of(
            side.name(),
            plan.name(),
            seconds(timing.warmUp()),
            seconds(timing.measured()),
            places.project().toString(),
            places.directory().toString(),
            output.toString()));
    return command;
  }

  private static String classPath() {
    return List.of(System.getProperty("java.class.path").split(File.pathSeparator)).stream()
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .reduce((a, b) -> a + File.pathSeparator + b)
        .orElseThrow();
  }

  private static String seconds(Duration duration) {
    return Double.toString(duration.toNanos() / 1e9);
  }

  private static Map<String, Load.Result> read(Path output) throws IOException {
    Map<String, Load.Result> cases = new LinkedHashMap<>();
    JSON.std
        .mapFrom(Files.readString(output))
        .forEach((id, values) -> cases.put(id, Load.Result.of((Map<?, ?>) values)));
    return cases;
  }

  private static String tail(Path log) throws IOException {
    List<String> lines = Files.readAllLines(log);
    return "; the end of "
        + log.getFileName()
        + ":\n"
        + String.join("\n", lines.subList(Math.max(0, lines.size() - TOLD_LINES), lines.size()));
  }

  /**
   * The time that a case takes in a fork.
   *
   * @param warmUp processor time under load before anything is counted; twice, the first time for
   *     all cases
   * @param measured what is counted
   */
  record Timing(Duration warmUp, Duration measured) {

    static final Timing FULL = new Timing(Duration.ofMillis(500), Duration.ofMillis(800));

    /** To see that everything works; the figures mean nothing. */
    static final Timing SMOKE = new Timing(Duration.ofMillis(100), Duration.ofMillis(100));

    /**
     * Returns the time of so many cases in one fork that has a processor for itself, without its
     * start.
     */
    Duration of(int caseCount) {
      return warmUp.multipliedBy(2).plus(measured).multipliedBy(caseCount);
    }
  }
}
