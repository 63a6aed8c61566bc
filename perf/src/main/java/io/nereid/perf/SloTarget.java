package io.nereid.perf;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A latency that is to be met.
 *
 * @param percentile of requests; 0: the mean, 100: the slowest
 * @param limitUs the longest latency that meets it
 * @param text as it was written
 */
record SloTarget(double percentile, double limitUs, String text) {

  private static final Pattern FORM =
      Pattern.compile(
          "\\s*(p[0-9]+(?:\\.[0-9]+)?|avg|max)\\s*<=?\\s*([0-9.]+)\\s*(us|µs|ms|s)\\s*");

  /** From such as {@code p99<=10ms}. */
  static SloTarget of(String text) {
    Matcher matcher = FORM.matcher(text.toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw wrong(text);
    }
    double percentile =
        switch (matcher.group(1)) {
          case "avg" -> 0;
          case "max" -> 100;
          default -> Double.parseDouble(matcher.group(1).substring(1));
        };
    double unitUs =
        switch (matcher.group(3)) {
          case "s" -> 1e6;
          case "ms" -> 1e3;
          default -> 1;
        };
    try {
      double limitUs = Double.parseDouble(matcher.group(2)) * unitUs;
      if (percentile <= 100 && limitUs > 0) {
        return new SloTarget(percentile, limitUs, text.strip());
      }
    } catch (NumberFormatException e) {
      throw wrong(text);
    }
    throw wrong(text);
  }

  private static IllegalArgumentException wrong(String text) {
    return new IllegalArgumentException(
        "expected a target such as p99<=10ms, p99.9<=500us, avg<=1ms or max<=1s, got '"
            + text
            + "'");
  }

  double measuredUs(LevelResult result) {
    return percentile == 0 ? result.meanLatencyUs() : result.latencyUs(percentile);
  }

  /** Errors are no answers, and load that was not sent was not borne. */
  boolean isMetBy(LevelResult result) {
    return result.counts().errorCount() == 0 && result.keepsUp() && measuredUs(result) <= limitUs;
  }
}
