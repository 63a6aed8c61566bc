package io.nereid.perf;

import io.nereid.perf.report.Axis;
import io.nereid.perf.report.Chart;
import io.nereid.perf.report.HtmlPage;
import io.nereid.perf.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Writes the measurements as a page for a browser. */
final class LoadPage {

  private static final List<String> PARTS =
      List.of("queue", "compute input", "compute infer", "compute output", "elsewhere");

  /** Longer latencies are shown in milliseconds. */
  private static final double MOST_US = 1000;

  private final PerfReport report;
  private final List<LevelResult> byLoad;
  private final HtmlPage page;
  private final boolean inMs;

  private LoadPage(PerfReport report) {
    this.report = report;
    page = new HtmlPage("Load of " + report.plan().model().name());
    // The last result for each load.
    Map<Double, LevelResult> last = new TreeMap<>();
    report.results().forEach(result -> last.put(result.level().value(), result));
    byLoad = List.copyOf(last.values());
    inMs =
        report.slo() != null || byLoad.stream().anyMatch(result -> result.latencyUs(99) > MOST_US);
  }

  static String of(PerfReport report) {
    return new LoadPage(report).html();
  }

  private String html() {
    page.paragraph(report.subject());
    page.paragraph(
        report.server().name()
            + " "
            + report.server().version()
            + (report.process().here()
                ? " ran on the machine that measured it, with "
                : " ran on " + report.plan().target().host() + ", measured from a machine with ")
            + PerfReport.machine()
            + ", "
            + report.started());
    if (report.failure() != null) {
      page.paragraph("The run ended early: " + report.failure());
    }
    slo();
    if (!byLoad.isEmpty()) {
      charts();
      page.table(table());
      page.list(
          "Notes",
          report.results().stream()
              .flatMap(result ->
                  result.notes().stream().map(note -> result.level().label() + ": " + note))
              .toList());
    }
    return page.toString();
  }

  private void slo() {
    if (report.outcome() == null) {
      return;
    }
    page.verdict(report.outcome().text(report.slo()));
    page.figure(
        "The objective, over load",
        Chart.limited(
            "what was measured of the objective, over load",
            loadName(),
            "milliseconds",
            report.slo().limitUs() / 1e3,
            report.slo().text(),
            report.outcome().probes().stream().map(this::spread).toList()));
    page.paragraph(
        "A point for each load, in the middle of what was measured there; the line through it goes"
            + " from the least to the most.");
  }

  private Chart.Spread spread(SloSearch.Probe probe) {
    SloSearch.Goal goal = report.slo();
    double value = probe.result().level().value();
    double[] measuredMs =
        report.results().stream()
            .filter(result -> result.level().value() == value)
            .mapToDouble(result -> goal.measuredUs(result) / 1e3)
            .sorted()
            .toArray();
    int count = measuredMs.length;
    double middleMs = (measuredMs[(count - 1) / 2] + measuredMs[count / 2]) / 2;
    return new Chart.Spread(
        value,
        measuredMs[0],
        middleMs,
        measuredMs[count - 1],
        String.format(
            Locale.ROOT,
            "%s, %.0f requests/s: %.3g ms, %s",
            probe.result().level().label(),
            probe.result().requestsPerSecond(),
            middleMs,
            probe.meets() ? "meets it" : "misses it"));
  }

  private String loadName() {
    return byLoad.get(0).level().isOpenLoop() ? "requests due a second" : "concurrency";
  }

  /** The page's unit of latency; objectives are mostly in ms. */
  private String unit() {
    return inMs ? "ms" : "us";
  }

  private String latency(double us) {
    return inMs && us < 10_000
        ? String.format(Locale.ROOT, "%.2f", us / 1e3)
        : TextReport.us(inMs ? us / 1e3 : us);
  }

  private void charts() {
    List<Chart.Series> overLoad = new ArrayList<>();
    List<Chart.Series> overThroughput = new ArrayList<>();
    for (double percentile : PerfReport.PERCENTILES) {
      String name = PerfReport.percentileName(percentile);
      overLoad.add(series(name, percentile, false));
      if (percentile == 50 || percentile == 99) {
        overThroughput.add(series(name, percentile, true));
      }
    }
    page.figure(
        "Latency over load",
        Chart.lines(
            "latency percentiles over load", loadName(), "latency in " + unit(), true, overLoad));
    page.figure(
        "Latency over throughput",
        Chart.lines(
            "latency over throughput",
            "requests/s",
            "latency in " + unit(),
            false,
            overThroughput));
    split();
  }

  private Chart.Series series(String name, double percentile, boolean overThroughput) {
    return new Chart.Series(
        name,
        byLoad.stream()
            .map(result ->
                new Chart.Point(
                    overThroughput ? result.requestsPerSecond() : result.level().value(),
                    result.latencyUs(percentile) / (inMs ? 1e3 : 1),
                    String.format(
                        Locale.ROOT,
                        "%s, %.0f requests/s: %s %s %s",
                        result.level().label(),
                        result.requestsPerSecond(),
                        name,
                        latency(result.latencyUs(percentile)),
                        unit())))
            .toList());
  }

  private void split() {
    List<Chart.Bar> bars = new ArrayList<>();
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
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < PARTS.size(); i++) {
          texts.add(PARTS.get(i) + ": " + latency(parts.get(i)) + " " + unit());
          parts.set(i, inMs ? parts.get(i) / 1e3 : parts.get(i));
        }
        bars.add(new Chart.Bar(Axis.label(result.level().value()), parts, texts));
      }
    }
    if (bars.isEmpty()) {
      return;
    }
    page.figure(
        "Where a request spends its time, on average",
        Chart.bars("queue and compute split", unit() + " a request", bars)
            + HtmlPage.legend(PARTS));
  }

  private Table table() {
    List<String> headings = new ArrayList<>(List.of("load", "requests/s"));
    for (double percentile : PerfReport.PERCENTILES) {
      headings.add(PerfReport.percentileName(percentile) + " " + unit());
    }
    headings.addAll(
        List.of(
            "max " + unit(),
            "errors",
            "queue " + unit(),
            "compute " + unit(),
            "server CPU us",
            "generator CPU us"));
    Table table = new Table(headings);
    for (LevelResult result : report.results()) {
      List<Table.Cell> cells = new ArrayList<>();
      for (String text : row(result)) {
        cells.add(new Table.Cell(text, cells.isEmpty() ? "" : "number"));
      }
      table.addStyled(cells);
    }
    return table;
  }

  private List<String> row(LevelResult result) {
    List<String> cells = new ArrayList<>();
    cells.add(result.level().label());
    cells.add(String.format(Locale.ROOT, "%.0f", result.requestsPerSecond()));
    for (double percentile : PerfReport.PERCENTILES) {
      cells.add(latency(result.latencyUs(percentile)));
    }
    cells.add(latency(result.maxLatencyUs()));
    cells.add(Long.toString(result.counts().errorCount()));
    cells.add(result.server().map(one -> latency(one.perRequestUs(one.queueNs()))).orElse("-"));
    cells.add(result.server().map(one -> latency(TextReport.computeUs(one))).orElse("-"));
    cells.add(result.serverCpuUs().map(TextReport::us).orElse("-"));
    cells.add(TextReport.us(result.clientCpuUs()));
    return cells;
  }
}
