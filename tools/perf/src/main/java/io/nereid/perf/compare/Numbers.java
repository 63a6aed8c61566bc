package io.nereid.perf.compare;

import io.nereid.perf.compare.Bootstrap.Estimate;
import io.nereid.perf.compare.Outcome.Verdict;
import java.util.Locale;

/** Formats numbers for people. */
final class Numbers {

  /** An interval that allows a larger change than this is useless. */
  private static final double UNCLEAR = 0.5;

  private Numbers() {}

  static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  /** Formats a time with three significant digits and a unit. */
  static String time(double ns) {
    if (!Double.isFinite(ns)) {
      return "-";
    }
    if (ns < 1000) {
      return format(ns < 100 ? "%.1f ns" : "%.0f ns", ns);
    }
    double us = ns / 1000;
    return us < 10_000
        ? format(us < 10 ? "%.2f us" : us < 100 ? "%.1f us" : "%.0f us", us)
        : format("%.1f ms", us / 1000);
  }

  static String ratio(Estimate estimate) {
    return estimate == null ? "-" : format("%.3f", estimate.ratio());
  }

  static String interval(Estimate estimate) {
    return estimate == null ? "-" : format("%.3f to %.3f", estimate.low(), estimate.high());
  }

  static String percent(double share) {
    double percent = share * 100;
    return format(percent < 10 ? "%.1f %%" : "%.0f %%", percent);
  }

  /** Formats a verdict; "no change" is followed by the largest change within the interval. */
  static String verdict(Verdict verdict, Estimate estimate) {
    if (verdict != Verdict.NO_CHANGE || estimate == null) {
      return verdict.label();
    }
    double largest = estimate.largestChange();
    return largest > UNCLEAR ? "unclear" : verdict.label() + " within " + percent(largest);
  }

  /**
   * Describes the change of an operation's allocation; small differences are measurement errors.
   */
  static String allocation(double base, double candidate) {
    if (!Double.isFinite(base) || !Double.isFinite(candidate)) {
      return "-";
    }
    double change = candidate - base;
    return Math.abs(change) < Math.max(1, base * 0.005)
        ? format("%.0f B", candidate)
        : format("%.0f B (%+.0f)", candidate, change);
  }
}
