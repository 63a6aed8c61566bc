package io.nereid.benchmarks.peers;

import io.nereid.benchmarks.compare.Estimate;
import io.nereid.benchmarks.compare.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import tools.jackson.jr.ob.JSON;

/** A run's results for people and for programs. */
final class Report {

  private final Results results;
  private final List<Comparison> comparisons = new ArrayList<>();
  private final String machine = Machine.describe();

  Report(Results results) {
    this.results = results;
    for (Plan plan : Plan.values()) {
      for (Side peer : plan.peers()) {
        for (Case each : plan.cases()) {
          Comparison comparison = Comparison.of(results, plan, each, peer);
          if (!comparison.other().isEmpty()) {
            comparisons.add(comparison);
          }
        }
      }
    }
  }

  void write() throws IOException {
    Files.writeString(results.directory().resolve("peers.md"), markdown());
    Files.writeString(
        results.directory().resolve("peers.json"),
        JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(json()) + "\n");
  }

  // ---- Markdown --------------------------------------------------------------------------------

  String markdown() {
    StringBuilder text = new StringBuilder();
    Plan plan = null;
    Side peer = null;
    for (Comparison each : comparisons) {
      if (each.plan() != plan || each.peer() != peer) {
        plan = each.plan();
        peer = each.peer();
        head(text, each);
      }
      row(text, each);
    }
    Timing timing = results.timing();
    return text.append(
            format(
                "%n%s; versions %s. Each case was measured for %d ms in each fork, after twice %d ms of processor time.%n",
                machine,
                Versions.describe(),
                timing.measured().toMillis(),
                timing.warmUp().toMillis()))
        .toString();
  }

  private static void head(StringBuilder text, Comparison first) {
    String peer = first.peer().label;
    text.append(
        format(
            "%n%s: Nereid beside %s, %d forks of each%n%n",
            first.plan().title, peer, first.other().size()));
    text.append(
        format(
            "| | in flight | Nereid, requests/s | %s | ratio | Nereid, CPU µs | %s | ratio |%n",
            peer, peer));
    text.append(format("|---|---|---|---|---|---|---|---|%n"));
  }

  private static void row(StringBuilder text, Comparison each) {
    text.append(
        format(
            "| %s, %s | %d | %s | %s | %s | %s | %s | %s |%n",
            each.of().workload().label,
            each.of().mode().label,
            each.of().inFlight(),
            rate(each.nereid()),
            rate(each.other()),
            ratio(each.throughput()),
            cpu(each.nereid()),
            cpu(each.other()),
            ratio(each.cpu())));
  }

  private static String rate(List<ForkCase> forks) {
    double rate = Comparison.median(forks, ForkCase::requestsPerSecond);
    double step = Math.pow(10, Math.max(0, Math.floor(Math.log10(rate)) - 2));
    return format("%,.0f", Math.round(rate / step) * step).replace(',', ' ');
  }

  private static String cpu(List<ForkCase> forks) {
    return digits(Comparison.median(forks, ForkCase::cpuUsPerRequest));
  }

  private static String ratio(Comparison.Ratio ratio) {
    String value = digits(ratio.value());
    return ratio
        .interval()
        .map(known -> format("%s (%s to %s)", value, digits(known.low()), digits(known.high())))
        .orElse(value);
  }

  /** Two or three digits that count. */
  private static String digits(double value) {
    return format(value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  // ---- JSON ------------------------------------------------------------------------------------

  private Map<String, Object> json() {
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("at", results.at().toString());
    root.put("machine", machine);
    root.put("versions", Versions.describe());
    root.put("warm_up_cpu_ms", results.timing().warmUp().toMillis());
    root.put("measured_ms", results.timing().measured().toMillis());
    root.put("comparisons", comparisons.stream().map(Report::json).toList());
    return root;
  }

  private static Map<String, Object> json(Comparison each) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("case", each.of().id());
    entry.put("peer", each.peer().id());
    entry.put("requests_per_second", json(each, each.throughput(), ForkCase::requestsPerSecond));
    entry.put("cpu_us_per_request", json(each, each.cpu(), ForkCase::cpuUsPerRequest));
    return entry;
  }

  private static Map<String, Object> json(
      Comparison each, Comparison.Ratio ratio, ToDoubleFunction<ForkCase> figure) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("ratio", ratio.value());
    for (Estimate known : ratio.interval().stream().toList()) {
      entry.put("low", known.low());
      entry.put("high", known.high());
    }
    entry.put("nereid", each.nereid().stream().mapToDouble(figure).boxed().toList());
    entry.put("other", each.other().stream().mapToDouble(figure).boxed().toList());
    return entry;
  }
}
