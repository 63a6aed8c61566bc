package io.nereid.benchmarks.counters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Says what counters may be at most, from a file with lines {@code name budget unit}.
 *
 * @param file where they are written, for messages
 * @param budgets by the counter's name
 */
record Budgets(Path file, Map<String, Budget> budgets) {

  /** Below this share of it a budget holds nothing any more. */
  private static final double FAR_BELOW = 0.7;

  record Budget(double most, String unit) {

    /** True if a lower count says that the budget could be lower. */
    boolean isFirm() {
      return !unit.contains("varies");
    }
  }

  /**
   * The verdict on counters that were held to their budgets.
   *
   * @param lines one for each counter, in a table
   * @param failures what is over budget, or has none; empty: all is well
   * @param hints budgets to lower
   */
  record Judgement(List<String> lines, List<String> failures, List<String> hints) {}

  static Budgets read(Path file) throws IOException {
    Map<String, Budget> budgets = new LinkedHashMap<>();
    for (String line : Files.readAllLines(file)) {
      String[] words = line.replaceFirst("#.*", "").strip().split("\\s+", 3);
      if (words[0].isEmpty()) {
        continue;
      }
      try {
        budgets.put(words[0], new Budget(Double.parseDouble(words[1]), words[2]));
      } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
        throw new IOException(
            file + ": expected lines of the form 'name budget unit', got '" + line + "'", e);
      }
    }
    return new Budgets(file, budgets);
  }

  /** Compares what was counted, by name. */
  Judgement judge(Map<String, Double> counted) {
    List<String> lines = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    List<String> hints = new ArrayList<>();
    counted.forEach((name, value) -> {
      Budget budget = budgets.get(name);
      if (budget == null) {
        failures.add(
            format(
                "%s has no budget: it is %s; write a line for it into %s",
                name, text(value), file));
        return;
      }
      lines.add(
          format("%-40s %12s of %9s %s", name, text(value), text(budget.most()), budget.unit()));
      if (value > budget.most()) {
        failures.add(
            format(
                "%s is over its budget: expected at most %s %s, got %s. If the change is worth"
                    + " it, write the new number into %s and say why in the commit message",
                name, text(budget.most()), budget.unit(), text(value), file));
      } else if (budget.isFirm()
          && budget.most() - value >= 1
          && value < budget.most() * FAR_BELOW) {
        hints.add(
            format(
                "%s is far below its budget, at %s of %s %s: lower the budget in %s",
                name, text(value), text(budget.most()), budget.unit(), file));
      }
    });
    return new Judgement(lines, failures, hints);
  }

  /** The budgets for which nothing was counted. */
  List<String> uncounted(Map<String, Double> counted) {
    return budgets.keySet().stream().filter(name -> !counted.containsKey(name)).toList();
  }

  private static String text(double value) {
    return value == Math.rint(value) ? format("%.0f", value) : format("%.2f", value);
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
