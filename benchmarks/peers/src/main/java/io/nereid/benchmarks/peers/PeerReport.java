package io.nereid.benchmarks.peers;

import io.nereid.benchmarks.peers.Plan.Case;
import io.nereid.benchmarks.peers.Plan.Side;
import io.nereid.perf.compare.Bootstrap;
import io.nereid.perf.report.Table;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Holds what all forks of a run saw, and writes it as tables in Markdown. For one thread. */
final class PeerReport {

  /** The results by the cases' ids, of a side's forks in the order of the rounds. */
  private final Map<Plan, Map<Side, List<Map<String, Load.Result>>>> forks =
      new EnumMap<>(Plan.class);

  /** Takes up a fork, whose answers must be those of the others. */
  void add(Plan plan, Side side, Map<String, Load.Result> seen) {
    Map<Side, List<Map<String, Load.Result>>> bySide =
        forks.computeIfAbsent(plan, key -> new EnumMap<>(Side.class));
    for (Case each : plan.cases) {
      bySide.values().stream()
          .flatMap(List::stream)
          .forEach(other ->
              Question.checkAnswer(
                  each.workload(), other.get(each.id()).answer(), seen.get(each.id()).answer()));
    }
    bySide.computeIfAbsent(side, key -> new ArrayList<>()).add(seen);
  }

  String tables() {
    StringBuilder text = new StringBuilder();
    forks.forEach((plan, bySide) ->
        bySide.forEach((side, runs) -> {
          if (side != Side.NEREID) {
            text.append(
                "%n%s: Nereid beside %s, %d forks of each%n%n"
                    .formatted(plan.title, side.label, runs.size()));
            text.append(table(plan, side, bySide.get(Side.NEREID), runs).markdown());
          }
        }));
    return text.toString();
  }

  private static Table table(
      Plan plan,
      Side peer,
      List<Map<String, Load.Result>> nereid,
      List<Map<String, Load.Result>> other) {
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
    for (Case each : plan.cases) {
      double[] rate = figures(nereid, each, Load.Result::requestsPerSecond);
      double[] otherRate = figures(other, each, Load.Result::requestsPerSecond);
      double[] cpu = figures(nereid, each, Load.Result::cpuUsPerRequest);
      double[] otherCpu = figures(other, each, Load.Result::cpuUsPerRequest);
      table.add(
          List.of(
              each.label(),
              Integer.toString(each.inFlight()),
              number(Bootstrap.median(rate.clone())),
              number(Bootstrap.median(otherRate.clone())),
              ratio(rate, otherRate),
              number(Bootstrap.median(cpu.clone())),
              number(Bootstrap.median(otherCpu.clone())),
              ratio(cpu, otherCpu)));
    }
    return table;
  }

  private static double[] figures(
      List<Map<String, Load.Result>> runs, Case each, ToDoubleFunction<Load.Result> figure) {
    return runs.stream().mapToDouble(run -> figure.applyAsDouble(run.get(each.id()))).toArray();
  }

  /** Nereid's figure by the peer's, with its 95 % interval where the pairs of forks are enough. */
  private static String ratio(double[] nereid, double[] other) {
    double[] logRatios = new double[nereid.length];
    for (int i = 0; i < logRatios.length; i++) {
      logRatios[i] = Math.log(nereid[i] / other[i]);
    }
    if (logRatios.length < Bootstrap.LEAST_PAIRS) {
      return number(Math.exp(Bootstrap.median(logRatios)));
    }
    Bootstrap.Estimate known = Bootstrap.estimate(logRatios, 1, 1);
    return "%s (%s to %s)"
        .formatted(number(known.ratio()), number(known.low()), number(known.high()));
  }

  /** Three digits that count, or two. */
  private static String number(double value) {
    if (value >= 1000) {
      double step = Math.pow(10, Math.floor(Math.log10(value)) - 2);
      return String.format(Locale.ROOT, "%,.0f", Math.round(value / step) * step).replace(',', ' ');
    }
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  }
}
