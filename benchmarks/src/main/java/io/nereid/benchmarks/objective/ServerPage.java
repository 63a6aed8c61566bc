package io.nereid.benchmarks.objective;

import io.nereid.perf.report.Chart;
import io.nereid.perf.report.HtmlPage;
import io.nereid.perf.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Shows what was measured on a server. */
final class ServerPage {

  private final HtmlPage page = new HtmlPage("Objectives beside static settings, on the server");

  private ServerPage() {}

  static String of(List<ServerFigures> figures) {
    ServerPage page = new ServerPage();
    page.page.paragraph(
        "Requests are due by chance (Poisson), and latency counts from when one was due. In time:"
            + " answered within the objective. All settings were served by one process and took"
            + " turns under each load. The feasible load is "
            + ServerFigures.FEASIBLE
            + " of what the model answers when nobody minds how late.");
    figures.forEach(page::model);
    return page.page.toString();
  }

  private void model(ServerFigures figures) {
    page.heading(
        String.format(
            Locale.ROOT,
            "%s: p99 %d ms, %.0f requests/s at most",
            figures.model().name(),
            figures.model().objectiveMs(),
            figures.capacity()));
    Setting ours = figures.ours();
    page.verdict(
        String.format(
            Locale.ROOT,
            "Under feasible loads at least %.2f of the best static setting of each load. At twice"
                + " the feasible load %.2f of the goodput is left; of the best single static"
                + " setting, %s, %.2f.",
            figures.worstBesideBest(),
            figures.leftAtTwice(ours),
            figures.bestSingle(any -> true).text(),
            figures.leftAtTwice(figures.bestSingle(any -> true))));
    chart("In time, by load", "requests/s in time", true, figures, ServerFigures.Cell::goodput);
    chart("p99 of what is answered", "ms", false, figures, ServerFigures.Cell::p99Ms);
    page.table(table(figures));
    steps(figures);
    learned(figures);
  }

  private void chart(
      String caption,
      String unit,
      boolean linear,
      ServerFigures figures,
      ToDoubleFunction<ServerFigures.Cell> value) {
    List<Setting> shown = new ArrayList<>(List.of(figures.ours()));
    List<Setting> best =
        List.of(
            figures.bestSingle(any -> true),
            figures.bestSingle(setting -> !setting.timeout()),
            figures.best(any -> true, figures.loads().getFirst()),
            figures.best(setting -> !setting.timeout(), ServerFigures.FEASIBLE));
    best.stream().distinct().forEach(shown::add);
    List<Chart.Series> series = new ArrayList<>();
    for (Setting setting : shown) {
      List<Chart.Point> points = new ArrayList<>();
      for (double load : figures.loads()) {
        double y = value.applyAsDouble(figures.cells().get(setting).get(load));
        String text =
            String.format(Locale.ROOT, "%s at %.2f: %.1f %s", setting.text(), load, y, unit);
        points.add(new Chart.Point(load * figures.capacity(), y, text));
      }
      series.add(new Chart.Series(setting.ours() ? "objective" : "", points));
    }
    page.figure(
        caption,
        (linear
                ? Chart.linear(caption, "requests/s due", unit, series)
                : Chart.lines(caption, "requests/s due", unit, false, series))
            + HtmlPage.legend(shown.stream().map(Setting::text).toList()));
  }

  private static Table table(ServerFigures figures) {
    List<String> headings = new ArrayList<>(List.of("setting"));
    for (double load : figures.loads()) {
      String due = String.format(Locale.ROOT, "%.0f/s", load * figures.capacity());
      headings.addAll(List.of(due + " in time", "answered", "refused", "p99 ms"));
    }
    Table table = new Table(headings);
    figures
        .cells()
        .forEach((setting, loads) -> {
          List<Table.Cell> cells = new ArrayList<>(List.of(new Table.Cell(setting.text(), "")));
          loads
              .values()
              .forEach(cell -> {
                cells.add(number("%.0f", cell.goodput()));
                cells.add(number("%.0f", cell.answered()));
                cells.add(number("%.0f", cell.refused()));
                cells.add(number("%.1f", cell.p99Ms()));
              });
          table.addStyled(cells);
        });
    return table;
  }

  private static Table.Cell number(String format, double value) {
    return new Table.Cell(String.format(Locale.ROOT, format, value), "number");
  }

  /** Draws what happened while the load doubled and halved again. */
  private void steps(ServerFigures figures) {
    List<Chart.Series> series = new ArrayList<>();
    List<String> names = new ArrayList<>();
    figures
        .steps()
        .forEach((setting, samples) -> {
          List<Chart.Point> points = new ArrayList<>();
          for (OverTime.Sample sample : samples) {
            String text =
                String.format(
                    Locale.ROOT,
                    "%s after %.1f s: %.1f ms, %.0f requests/s answered, %.0f refused",
                    setting.text(),
                    sample.second(),
                    sample.meanMs(),
                    sample.answeredPerSecond(),
                    sample.failedPerSecond());
            points.add(new Chart.Point(sample.second(), sample.meanMs(), text));
          }
          if (!points.isEmpty()) {
            series.add(new Chart.Series("", points));
            names.add(setting.text());
          }
        });
    if (!series.isEmpty()) {
      String caption = "Over time: the feasible load, twice that, and the feasible load again";
      page.figure(
          caption,
          Chart.lines(caption, "seconds", "ms in the server, on average", false, series)
              + HtmlPage.legend(names));
    }
  }

  /** What the model had learned in the end. */
  private void learned(ServerFigures figures) {
    if (!(figures.learned().get("costs") instanceof List<?> costs) || costs.isEmpty()) {
      return;
    }
    List<Chart.Point> mean = new ArrayList<>();
    List<Chart.Point> high = new ArrayList<>();
    for (Object each : costs) {
      Map<?, ?> cost = (Map<?, ?>) each;
      double rows = ((Number) cost.get("rows")).doubleValue();
      mean.add(point(rows, cost.get("mean_ns")));
      high.add(point(rows, cost.get("high_ns")));
    }
    page.figure(
        "What executions take, as learned",
        Chart.linear(
            "the learned cost of executions",
            "rows",
            "ms",
            List.of(
                new Chart.Series("mean", mean), new Chart.Series("one of a hundred above", high))));
  }

  private static Chart.Point point(double rows, Object ns) {
    double ms = ((Number) ns).doubleValue() / 1e6;
    return new Chart.Point(rows, ms, String.format(Locale.ROOT, "%.0f rows: %.3f ms", rows, ms));
  }
}
