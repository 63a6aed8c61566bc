package io.nereid.perf;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** A report for a browser: one file, which loads nothing. */
final class HtmlReport {

  private static final List<String> PARTS =
      List.of("queue", "compute input", "compute infer", "compute output", "elsewhere");

  private final PerfReport report;
  private final List<LevelResult> byLoad;
  private final StringBuilder html = new StringBuilder();

  private HtmlReport(PerfReport report) {
    this.report = report;
    byLoad =
        report.results().stream()
            .sorted(Comparator.comparingDouble(result -> result.level().value()))
            .toList();
  }

  static String of(PerfReport report) {
    return new HtmlReport(report).page();
  }

  private String page() {
    String title = "Load of " + report.plan().model().name();
    html.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .append("<meta name=\"viewport\" content=\"width=device-width\">\n<title>")
        .append(SvgChart.escaped(title))
        .append("</title>\n<style>\n")
        .append(style())
        .append("</style>\n</head>\n<body>\n<h1>")
        .append(SvgChart.escaped(title))
        .append("</h1>\n");
    paragraph(report.subject());
    paragraph(
        report.server().name()
            + " "
            + report.server().version()
            + ", measured from a machine with "
            + PerfReport.machine()
            + ", "
            + report.started());
    if (report.failure() != null) {
      paragraph("The run ended early: " + report.failure());
    }
    slo();
    if (!byLoad.isEmpty()) {
      charts();
      table();
      notes();
    }
    return html.append("</body>\n</html>\n").toString();
  }

  private static String style() {
    try (InputStream in = HtmlReport.class.getResourceAsStream("report.css")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("the style is part of the jar", e);
    }
  }

  private void paragraph(String text) {
    html.append("<p>").append(SvgChart.escaped(text)).append("</p>\n");
  }

  private void slo() {
    if (report.outcome() == null) {
      return;
    }
    LevelResult best = report.outcome().best();
    paragraph(
        best == null
            ? report.slo().text() + " is not met, not even by the lowest load"
            : String.format(
                Locale.ROOT,
                "%s is met up to %s: %.0f requests/s",
                report.slo().text(),
                best.level().label(),
                best.requestsPerSecond()));
  }

  private void charts() {
    List<SvgChart.Series> overLoad = new ArrayList<>();
    List<SvgChart.Series> overThroughput = new ArrayList<>();
    for (double percentile : PerfReport.PERCENTILES) {
      String name = PerfReport.percentileName(percentile);
      overLoad.add(series(name, percentile, false));
      if (percentile == 50 || percentile == 99) {
        overThroughput.add(series(name, percentile, true));
      }
    }
    boolean open = byLoad.getFirst().level().isOpenLoop();
    figure(
        "Latency over load",
        SvgChart.lines(
            "latency percentiles over load",
            open ? "requests due a second" : "concurrency",
            "latency in us",
            true,
            overLoad));
    figure(
        "Latency over throughput",
        SvgChart.lines(
            "latency over throughput", "requests/s", "latency in us", false, overThroughput));
    split();
  }

  private SvgChart.Series series(String name, double percentile, boolean overThroughput) {
    return new SvgChart.Series(
        name,
        byLoad.stream()
            .map(result ->
                new SvgChart.Point(
                    overThroughput ? result.requestsPerSecond() : result.level().value(),
                    result.latencyUs(percentile),
                    String.format(
                        Locale.ROOT,
                        "%s, %.0f requests/s: %s %s us",
                        result.level().label(),
                        result.requestsPerSecond(),
                        name,
                        TextReport.us(result.latencyUs(percentile)))))
            .toList());
  }

  private void split() {
    List<SvgChart.Bar> bars = new ArrayList<>();
    for (LevelResult result : byLoad) {
      ServerStatistics server = result.server().orElse(ServerStatistics.ZERO);
      if (server.successCount() > 0) {
        List<Double> parts = new ArrayList<>();
        for (long sumNs :
            new long[] {server.queueNs(), server.inputNs(), server.inferNs(), server.outputNs()}) {
          parts.add(server.perRequestUs(sumNs));
        }
        double inside = parts.stream().mapToDouble(Double::doubleValue).sum();
        parts.add(Math.max(0, result.meanLatencyUs() - inside));
        bars.add(new SvgChart.Bar(SvgAxis.label(result.level().value()), parts));
      }
    }
    if (bars.isEmpty()) {
      return;
    }
    StringBuilder legend = new StringBuilder("<p class=\"legend\">");
    for (int i = 0; i < PARTS.size(); i++) {
      legend.append("<span class=\"key c").append(i).append("\"></span>").append(PARTS.get(i));
    }
    figure(
        "Where a request spends its time, on average",
        SvgChart.bars("queue and compute split", "us a request", PARTS, bars)
            + legend.append("</p>\n"));
  }

  private void figure(String caption, String content) {
    html.append("<figure>\n<figcaption>")
        .append(caption)
        .append("</figcaption>\n")
        .append(content)
        .append("</figure>\n");
  }

  private void table() {
    html.append("<div class=\"wide\"><table>\n<tr>");
    List<String> headings = new ArrayList<>(List.of("load", "requests/s"));
    for (double percentile : PerfReport.PERCENTILES) {
      headings.add(PerfReport.percentileName(percentile) + " us");
    }
    headings.addAll(
        List.of("max us", "errors", "queue us", "compute us", "server CPU us", "generator CPU us"));
    headings.forEach(heading -> html.append("<th>").append(heading).append("</th>"));
    html.append("</tr>\n");
    for (LevelResult result : report.results()) {
      html.append("<tr>");
      row(result)
          .forEach(cell -> html.append("<td>").append(SvgChart.escaped(cell)).append("</td>"));
      html.append("</tr>\n");
    }
    html.append("</table></div>\n");
  }

  private static List<String> row(LevelResult result) {
    List<String> cells = new ArrayList<>();
    cells.add(result.level().label());
    cells.add(String.format(Locale.ROOT, "%.0f", result.requestsPerSecond()));
    for (double percentile : PerfReport.PERCENTILES) {
      cells.add(TextReport.us(result.latencyUs(percentile)));
    }
    cells.add(TextReport.us(result.maxLatencyUs()));
    cells.add(Long.toString(result.counts().errorCount()));
    cells.add(
        result.server().map(one -> TextReport.us(one.perRequestUs(one.queueNs()))).orElse("-"));
    cells.add(result.server().map(one -> TextReport.us(TextReport.computeUs(one))).orElse("-"));
    cells.add(result.serverCpuUs().map(TextReport::us).orElse("-"));
    cells.add(TextReport.us(result.clientCpuUs()));
    return cells;
  }

  private void notes() {
    List<String> notes =
        report.results().stream()
            .flatMap(
                result -> result.notes().stream().map(note -> result.level().label() + ": " + note))
            .toList();
    if (!notes.isEmpty()) {
      html.append("<h2>Notes</h2>\n<ul>\n");
      notes.forEach(note -> html.append("<li>").append(SvgChart.escaped(note)).append("</li>\n"));
      html.append("</ul>\n");
    }
  }
}
