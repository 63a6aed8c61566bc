package io.nereid.benchmarks.peers;

import io.nereid.benchmarks.peers.ForkRunner.Timing;
import io.nereid.benchmarks.peers.Plan.Case;
import io.nereid.perf.compare.Bootstrap;
import io.nereid.perf.compare.Bootstrap.Estimate;
import io.nereid.perf.compare.Machine;
import io.nereid.perf.report.Json;
import io.nereid.perf.report.Table;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** Writes a run's results for people and for programs. */
final class PeerReport {

  private final Results results;
  private final List<Comparison> comparisons = new ArrayList<>();
  private final String machine = Machine.describe();

  PeerReport(Results results) {
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
    Files.writeString(results.directory().resolve("peers.json"), Json.text(json()));
  }

  // ---- Markdown --------------------------------------------------------------------------------

  String markdown() {
    StringBuilder text = new StringBuilder();
    for (Plan plan : Plan.values()) {
      for (Side peer : plan.peers()) {
        List<Comparison> rows =
            comparisons.stream()
                .filter(each -> each.plan() == plan && each.peer() == peer)
                .toList();
        if (!rows.isEmpty()) {
          int forks = rows.getFirst().other().size();
          text.append(
              format(
                  "%n%s: Nereid beside %s, %d forks of each%n%n", plan.title, peer.label, forks));
          text.append(table(peer, rows).markdown());
        }
      }
    }
    Timing timing = results.timing();
    return text.append(
            format(
                "%n%s; versions %s. Each case was measured for %d ms in each fork, after twice %d"
                    + " ms of processor time.%n",
                machine, versions(), timing.measured().toMillis(), timing.warmUp().toMillis()))
        .toString();
  }

  private static Table table(Side peer, List<Comparison> rows) {
    Table table =
        new Table(
            List.of(
                "",
                "in flight",
                "Nereid, requests/s",
                peer.label,
                "ratio",
                "Nereid, CPU µs",
                peer.label,
                "ratio"));
    for (Comparison each : rows) {
      table.add(
          List.of(
              each.of().workload().label + ", " + each.of().mode().label,
              Integer.toString(each.of().inFlight()),
              rate(each.nereid()),
              rate(each.other()),
              ratio(each.throughput()),
              cpu(each.nereid()),
              cpu(each.other()),
              ratio(each.cpu())));
    }
    return table;
  }

  private static String rate(List<Load.Result> forks) {
    double rate = Comparison.median(forks, Load.Result::requestsPerSecond);
    double step = Math.pow(10, Math.max(0, Math.floor(Math.log10(rate)) - 2));
    return format("%,.0f", Math.round(rate / step) * step).replace(',', ' ');
  }

  private static String cpu(List<Load.Result> forks) {
    return digits(Comparison.median(forks, Load.Result::cpuUsPerRequest));
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
    root.put("versions", versions());
    root.put("warm_up_cpu_ms", results.timing().warmUp().toMillis());
    root.put("measured_ms", results.timing().measured().toMillis());
    root.put("comparisons", comparisons.stream().map(PeerReport::json).toList());
    return root;
  }

  private static Map<String, Object> json(Comparison each) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("case", each.of().id());
    entry.put("peer", each.peer().id());
    entry.put("requests_per_second", json(each, each.throughput(), Load.Result::requestsPerSecond));
    entry.put("cpu_us_per_request", json(each, each.cpu(), Load.Result::cpuUsPerRequest));
    return entry;
  }

  private static Map<String, Object> json(
      Comparison each, Comparison.Ratio ratio, ToDoubleFunction<Load.Result> figure) {
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

  /**
   * One case of a plan: Nereid beside a peer.
   *
   * @param nereid its forks, by rounds
   * @param other the peer's, as many
   */
  record Comparison(
      Plan plan, Case of, Side peer, List<Load.Result> nereid, List<Load.Result> other) {

    static Comparison of(Results results, Plan plan, Case each, Side peer) {
      return new Comparison(
          plan, each, peer, results.of(plan, Side.NEREID, each), results.of(plan, peer, each));
    }

    /**
     * Nereid's figure divided by the peer's.
     *
     * @param interval at 95 %; empty where there are too few pairs of forks for one
     */
    record Ratio(double value, Optional<Estimate> interval) {}

    /** Above 1: Nereid answers more. */
    Ratio throughput() {
      return ratio(Load.Result::requestsPerSecond);
    }

    /** Below 1: Nereid needs less. */
    Ratio cpu() {
      return ratio(Load.Result::cpuUsPerRequest);
    }

    private Ratio ratio(ToDoubleFunction<Load.Result> figure) {
      double[] logRatios = new double[nereid.size()];
      for (int i = 0; i < logRatios.length; i++) {
        logRatios[i] =
            Math.log(figure.applyAsDouble(nereid.get(i)) / figure.applyAsDouble(other.get(i)));
      }
      if (logRatios.length < Bootstrap.LEAST_PAIRS) {
        return new Ratio(median(nereid, figure) / median(other, figure), Optional.empty());
      }
      Estimate estimate = Bootstrap.estimate(logRatios, 1, of.id().hashCode());
      return new Ratio(estimate.ratio(), Optional.of(estimate));
    }

    static double median(List<Load.Result> forks, ToDoubleFunction<Load.Result> figure) {
      double[] values = forks.stream().mapToDouble(figure).toArray();
      Arrays.sort(values);
      int middle = values.length / 2;
      return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    }
  }

  /** The versions of what was run, as the build has them. */
  private static String versions() {
    Properties versions = new Properties();
    try (InputStream in = PeerReport.class.getResourceAsStream("versions.properties")) {
      versions.load(in);
    } catch (IOException e) {
      throw new IllegalStateException("the jar lacks versions.properties", e);
    }
    return versions.stringPropertyNames().stream()
        .sorted()
        .map(name -> name + " " + versions.getProperty(name))
        .collect(Collectors.joining(", "));
  }
}
