package io.nereid.benchmarks.objective;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * What one model did on the server.
 *
 * @param capacity requests a second that it answers when nobody minds how late
 * @param loads parts of the capacity that were asked for, ascending
 * @param cells by setting and then by load
 * @param steps by setting, while the load doubled from the feasible one and halved again
 * @param learned the objective among the statistics of the model that has one, at the end
 */
record ServerFigures(
    ServedModel model,
    double capacity,
    List<Double> loads,
    Map<Setting, Map<Double, Cell>> cells,
    Map<Setting, List<OverTime.Sample>> steps,
    Map<String, Object> learned) {

  /** Where a load is one that can be answered, and where it is twice that. */
  static final double FEASIBLE = 0.75;

  static final double TWICE = 2 * FEASIBLE;

  /**
   * One setting under one load, over all rounds.
   *
   * @param goodput answers within the objective, a second
   * @param answered all answers, a second
   * @param p99Ms of what was answered
   */
  record Cell(double goodput, double answered, double p99Ms, double refused) {

    static Cell mean(List<Cell> rounds) {
      return new Cell(
          rounds.stream().mapToDouble(Cell::goodput).average().orElse(0),
          rounds.stream().mapToDouble(Cell::answered).average().orElse(0),
          rounds.stream().mapToDouble(Cell::p99Ms).average().orElse(0),
          rounds.stream().mapToDouble(Cell::refused).average().orElse(0));
    }
  }

  double goodput(Setting setting, double load) {
    return cells.get(setting).get(load).goodput();
  }

  Setting ours() {
    return cells.keySet().stream().filter(Setting::ours).findFirst().orElseThrow();
  }

  /** The static setting with the most goodput under a load, of those that are meant. */
  Setting best(Predicate<Setting> meant, double load) {
    return cells.keySet().stream()
        .filter(setting -> !setting.ours() && meant.test(setting))
        .max(Comparator.comparingDouble(setting -> goodput(setting, load)))
        .orElseThrow();
  }

  /** The static setting with the most goodput over all loads together, of those that are meant. */
  Setting bestSingle(Predicate<Setting> meant) {
    return cells.keySet().stream()
        .filter(setting -> !setting.ours() && meant.test(setting))
        .max(
            Comparator.comparingDouble(
                setting -> loads.stream().mapToDouble(load -> goodput(setting, load)).sum()))
        .orElseThrow();
  }

  /** The smallest goodput of ours beside the best static setting of each feasible load. */
  double worstBesideBest() {
    return loads.stream()
        .filter(load -> load <= FEASIBLE)
        .mapToDouble(load -> goodput(ours(), load) / goodput(best(any -> true, load), load))
        .min()
        .orElse(0);
  }

  /** What is left of the goodput at the feasible load when twice as much comes. */
  double leftAtTwice(Setting setting) {
    return goodput(setting, TWICE) / goodput(setting, FEASIBLE);
  }

  /** For other programs. */
  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("model", model.name());
    json.put("objective_ms", model.objectiveMs());
    json.put("capacity", capacity);
    json.put("worst_beside_best", worstBesideBest());
    json.put("left_at_twice", leftAtTwice(ours()));
    json.put(
        "results",
        cells.entrySet().stream()
            .flatMap(setting ->
                setting.getValue().entrySet().stream()
                    .map(cell -> json(setting.getKey(), cell.getKey(), cell.getValue())))
            .toList());
    json.put(
        "steps",
        steps.entrySet().stream()
            .flatMap(step -> step.getValue().stream().map(sample -> json(step.getKey(), sample)))
            .toList());
    json.put("objective", learned);
    return json;
  }

  private static Map<String, Object> json(Setting setting, OverTime.Sample sample) {
    return Map.of(
        "setting", setting.text(),
        "second", sample.second(),
        "answered", sample.answeredPerSecond(),
        "failed", sample.failedPerSecond(),
        "mean_ms", sample.meanMs());
  }

  private Map<String, Object> json(Setting setting, double load, Cell cell) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("setting", setting.text());
    json.put("load", load);
    json.put("rate", load * capacity);
    json.put("goodput", cell.goodput());
    json.put("answered", cell.answered());
    json.put("refused", cell.refused());
    json.put("p99_ms", cell.p99Ms());
    return json;
  }
}
