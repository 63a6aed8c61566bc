package io.nereid.benchmarks.objective;

import io.nereid.benchmarks.objective.Simulation.Play;
import io.nereid.perf.report.Axis;
import io.nereid.perf.report.Chart;
import io.nereid.perf.report.HtmlPage;
import io.nereid.perf.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Shows what was simulated. */
final class SimulationPage {

  /** So many drawings over time are shown for a machine. */
  private static final int MOST_SERIES = 4;

  private final Simulation simulation;
  private final HtmlPage page = new HtmlPage("Objectives beside static settings, simulated");

  /** What stands beside each other: each with a name, of which the best play is shown. */
  private record Column(String name, Predicate<Play> meant) {}

  private SimulationPage(Simulation simulation) {
    this.simulation = simulation;
  }

  static String of(Simulation simulation) {
    SimulationPage page = new SimulationPage(simulation);
    page.page.paragraph(
        "Discrete events: no clock and no threads. In time is the share of all requests that came"
            + " that were answered within the objective. The best static setting is the best for"
            + " that load in hindsight; the best single one is the best for all loads together."
            + " The oracle knows the future.");
    page.page.table(bars(simulation));
    simulation.machines().forEach(page::machine);
    return page.page.toString();
  }

  /** What was wanted, and what came out. */
  static Table bars(Simulation simulation) {
    Table table = new Table(List.of("bar", "wanted", "worst", "met", "where"));
    for (Map<String, Object> bar : simulation.bars()) {
      boolean met = Boolean.TRUE.equals(bar.get("met"));
      table.add(
          List.of(
              Simulation.text(bar, "name"),
              String.format(Locale.ROOT, "%.2f", Simulation.number(bar, "wanted")),
              String.format(Locale.ROOT, "%.3f", Simulation.number(bar, "worst")),
              met ? "yes" : "NO",
              Simulation.text(bar, "text")));
    }
    return table;
  }

  private void machine(String machine) {
    page.heading(machine);
    String single = simulation.bestSingle(machine, play -> true);
    String patient = simulation.bestSingle(machine, play -> !play.timeout());
    List<Column> columns =
        List.of(
            new Column("objective", play -> play.policy().equals(Simulation.OURS)),
            new Column("best static of each load", play -> play.policy().equals(Simulation.STATIC)),
            new Column("best single: " + single, play -> play.setting().equals(single)),
            new Column(
                "best single without timeouts: " + patient, play -> play.setting().equals(patient)),
            new Column("oracle", play -> play.policy().equals(Simulation.ORACLE)));
    steady(machine, columns);
    page.table(table(machine, columns));
    simulation.series().stream()
        .filter(series -> Simulation.text(series, "machine").equals(machine))
        .limit(MOST_SERIES)
        .forEach(this::series);
    simulation.curves().stream()
        .filter(curve -> Simulation.text(curve, "machine").equals(machine))
        .forEach(this::curve);
  }

  /** Draws the steady loads: what is in time over how much comes. */
  private void steady(String machine, List<Column> columns) {
    List<Chart.Series> series = new ArrayList<>();
    for (Column column : columns) {
      List<Chart.Point> points = new ArrayList<>();
      for (String load : simulation.loads(machine)) {
        Play play = simulation.best(machine, load, column.meant());
        if (play != null && play.times() > 0 && load.startsWith("poisson")) {
          String text =
              String.format(Locale.ROOT, "%s, %s: %.1f %%", load, play.name(), 100 * play.share());
          points.add(new Chart.Point(play.times(), play.times() * play.share(), text));
        }
      }
      if (!points.isEmpty()) {
        series.add(new Chart.Series("", points));
      }
    }
    if (!series.isEmpty()) {
      page.figure(
          "Poisson arrivals: answered in time, in feasible loads",
          Chart.linear(
                  "in time, by load and policy",
                  "what comes, in feasible loads",
                  "what is in time",
                  series)
              + HtmlPage.legend(columns.stream().map(Column::name).toList()));
    }
  }

  private Table table(String machine, List<Column> columns) {
    List<String> headings = new ArrayList<>(List.of("load"));
    columns.forEach(column -> headings.add(column.name() + ", in time"));
    headings.addAll(List.of("other policies", "objective: late", "refused", "p99 ms"));
    Table table = new Table(headings);
    for (String load : simulation.loads(machine)) {
      List<Table.Cell> cells = new ArrayList<>(List.of(new Table.Cell(load, "")));
      for (Column column : columns) {
        Play best = simulation.best(machine, load, column.meant());
        cells.add(cell(best == null ? "" : percent(best.share())));
      }
      cells.add(cell(others(machine, load)));
      Play ours = simulation.best(machine, load, columns.getFirst().meant());
      cells.add(cell(ours == null ? "" : percent(ours.lateShare())));
      cells.add(cell(ours == null ? "" : percent(ours.refusedShare())));
      cells.add(cell(ours == null ? "" : String.format(Locale.ROOT, "%.1f", ours.p99Ms())));
      table.addStyled(cells);
    }
    return table;
  }

  private String others(String machine, String load) {
    List<String> others = new ArrayList<>();
    for (Play play : simulation.plays()) {
      boolean known =
          List.of(Simulation.OURS, Simulation.STATIC, Simulation.ORACLE).contains(play.policy());
      if (!known && play.machine().equals(machine) && play.load().equals(load)) {
        others.add(play.policy() + " " + percent(play.share()));
      }
    }
    return String.join(", ", others);
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  private static Table.Cell cell(String text) {
    return new Table.Cell(text, "number");
  }

  private void series(Map<String, Object> series) {
    String name = Simulation.text(series, "load") + ", " + Simulation.text(series, "policy");
    List<Double> times = Simulation.numbers(series, "t");
    page.figure(
        "Over time: " + name,
        Chart.linear(
            name,
            "seconds",
            "requests/s",
            List.of(
                new Chart.Series("come", points(times, series, "offered", "/s")),
                new Chart.Series("in time", points(times, series, "goodput", "/s")))));
    page.figure(
        "p99 over time: " + name,
        Chart.linear(
            name,
            "seconds",
            "ms",
            List.of(new Chart.Series("p99", points(times, series, "p99_ms", "ms")))));
  }

  private void curve(Map<String, Object> curve) {
    List<Double> rows = Simulation.numbers(curve, "rows");
    page.figure(
        "What executions take",
        Chart.linear(
            "the cost of executions by their rows",
            "rows",
            "ms",
            Stream.of(
                    new Chart.Series("true", points(rows, curve, "true_ms", "ms")),
                    new Chart.Series("learned", points(rows, curve, "learned_ms", "ms")),
                    new Chart.Series("learned high", points(rows, curve, "high_ms", "ms")))
                .filter(one -> !one.points().isEmpty())
                .toList()));
  }

  private static List<Chart.Point> points(
      List<Double> xs, Map<String, Object> fields, String name, String unit) {
    List<Double> ys = Simulation.numbers(fields, name);
    List<Chart.Point> points = new ArrayList<>();
    for (int i = 0; i < Math.min(xs.size(), ys.size()); i++) {
      String text =
          String.format(Locale.ROOT, "%s: %.2f %s", Axis.label(xs.get(i)), ys.get(i), unit);
      points.add(new Chart.Point(xs.get(i), ys.get(i), text));
    }
    return points;
  }
}
