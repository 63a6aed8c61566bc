package io.nereid.perf.compare;

import io.nereid.perf.compare.Bootstrap.Estimate;
import io.nereid.perf.compare.Outcome.Metric;
import io.nereid.perf.compare.Outcome.Pair;
import io.nereid.perf.compare.Outcome.Verdict;
import io.nereid.perf.report.HtmlPage;
import io.nereid.perf.report.Table;
import io.nereid.perf.report.Table.Cell;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;

/** Writes a comparison for people: for a terminal, and as one self-contained page. */
final class ComparisonReport {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'").withZone(ZoneOffset.UTC);

  private ComparisonReport() {}

  private static Table numbers(ComparisonRun run) {
    Table table =
        new Table(
            List.of(
                "benchmark",
                "metric",
                "base",
                "candidate",
                "ratio",
                "95 % interval",
                "verdict",
                "allocated"));
    for (Outcome outcome : run.measured()) {
      outcome
          .verdicts()
          .forEach((metric, verdict) -> table.addStyled(row(outcome, metric, verdict)));
    }
    return table;
  }

  private static List<Cell> row(Outcome outcome, Metric metric, Verdict verdict) {
    Estimate estimate = outcome.estimates().get(metric);
    boolean first = metric == Metric.TIME;
    return List.of(
        new Cell(first ? outcome.id().toString() : "", ""),
        new Cell(metric.label(), ""),
        number(Numbers.time(outcome.median(Pair::base, metric))),
        number(Numbers.time(outcome.median(Pair::candidate, metric))),
        number(Numbers.ratio(estimate)),
        number(Numbers.interval(estimate)),
        new Cell(Numbers.verdict(verdict, estimate), verdict.name()),
        number(first ? allocated(outcome) : ""));
  }

  private static Cell number(String text) {
    return new Cell(text, "number");
  }

  private static String allocated(Outcome outcome) {
    return Numbers.allocation(
        outcome.allocatedBytes(Pair::base), outcome.allocatedBytes(Pair::candidate));
  }

  // ---- For a terminal --------------------------------------------------------------------------

  static String text(ComparisonRun run) {
    StringBuilder text = new StringBuilder(numbers(run).text());
    list(text, "only in " + run.base(), run.onlyBase());
    list(text, "only in " + run.candidate(), run.onlyCandidate());
    for (Outcome outcome : run.failed()) {
      text.append("could not be measured: ").append(outcome.id()).append('\n');
    }
    return text.toString();
  }

  private static void list(StringBuilder text, String title, List<BenchmarkId> ids) {
    if (!ids.isEmpty()) {
      text.append(title).append(":\n");
      ids.forEach(id -> text.append("  ").append(id).append('\n'));
    }
  }

  // ---- A page ----------------------------------------------------------------------------------

  static String html(ComparisonRun run, Map<String, List<History.Point>> history) {
    HtmlPage page = new HtmlPage(run.candidate() + " against " + run.base());
    int slower = run.slower().size();
    page.verdict(
        slower == 0
            ? "No slowdown above " + Numbers.percent(run.threshold()) + " was found."
            : slower + " of " + run.measured().size() + " are slower.");
    page.paragraph(
        "Compared: " + run.suite() + ", " + TIME.format(run.at()) + "; " + run.machine() + ".");
    page.figure("Ratios", Plots.ratios(run.measured(), run.threshold()));
    page.paragraph(
        "Candidate / base with 95 % intervals; right of 1 the candidate costs more. The band is"
            + " the threshold. Time is by the clock, cpu is processor time of all threads but the"
            + " JVM's compilers.");
    page.heading("Numbers");
    Table numbers = numbers(run);
    for (Outcome outcome : run.failed()) {
      numbers.addStyled(
          List.of(
              new Cell(outcome.id().toString(), ""),
              new Cell("could not be measured: " + outcome.failure(), "SLOWER")));
    }
    page.table(numbers);
    page.list("Only in " + run.base(), texts(run.onlyBase()));
    page.list("Only in " + run.candidate(), texts(run.onlyCandidate()));
    page.heading("Forks");
    page.paragraph("Each dot is a fresh process, relative to the base's median.");
    for (Outcome outcome : run.measured()) {
      for (Metric metric : outcome.verdicts().keySet()) {
        page.figure(outcome.id() + ", " + metric.label(), Plots.forks(outcome, metric));
      }
    }
    page.heading("History");
    page.paragraph("Ratios of the comparisons that were kept, time only.");
    for (Outcome outcome : run.measured()) {
      List<History.Point> points =
          history.getOrDefault(outcome.id().key(), List.of()).stream()
              .filter(point -> point.metric().equals(Metric.TIME.label()))
              .toList();
      if (!points.isEmpty()) {
        String title = outcome.id().toString();
        page.figure(title, Plots.history(title, points));
      }
    }
    return page.toString();
  }

  private static List<String> texts(List<BenchmarkId> ids) {
    return ids.stream().map(BenchmarkId::toString).toList();
  }
}
