package io.nereid.benchmarks.objective;

import io.nereid.benchmarks.objective.Simulation.Play;
import io.nereid.perf.report.Chart;
import io.nereid.perf.report.HtmlPage;
import io.nereid.perf.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** Shows what was simulated. */
final class SimulationPage {

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
            + " The oracle knows the future; nobody can keep more.");
    page.page.table(page.bars());
    simulation.machines().forEach(page::machine);
    return page.page.toString();
  }

  /** What was wanted, and what came out. */
  private Table bars() {
    Table table = new Table(List.of("machine", "bar", "worst", "verdict"));
    for (Simulation.Bar bar : simulation.bars()) {
      table.add(List.of(bar.machine(), bar.name(), bar.found(), bar.verdict()));
    }
    return table;
  }

  private void machine(String machine, String words) {
    page.heading(machine);
    page.paragraph(words);
    String single = simulation.bestSingle(machine, Play::isStatic);
    String patient = simulation.bestSingle(machine, Play::isPatient);
    List<Column> columns =
        List.of(
            new Column("objective", Play::isOurs),
            new Column("best static of each load", Play::isStatic),
            new Column("best single: " + single, play -> play.policy().equals(single)),
            new Column(
                "best single without timeouts: " + patient, play -> play.policy().equals(patient)),
            new Column("oracle", Play::isOracle));
    chart(machine, "Chance arrivals: in time", "requests/s in time", columns, Play::goodput);
    chart(
        machine,
        "Chance arrivals: p99 of what is answered",
        "ms",
        columns.subList(0, columns.size() - 1), // of the oracle only how many is known
        Play::p99Ms);
    page.table(table(machine, columns));
  }

  /** Draws the loads that come by chance, at a steady rate. */
  private void chart(
      String machine,
      String caption,
      String unit,
      List<Column> columns,
      ToDoubleFunction<Play> value) {
    List<Chart.Series> series = new ArrayList<>();
    for (Column column : columns) {
      List<Chart.Point> points = new ArrayList<>();
      for (String load : simulation.loads(machine)) {
        Play play = simulation.best(machine, load, column.meant());
        if (play != null && play.times() > 0) {
          double y = value.applyAsDouble(play);
          String text = String.format(Locale.ROOT, "%s, %s: %.1f %s", load, play.policy(), y, unit);
          points.add(new Chart.Point(play.times(), y, text));
        }
      }
      if (!points.isEmpty()) {
        series.add(new Chart.Series("", points));
      }
    }
    if (series.isEmpty()) {
      return;
    }
    boolean wild = simulation.machines().get(machine).contains("capacity");
    String x = "what comes, in " + (wild ? "capacities" : "feasible loads");
    page.figure(
        caption,
        (unit.equals("ms")
                ? Chart.lines(caption, x, unit, false, series)
                : Chart.linear(caption, x, unit, series))
            + HtmlPage.legend(columns.stream().map(Column::name).toList()));
  }

  private Table table(String machine, List<Column> columns) {
    List<String> headings = new ArrayList<>(List.of("load"));
    columns.forEach(column -> headings.add(column.name() + ", in time"));
    headings.addAll(List.of("Clipper's, in time", "objective: late", "refused", "p99 ms"));
    Table table = new Table(headings);
    for (String load : simulation.loads(machine)) {
      List<Table.Cell> cells = new ArrayList<>(List.of(new Table.Cell(load, "")));
      for (Column column : columns) {
        cells.add(percent(simulation.best(machine, load, column.meant()), Play::share));
      }
      cells.add(percent(simulation.best(machine, load, Play::isAimd), Play::share));
      Play ours = simulation.best(machine, load, Play::isOurs);
      cells.add(percent(ours, Play::lateShare));
      cells.add(percent(ours, Play::refusedShare));
      cells.add(cell(ours == null ? "" : String.format(Locale.ROOT, "%.1f", ours.p99Ms())));
      table.addStyled(cells);
    }
    return table;
  }

  private static Table.Cell percent(Play play, ToDoubleFunction<Play> share) {
    return cell(
        play == null ? "" : String.format(Locale.ROOT, "%.1f %%", 100 * share.applyAsDouble(play)));
  }

  private static Table.Cell cell(String text) {
    return new Table.Cell(text, "number");
  }
}
