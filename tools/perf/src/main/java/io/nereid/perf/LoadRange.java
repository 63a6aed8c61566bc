package io.nereid.perf;

import java.util.ArrayList;
import java.util.List;

/**
 * The loads to measure, one after another.
 *
 * @param first the lowest
 * @param last the highest
 * @param step the difference from one to the next
 * @param factor the factor from one to the next, in place of the step; 0: none
 * @param whole whether the values are whole numbers
 */
record LoadRange(double first, double last, double step, double factor, boolean whole) {

  /** Parses {@code 8}, {@code 1:32}, {@code 1:32:4} or {@code 1:32:x2}. */
  static LoadRange of(String text, boolean whole) {
    String[] parts = text.strip().split(":", -1);
    if (parts.length > 3) {
      throw wrong(text);
    }
    double first = number(parts[0], text, whole);
    double last = parts.length > 1 ? number(parts[1], text, whole) : first;
    double step = 1;
    double factor = 0;
    if (parts.length > 2 && parts[2].startsWith("x")) {
      factor = number(parts[2].substring(1), text, false);
    } else if (parts.length > 2) {
      step = number(parts[2], text, whole);
    }
    if (last < first || factor != 0 && factor <= 1 || step <= 0) {
      throw wrong(text);
    }
    return new LoadRange(first, last, step, factor, whole);
  }

  private static double number(String part, String text, boolean whole) {
    try {
      double number = Double.parseDouble(part);
      if (number > 0 && number <= 1e9 && (!whole || number == Math.rint(number))) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw wrong(text);
    }
    throw wrong(text);
  }

  private static IllegalArgumentException wrong(String text) {
    return new IllegalArgumentException(
        "expected a load above 0 such as 8, or a range such as 1:32, 1:32:4 or 1:32:x2, got '"
            + text
            + "'");
  }

  /** All values; whole numbers are rounded up after multiplication. */
  List<Double> values() {
    List<Double> values = new ArrayList<>();
    for (double value = first; value <= last * (1 + 1e-9); ) {
      values.add(value);
      double next = factor == 0 ? value + step : value * factor;
      value = whole ? Math.ceil(next - 1e-9) : next;
    }
    return values;
  }
}
