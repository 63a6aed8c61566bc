package io.nereid.perf.tune;

import io.nereid.perf.report.Chart;
import io.nereid.perf.report.HtmlPage;
import io.nereid.perf.report.Table;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes throughput and latency of the candidates as a page for a browser. */
final class TunePage {

  private TunePage() {}

  /**
   * The page.
   *
   * @param figures the lines with the result
   * @param trials the candidates by the text of their settings
   */
  static String of(
      String model,
      List<String> figures,
      Map<String, Trial> trials,
      String present,
      String chosen) {
    HtmlPage page = new HtmlPage("Settings of " + model);
    page.verdict(figures.get(figures.size() - 1));
    figures.subList(0, figures.size() - 1).forEach(page::paragraph);
    List<Map.Entry<String, Trial>> measured =
        trials.entrySet().stream()
            .filter(entry -> entry.getValue().failure() == null)
            .sorted(Comparator.comparingDouble(entry -> -entry.getValue().perSecond()))
            .toList();
    List<Chart.Series> series = new ArrayList<>();
    add(series, "candidates", measured.stream().filter(one -> !isBest(one, measured)).toList());
    add(series, "none answers more within its p99", best(measured));
    add(series, "before", measured.stream().filter(one -> one.getKey().equals(present)).toList());
    if (!chosen.equals(present)) {
      add(series, "now", measured.stream().filter(one -> one.getKey().equals(chosen)).toList());
    }
    page.figure(
        "Throughput over p99",
        Chart.points("throughput over p99", "p99 in ms", "requests/s", series)
            + HtmlPage.legend(series.stream().map(Chart.Series::name).toList()));
    page.table(table(trials, measured));
    return page.toString();
  }

  private static List<Map.Entry<String, Trial>> best(List<Map.Entry<String, Trial>> measured) {
    return measured.stream().filter(one -> isBest(one, measured)).toList();
  }

  private static boolean isBest(
      Map.Entry<String, Trial> one, List<Map.Entry<String, Trial>> measured) {
    return measured.stream()
        .noneMatch(other ->
            other.getValue().perSecond() > one.getValue().perSecond()
                && other.getValue().p99Us() <= one.getValue().p99Us());
  }

  private static void add(
      List<Chart.Series> series, String name, List<Map.Entry<String, Trial>> trials) {
    if (!trials.isEmpty()) {
      series.add(
          new Chart.Series(
              name,
              trials.stream()
                  .map(one ->
                      new Chart.Point(
                          one.getValue().p99Us() / 1e3,
                          one.getValue().perSecond(),
                          one.getKey() + ": " + one.getValue().text()))
                  .toList()));
    }
  }

  private static Table table(Map<String, Trial> trials, List<Map.Entry<String, Trial>> measured) {
    Table table = new Table(List.of("settings", "requests/s", "p99 ms", "MiB"));
    measured.forEach(entry -> {
      Trial trial = entry.getValue();
      table.addStyled(
          List.of(
              new Table.Cell(entry.getKey(), ""),
              number("%.0f", trial.perSecond()),
              number("%.3g", trial.p99Us() / 1e3),
              number("%.0f", trial.memoryBytes() / (double) (1 << 20))));
    });
    trials.forEach((settings, trial) -> {
      if (trial.failure() != null) {
        table.add(List.of(settings, trial.failure()));
      }
    });
    return table;
  }

  private static Table.Cell number(String format, double value) {
    return new Table.Cell(String.format(Locale.ROOT, format, value), "number");
  }
}
