package io.nereid.benchmarks.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;

/** A comparison as one page that needs nothing else. */
final class HtmlReport {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'").withZone(ZoneOffset.UTC);

  private static final String STYLE =
      """
      :root { color-scheme: light dark; --back: #fff; --text: #1c2430; --soft: #667082;
        --line: #d9dee7; --band: #eef2f8; --base: #7a8699; --time: #2563b8; --cpu: #b45f06;
        --slow: #c02626; --fast: #1b7f4b; }
      @media (prefers-color-scheme: dark) { :root { --back: #14181f; --text: #e4e8ef;
        --soft: #98a3b5; --line: #2f3744; --band: #1c2430; --base: #8b97ab; --time: #6aa8ff;
        --cpu: #f0a35e; --slow: #ff7b72; --fast: #5fd394; } }
      body { background: var(--back); color: var(--text); margin: 2rem auto; max-width: 62rem;
        padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }
      h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
      h3 { font-size: .95rem; margin-bottom: .2rem; }
      p { color: var(--soft); } .verdict { color: var(--text); font-weight: 600; }
      div.wide { overflow-x: auto; }
      table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .85rem; }
      th, td { padding: .25rem .7rem; text-align: left; border-bottom: 1px solid var(--line); }
      td.number { text-align: right; }
      .SLOWER { color: var(--slow); font-weight: 600; } .NOT_CONFIRMED { color: var(--slow); }
      .FASTER { color: var(--fast); }
      text { fill: var(--text); font-size: 12px; } text.tick { fill: var(--soft); font-size: 11px; }
      line { stroke: var(--line); } line.one { stroke: var(--soft); } rect.band { fill: var(--band); }
      line.time, line.cpu { stroke-width: 2; } line.time, line.whisker { stroke: var(--time); }
      line.cpu { stroke: var(--cpu); } circle.time, circle.candidate { fill: var(--time); }
      circle.cpu { fill: var(--cpu); } circle.base { fill: var(--base); }
      circle.base, circle.candidate { fill-opacity: .65; }
      line.SLOWER { stroke: var(--slow); } circle.SLOWER { fill: var(--slow); }
      line.FASTER { stroke: var(--fast); } circle.FASTER { fill: var(--fast); }
      line.median { stroke: var(--text); stroke-width: 2; }
      line.thread { stroke: var(--time); stroke-opacity: .5; }
      line.whisker { stroke-opacity: .4; }
      """;

  private HtmlReport() {}

  static void write(ComparisonRun run, Map<String, List<History.Point>> history, Path file)
      throws IOException {
    StringBuilder page = new StringBuilder();
    page.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .append("<title>Benchmarks compared</title>\n<style>\n")
        .append(STYLE)
        .append("</style>\n</head>\n<body>\n");
    head(page, run);
    section(page, "Ratios", RatioPlot.of(run.measured(), run.threshold()));
    page.append(
        "<p>Candidate / base with 95 % intervals; right of 1 the candidate costs more. The band is"
            + " the threshold. Time is by the clock, cpu is processor time of all threads but the"
            + " JVM's compilers.</p>\n");
    table(page, run);
    only(page, "Only in " + run.base(), run.onlyBase());
    only(page, "Only in " + run.candidate(), run.onlyCandidate());
    distributions(page, run);
    history(page, run, history);
    page.append("</body>\n</html>\n");
    Files.writeString(file, page);
  }

  private static void head(StringBuilder page, ComparisonRun run) {
    int slower = run.slower().size();
    page.append("<h1>")
        .append(Svg.escape(run.candidate() + " against " + run.base()))
        .append("</h1>\n<p class=\"verdict\">")
        .append(
            slower == 0
                ? "No slowdown above " + Numbers.percent(run.threshold()) + " was found"
                : slower + " of " + run.measured().size() + " benchmarks are slower")
        .append(".</p>\n<p>Suite ")
        .append(Svg.escape(run.suite()))
        .append(", ")
        .append(TIME.format(run.at()))
        .append("; ")
        .append(Svg.escape(run.machine()))
        .append(".</p>\n");
  }

