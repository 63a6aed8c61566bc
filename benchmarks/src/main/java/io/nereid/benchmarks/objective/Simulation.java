package io.nereid.benchmarks.objective;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.jr.ob.JSON;

/**
 * What the simulator printed: a JSON object a line.
 *
 * @param plays one policy against one load on one machine each
 * @param series the same over time, for a few of them
 * @param curves what executions cost, and what was learned of that
 * @param bars what was wanted, and what came out
 */
record Simulation(
    List<Play> plays,
    List<Map<String, Object>> series,
    List<Map<String, Object>> curves,
    List<Map<String, Object>> bars) {

  /** The policies, in the words of the simulator. */
  static final String OURS = "objective";

  static final String STATIC = "static";
  static final String ORACLE = "oracle";

  /**
   * One policy against one load.
   *
   * @param times of the feasible load; 0: it differs
   * @param share of the requests that were answered in time
   */
  record Play(
      String machine,
      String load,
      double times,
      String policy,
      String setting,
      boolean timeout,
      double share,
      double lateShare,
      double refusedShare,
      double p99Ms) {

    /** For people. */
    String name() {
      return setting.isEmpty() ? policy : setting;
    }
  }

  static Simulation read(Path lines) throws IOException {
    Simulation read =
        new Simulation(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    for (String line : Files.readAllLines(lines)) {
      if (!line.isBlank()) {
        read.add(JSON.std.mapFrom(line));
      }
    }
    return read;
  }

  private void add(Map<String, Object> fields) {
    switch (text(fields, "kind")) {
      case "result" -> plays.add(play(fields));
      case "series" -> series.add(fields);
      case "curve" -> curves.add(fields);
      case "bar" -> bars.add(fields);
      default -> {
        // of a newer simulator
      }
    }
  }

  private static Play play(Map<String, Object> fields) {
    double offered = Math.max(1, number(fields, "offered"));
    return new Play(
        text(fields, "machine"),
        text(fields, "load"),
        number(fields, "times"),
        text(fields, "policy"),
        text(fields, "setting"),
        Boolean.TRUE.equals(fields.get("timeout")),
        number(fields, "kept") / offered,
        number(fields, "late") / offered,
        number(fields, "refused") / offered,
        number(fields, "p99_ms"));
  }

  static String text(Map<String, Object> fields, String name) {
    return fields.get(name) instanceof String text ? text : "";
  }

  static double number(Map<String, Object> fields, String name) {
    return fields.get(name) instanceof Number number ? number.doubleValue() : 0;
  }

  static List<Double> numbers(Map<String, Object> fields, String name) {
    return fields.get(name) instanceof List<?> list
        ? list.stream().map(each -> ((Number) each).doubleValue()).toList()
        : List.of();
  }

  Set<String> machines() {
    Set<String> machines = new LinkedHashSet<>();
    plays.forEach(play -> machines.add(play.machine()));
    return machines;
  }

  /** The loads of a machine, in the order in which they were played. */
  Set<String> loads(String machine) {
    Set<String> loads = new LinkedHashSet<>();
    plays.stream()
        .filter(play -> play.machine().equals(machine))
        .forEach(play -> loads.add(play.load()));
    return loads;
  }

  /** The play with the largest share in time, of those that are meant; null: there is none. */
  Play best(String machine, String load, Predicate<Play> meant) {
    Play best = null;
    for (Play play : plays) {
      if (play.machine().equals(machine)
          && play.load().equals(load)
          && meant.test(play)
          && (best == null || play.share() > best.share())) {
        best = play;
      }
    }
    return best;
  }

  /** The static setting with the largest shares over all loads of a machine together. */
  String bestSingle(String machine, Predicate<Play> meant) {
    String best = "";
    double most = -1;
    Set<String> settings = new LinkedHashSet<>();
    plays.stream()
        .filter(play -> play.machine().equals(machine) && play.policy().equals(STATIC))
        .filter(meant)
        .forEach(play -> settings.add(play.setting()));
    for (String setting : settings) {
      double sum =
          plays.stream()
              .filter(play -> play.machine().equals(machine) && play.setting().equals(setting))
              .mapToDouble(Play::share)
              .sum();
      if (sum > most) {
        most = sum;
        best = setting;
      }
    }
    return best;
  }
}
