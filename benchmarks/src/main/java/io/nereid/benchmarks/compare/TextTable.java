package io.nereid.benchmarks.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The comparison for a terminal. */
final class TextTable {

  private static final List<String> HEAD =
      List.of("benchmark", "metric", "base", "ratio", "95 % interval", "verdict", "allocated");

  private TextTable() {}

  static String of(ComparisonRun run) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEAD);
    for (Outcome outcome : run.measured()) {
      String name = outcome.id().toString();
      String allocated =
          Numbers.allocation(
              outcome.allocatedBytes(Pair::base), outcome.allocatedBytes(Pair::candidate));
      for (Map.Entry<Metric, Verdict> entry : outcome.verdicts().entrySet()) {
        Estimate estimate = outcome.estimates().get(entry.getKey());
        rows.add(
            List.of(
                name,
                entry.getKey().label(),
                Numbers.time(outcome.median(Pair::base, entry.getKey())),
                Numbers.ratio(estimate),
                Numbers.interval(estimate),
                Numbers.verdict(entry.getValue(), estimate),
                allocated));
        name = "";
        allocated = "";
      }
    }
    StringBuilder text = new StringBuilder(aligned(rows));
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

  private static String aligned(List<List<String>> rows) {
    int[] widths = new int[HEAD.size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        line.append(Numbers.format("%-" + (widths[i] + 2) + "s", row.get(i)));
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
