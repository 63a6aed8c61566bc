package io.nereid.benchmarks.objective;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.jr.ob.JSON;

/**
 * What the simulator found: a JSON object a line for each play, and its words for people, of which
 * the bars are taken.
 *
 * @param plays one policy against one load on one machine each
 * @param machines what it said of each machine, by its name
 * @param bars what was wanted of each machine, and what came out
 */
record Simulation(List<Play> plays, Map<String, String> machines, List<Bar> bars) {

  /** The policies that are no static setting. */
  private static final String OURS = "objective";

  private static final String ORACLE = "oracle";
  private static final String AIMD = "aimd";

  private static final Pattern MACHINE = Pattern.compile("(\\S[^:]*): (\\d+ instances.*)");
  private static final Pattern BAR = Pattern.compile("  (met|MISSED|missed) +(.*?)  +(\\S.*)");
  private static final Pattern TIMES = Pattern.compile("poisson ([0-9.]+).*");

  /** A bar, and whether it was met; one that does not count is told all the same. */
  record Bar(String machine, String verdict, String name, String found) {}

  /**
   * One policy against one load.
   *
   * @param policy its name; of a static setting what it says
   * @param share of the requests that were answered in time
   */
  record Play(
      String machine,
      String load,
      String policy,
      double share,
      double lateShare,
      double refusedShare,
      double goodput,
      double p99Ms) {

    boolean isOurs() {
      return policy.equals(OURS);
    }

    boolean isOracle() {
      return policy.equals(ORACLE);
    }

    boolean isAimd() {
      return policy.equals(AIMD);
    }

    boolean isStatic() {
      return !isOurs() && !isOracle() && !isAimd();
    }

    /** True if it is a static setting without a queue timeout. */
    boolean isPatient() {
      return isStatic() && !policy.contains("timeout");
    }

    /** How many feasible loads come, by chance; 0: something else comes. */
    double times() {
      Matcher times = TIMES.matcher(load);
      return times.matches() ? Double.parseDouble(times.group(1)) : 0;
    }
  }

  /**
   * Reads both.
   *
   * @param lines the plays
   * @param words what the simulator printed
   */
  static Simulation read(Path lines, Path words) throws IOException {
    Simulation read = new Simulation(new ArrayList<>(), new LinkedHashMap<>(), new ArrayList<>());
    for (String line : Files.readAllLines(lines)) {
      if (!line.isBlank()) {
        read.plays.add(play(JSON.std.mapFrom(line)));
      }
    }
    String machine = "";
    for (String line : Files.readAllLines(words)) {
      Matcher head = MACHINE.matcher(line);
      Matcher bar = BAR.matcher(line);
      if (head.matches()) {
        machine = head.group(1);
        if (read.plays.stream().map(Play::machine).anyMatch(machine::equals)) {
          read.machines.put(machine, head.group(2)); // others have bars only
        }
      } else if (bar.matches()) {
        read.bars.add(new Bar(machine, bar.group(1), bar.group(2).strip(), bar.group(3)));
      }
    }
    return read;
  }

  private static Play play(Map<String, Object> fields) {
    double offered = Math.max(1, number(fields, "offered"));
    return new Play(
        text(fields, "machine"),
        text(fields, "load"),
        text(fields, "policy"),
        number(fields, "kept") / offered,
        number(fields, "late") / offered,
        number(fields, "refused") / offered,
        number(fields, "goodput"),
        number(fields, "p99_ms"));
  }

  private static String text(Map<String, Object> fields, String name) {
    return fields.get(name) instanceof String text ? text : "";
  }

  private static double number(Map<String, Object> fields, String name) {
    return fields.get(name) instanceof Number number ? number.doubleValue() : 0;
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

  /** The policy with the largest shares over all loads of a machine together, of those meant. */
  String bestSingle(String machine, Predicate<Play> meant) {
    Map<String, Double> sums = new LinkedHashMap<>();
    plays.stream()
        .filter(play -> play.machine().equals(machine))
        .filter(meant)
        .forEach(play -> sums.merge(play.policy(), play.share(), Double::sum));
    return sums.entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .orElse("");
  }
}