  private static void section(StringBuilder page, String title, String content) {
    page.append("<h2>").append(title).append("</h2>\n<div class=\"wide\">");
    page.append(content).append("</div>\n");
  }

  private static void table(StringBuilder page, ComparisonRun run) {
    StringBuilder rows = new StringBuilder("<table>\n<tr>");
    for (String title :
        List.of(
            "benchmark", "metric", "base", "candidate", "ratio", "95 %", "verdict", "allocated")) {
      rows.append("<th>").append(title).append("</th>");
    }
    rows.append("</tr>\n");
    for (Outcome outcome : run.measured()) {
      outcome.verdicts().forEach((metric, verdict) -> row(rows, outcome, metric, verdict));
    }
    for (Outcome outcome : run.failed()) {
      rows.append("<tr><td>").append(Svg.escape(outcome.id().toString()));
      rows.append("</td><td colspan=\"7\" class=\"SLOWER\">could not be measured: ");
      rows.append(Svg.escape(outcome.failure())).append("</td></tr>\n");
    }
    section(page, "Numbers", rows.append("</table>\n").toString());
  }

  private static void row(StringBuilder rows, Outcome outcome, Metric metric, Verdict verdict) {
    Estimate estimate = outcome.estimates().get(metric);
    rows.append("<tr>");
    cell(rows, "", metric == Metric.TIME ? outcome.id().toString() : "");
    cell(rows, "", metric.label());
    cell(rows, "number", Numbers.time(outcome.median(Pair::base, metric)));
    cell(rows, "number", Numbers.time(outcome.median(Pair::candidate, metric)));
    cell(rows, "number", Numbers.ratio(estimate));
    cell(rows, "number", Numbers.interval(estimate));
    cell(rows, verdict.name(), Numbers.verdict(verdict, estimate));
    cell(
        rows,
        "number",
        metric == Metric.TIME
            ? Numbers.allocation(
                outcome.allocatedBytes(Pair::base), outcome.allocatedBytes(Pair::candidate))
            : "");
    rows.append("</tr>\n");
  }

  private static void cell(StringBuilder rows, String style, String text) {
    rows.append("<td class=\"").append(style).append("\">");
    rows.append(Svg.escape(text)).append("</td>");
  }

  private static void only(StringBuilder page, String title, List<BenchmarkId> ids) {
    if (ids.isEmpty()) {
      return;
    }
    page.append("<h2>").append(Svg.escape(title)).append("</h2>\n<ul>\n");
    for (BenchmarkId id : ids) {
      page.append("<li>").append(Svg.escape(id.toString())).append("</li>\n");
    }
    page.append("</ul>\n");
  }

  private static void distributions(StringBuilder page, ComparisonRun run) {
    page.append("<h2>Forks</h2>\n<p>Each dot is a fresh JVM, relative to the base's median.</p>\n");
    for (Outcome outcome : run.measured()) {
      outcome
          .verdicts()
          .forEach(
              (metric, verdict) -> {
                page.append("<h3>").append(Svg.escape(outcome.id() + ", " + metric.label()));
                page.append("</h3>\n<div class=\"wide\">").append(ForkPlot.of(outcome, metric));
                page.append("</div>\n");
              });
    }
  }

  private static void history(
      StringBuilder page, ComparisonRun run, Map<String, List<History.Point>> history) {
    page.append("<h2>History</h2>\n<p>Ratios of the comparisons that were kept, time only.</p>\n");
    for (Outcome outcome : run.measured()) {
      List<History.Point> points =
          history.getOrDefault(outcome.id().key(), List.of()).stream()
              .filter(point -> point.metric().equals(Metric.TIME.label()))
              .toList();
      if (!points.isEmpty()) {
        String title = outcome.id().toString();
        page.append("<h3>").append(Svg.escape(title)).append("</h3>\n<div class=\"wide\">");
        page.append(HistoryPlot.of(title, points)).append("</div>\n");
      }
    }
  }
}
