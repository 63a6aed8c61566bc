package io.nereid.perf.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Maps values to places along one axis.
 *
 * @param least value at the beginning
 * @param most value at the end
 * @param log whether equal factors are equally far apart
 * @param from place of the beginning
 * @param to place of the end
 */
public record Axis(double least, double most, boolean log, double from, double to) {

  /** An axis from 0 to a round number above the largest value. */
  public static Axis linear(double most, double from, double to) {
    double step = step(Math.max(most, 1e-9));
    return new Axis(0, Math.ceil(most / step - 1e-9) * step, false, from, to);
  }

  /** An axis over whole decades, for positive values. */
  public static Axis logarithmic(double least, double most, double from, double to) {
    double low = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1e-9))));
    double high = Math.pow(10, Math.ceil(Math.log10(Math.max(most, 1e-9)) - 1e-9));
    return new Axis(low, Math.max(high, 10 * low), true, from, to);
  }

  double place(double value) {
    double part =
        log
            ? Math.log(Math.max(value, least) / least) / Math.log(most / least)
            : (value - least) / (most - least);
    return from + part * (to - from);
  }

  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    if (log) {
      for (double tick = least; tick <= most * 1.000001; tick *= 10) {
        ticks.add(tick);
      }
      return ticks;
    }
    double step = step(most);
    for (int i = 0; i * step <= most * 1.000001; i++) {
      ticks.add(i * step);
    }
    return ticks;
  }

  /** The distance of ticks: 1, 2 or 5 times a power of ten, for about five of them. */
  private static double step(double most) {
    double power = Math.pow(10, Math.floor(Math.log10(most / 5)));
    for (double factor : new double[] {1, 2, 5}) {
      if (most / (factor * power) <= 6) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  /** Formats a number as short as possible. */
  public static String label(double value) {
    if (value >= 1e6) {
      return trimmed(value / 1e6) + "M";
    }
    return value >= 1e4 ? trimmed(value / 1e3) + "k" : trimmed(value);
  }

  private static String trimmed(double value) {
    String text = String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.1f", value);
    return text.replaceAll("\\.?0+$", "");
  }
}
