package io.nereid.benchmarks.peers;

import io.nereid.benchmarks.peers.Plan.Case;
import io.nereid.benchmarks.peers.Plan.Side;
import io.nereid.benchmarks.peers.Plan.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tools.jackson.jr.ob.JSON;

/**
 * One side's cases of a plan, one after the other in a JVM of its own, with the same settings for
 * every side.
 */
final class PeerFork {

  /** Beyond what a fork needs by its timing, even on a machine that does much else. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private static final Duration STEP = Duration.ofMillis(20);
  private static final int TOLD_LINES = 20;

  private PeerFork() {}

  /**
   * The time that a case takes in a fork, in milliseconds.
   *
   * @param warmUp processor time under load before anything is counted; twice, the first time for
   *     all cases
   * @param measured time by the clock that counts
   */
  record Timing(int warmUp, int measured) {

    static final Timing FULL = new Timing(500, 800);

    /** Shows that everything works; the figures mean nothing. */
    static final Timing SMOKE = new Timing(100, 100);
  }

  /** Runs a side and returns its results by the cases' ids; its output and they are kept. */
  static Map<String, Load.Result> run(
      Plan plan, Side side, Places places, Timing timing, Path results, String name)
      throws IOException {
    Path log = results.resolve(name + ".log");
    Path output = results.resolve(name + ".json");
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xms512m",
            "-Xmx512m",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Dai.djl.offline=true",
            "-cp",
            System.getProperty("java.class.path"),
            PeerFork.class.getName(),
            side.name(),
            plan.name(),
            Integer.toString(timing.warmUp),
            Integer.toString(timing.measured),
            places.project().toString(),
            places.directory().toString(),
            output.toString());
    builder.redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().put("LD_LIBRARY_PATH", places.libraries().toString());
    // Neither library tells its maker of the runs.
    builder.environment().put("ORT_DISABLE_TELEMETRY", "1");
    builder.environment().put("OPT_OUT_TRACKING", "true");
    Process process = builder.start();
    try {
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            "%s did not end within %s%s".formatted(name, PATIENCE, tail(log)));
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
    return JSON.std.mapOfFrom(Load.Result.class, Files.readString(output));
  }

  private static String tail(Path log) throws IOException {
    List<String> lines = Files.readAllLines(log);
    return "; the end of "
        + log.getFileName()
        + ":\n"
        + String.join("\n", lines.subList(Math.max(0, lines.size() - TOLD_LINES), lines.size()));
  }

  /**
   * Runs the cases of a plan.
   *
   * @param args the side, the plan, milliseconds to warm up and to measure, the project, the
   *     directory of the peers, and the file for the results
   */
  public static void main(String[] args) throws IOException {
    Side side = Side.valueOf(args[0]);
    Plan plan = Plan.valueOf(args[1]);
    Duration warmUp = Duration.ofMillis(Integer.parseInt(args[2]));
    Duration measured = Duration.ofMillis(Integer.parseInt(args[3]));
    Places places = new Places(Path.of(args[4]), Path.of(args[5]));
    Map<String, Load.Result> results = new HashMap<>();
    for (Workload workload : EnumSet.allOf(Workload.class)) {
      List<Case> cases =
          new ArrayList<>(plan.cases.stream().filter(each -> each.workload() == workload).toList());
      if (cases.isEmpty()) {
        continue;
      }
      try (Peer peer = open(side, workload, places)) {
        // The JVM's code for one case serves the others: no case is measured before all ran.
        cases.forEach(each -> Load.run(peer, each, warmUp, STEP));
        cases.forEach(each -> results.put(each.id(), Load.run(peer, each, warmUp, measured)));
      }
    }
    Files.writeString(Path.of(args[6]), JSON.std.asString(results));
  }

  private static Peer open(Side side, Workload workload, Places places) {
    return switch (side) {
      case NEREID -> new NereidPeer(workload, places);
      case TRITON -> new TritonPeer(workload, places);
      case ONNXRUNTIME -> new OrtPeer(workload, places, true);
      case ONNXRUNTIME_ASLEEP -> new OrtPeer(workload, places, false);
      case DJL -> new DjlPeer(workload, places);
    };
  }
}
