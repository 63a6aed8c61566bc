package io.nereid.perf;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Prints each result for people as it comes: in columns, with notes below. */
final class TextReport {

  private static final String HEADING =
      "%-18s %10s %8s %8s %8s %8s %8s %8s %7s | %8s %8s | %8s %8s %6s%n";

  private final PrintWriter out;
  private final PerfReport plan; // a report without results yet

  TextReport(PrintWriter out, PerfReport plan) {
    this.out = out;
    this.plan = plan;
  }

  void begin() {
    out.println(plan.subject());
    out.printf(
        Locale.ROOT,
        "server: %s %s; measured from here: %s%n",
        plan.server().name(),
        plan.server().version(),
        PerfReport.machine());
    out.println(
        "times in us; queue and compute are the server's own statistics; CPU is user and system"
            + " time of a request");
    if (!plan.process().isKnown()) {
      out.println("CPU of the server is not known: " + plan.process().why());
    } else if (plan.process().isThisProcess()) {
      out.println("the server runs in this process: their CPU is one figure");
    }
    out.println();
    out.printf(
        Locale.ROOT,
        HEADING,
        "load",
        "requests/s",
        "p50",
        "p90",
        "p95",
        "p99",
        "p99.9",
        "max",
        "errors",
        "queue",
        "compute",
        "CPU srv",
        "CPU gen",
        "share");
    out.flush();
  }

  void level(LevelResult result) {
    Optional<ServerStatistics> server =
        result.server().filter(statistics -> statistics.successCount() > 0);
    out.printf(
        Locale.ROOT,
        HEADING,
        result.level().label(),
        String.format(Locale.ROOT, "%.0f", result.requestsPerSecond()),
        us(result.latencyUs(50)),
        us(result.latencyUs(90)),
        us(result.latencyUs(95)),
        us(result.latencyUs(99)),
        us(result.latencyUs(99.9)),
        us(result.maxLatencyUs()),
        result.counts().errorCount(),
        server.map(known -> us(known.perRequestUs(known.queueNs()))).orElse("-"),
        server.map(known -> us(computeUs(known))).orElse("-"),
        result.serverCpuUs().map(TextReport::us).orElse("-"),
        us(result.clientCpuUs()),
        result
            .serverCpuUs()
            .map(us -> String.format(Locale.ROOT, "%.0f %%", share(result.clientCpuUs(), us)))
            .orElse("-"));
    if (plan.plan().sequences()) {
      out.printf(Locale.ROOT, "  %.1f sequences/s%n", result.sequencesPerSecond());
    }
    if (plan.plan().streaming()) {
      out.printf(
          Locale.ROOT,
          "  %.0f responses/s; first response p50 %s p99 %s; between responses p50 %s p99 %s%n",
          result.responsesPerSecond(),
          us(result.counts().firstResponse().getValueAtPercentile(50) / 1e3),
          us(result.counts().firstResponse().getValueAtPercentile(99) / 1e3),
          us(result.counts().betweenResponses().getValueAtPercentile(50) / 1e3),
          us(result.counts().betweenResponses().getValueAtPercentile(99) / 1e3));
    }
    if (result.level().isOpenLoop()) {
      out.printf(
          Locale.ROOT,
          "  sent late by p50 %s p99 %s; backlog %d; up to %d under way at a time%n",
          us(result.counts().sendDelay().getValueAtPercentile(50) / 1e3),
          us(result.counts().sendDelay().getValueAtPercentile(99) / 1e3),
          result.backlog(),
          result.senders());
    }
    result.notes().forEach(note -> out.println("  ! " + note));
    out.flush();
  }

  static double computeUs(ServerStatistics server) {
    return server.perRequestUs(server.inputNs() + server.inferNs() + server.outputNs());
  }

  /** The generator's share of the processor time. */
  private static double share(double clientUs, double serverUs) {
    return clientUs + serverUs == 0 ? 0 : 100 * clientUs / (clientUs + serverUs);
  }

  /** Formats microseconds with the significant digits. */
  static String us(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%.1f" : "%.0f", value);
  }

  void end(PerfReport report) {
    List<LevelResult> results = report.results();
    if (!results.isEmpty()) {
      out.println();
      LevelResult best =
          results.stream()
              .reduce((a, b) -> a.requestsPerSecond() >= b.requestsPerSecond() ? a : b)
              .orElseThrow();
      out.printf(
          Locale.ROOT,
          "most: %.0f requests/s%s at %s; %.2f processors for the generator%s%n",
          best.requestsPerSecond(),
          report.rows() > 1
              ? String.format(Locale.ROOT, " (%.0f rows/s)", best.rowsPerSecond())
              : "",
          best.level().label(),
          best.clientCores(),
          best.serverCores()
              .map(cores -> String.format(Locale.ROOT, ", %.2f for the server", cores))
              .orElse(""));
    }
    if (report.outcome() != null) {
      slo(report.slo(), report.outcome());
    }
    out.flush();
  }

  private void slo(SloSearch.Goal slo, SloSearch.Outcome outcome) {
    out.println();
    out.println("tried for " + slo.text() + ":");
    for (SloSearch.Probe probe : outcome.probes()) {
      out.printf(
          Locale.ROOT,
          "  %-18s %10.0f requests/s  %8.3f ms  %s (%s)%n",
          probe.result().level().label(),
          probe.result().requestsPerSecond(),
          slo.measuredUs(probe.result()) / 1e3,
          probe.meets() ? "meets it" : "misses it",
          probe.measurements() == 1
              ? "once, clearly"
              : "measured " + probe.measurements() + " times");
    }
    out.println(outcome.text(slo));
  }
}
