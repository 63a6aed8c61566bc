package io.nereid.perf;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the highest load that meets a target: doubles it until the target is missed, then halves
 * the gap. A load meets the target when two measurements of it do, or two of three; it misses it
 * when two do, or one by far.
 */
final class SloSearch {

  /** A miss by this factor needs no second measurement. */
  private static final double CLEAR_MISS = 1.5;

  /** Rates nearer than this to each other are the same. */
  private static final double RATE_RESOLUTION = 0.03;

  private final Goal target;
  private final LoadRange range;
  private final DoubleFunction<LoadLevel> levels;
  private final Function<LoadLevel, LevelResult> measure;
  private final List<Probe> probes = new ArrayList<>();

  SloSearch(
      Goal target,
      LoadRange range,
      DoubleFunction<LoadLevel> levels,
      Function<LoadLevel, LevelResult> measure) {
    this.target = target;
    this.range = range;
    this.levels = levels;
    this.measure = measure;
  }

  /**
   * A load that was tried.
   *
   * @param result the measurement that decided
   * @param measurements the number of measurements
   * @param meets whether the target was met
   */
  record Probe(LevelResult result, int measurements, boolean meets) {}

  /**
   * The result of the search.
   *
   * @param best the highest load that meets the target; null: none does
   * @param atEnd whether that is the end of the range, so that a higher load may meet it too
   * @param probes all that was tried, in order
   */
  record Outcome(LevelResult best, boolean atEnd, List<Probe> probes) {

    /**
     * The highest throughput of all loads that meet the target, since less load may answer more;
     * null: none meets it.
     */
    LevelResult mostThroughput() {
      return probes.stream()
          .filter(Probe::meets)
          .map(Probe::result)
          .max(Comparator.comparingDouble(LevelResult::requestsPerSecond))
          .orElse(null);
    }

    /** The result in words. */
    String text(Goal goal) {
      if (best == null) {
        return goal.text() + " is not met, not even by the lowest load of the range";
      }
      LevelResult most = mostThroughput();
      return String.format(
          Locale.ROOT,
          "%s is met up to %s: %.0f requests/s%s; the best throughput within it is %.0f requests/s,"
              + " at %s",
          goal.text(),
          best.level().label(),
          best.requestsPerSecond(),
          atEnd ? " (the end of the range, more may do as well)" : "",
          most.requestsPerSecond(),
          most.level().label());
    }
  }

  Outcome run() {
    double good = range.first();
    Probe best = probe(good);
    if (!best.meets()) {
      return new Outcome(null, false, probes);
    }
    double bad = 0;
    while (bad == 0 && good < range.last()) {
      double next = Math.min(range.last(), 2 * good);
      Probe probe = probe(next);
      if (probe.meets()) {
        good = next;
        best = probe;
      } else {
        bad = next;
      }
    }
    if (bad == 0) {
      return new Outcome(best.result(), true, probes);
    }
    while (!isNear(good, bad)) {
      double middle = range.whole() ? Math.floor((good + bad) / 2) : (good + bad) / 2;
      Probe probe = probe(middle);
      if (probe.meets()) {
        good = middle;
        best = probe;
      } else {
        bad = middle;
      }
    }
    return new Outcome(best.result(), false, probes);
  }

  private boolean isNear(double good, double bad) {
    return range.whole()
        ? bad - good <= Math.max(1, 0.02 * good)
        : bad <= good * (1 + RATE_RESOLUTION);
  }

  private Probe probe(double value) {
    LoadLevel level = levels.apply(value);
    List<LevelResult> results = new ArrayList<>();
    results.add(measure.apply(level));
    if (!isClearMiss(results.get(0))) {
      results.add(measure.apply(level));
      if (target.isMetBy(results.get(0)) != target.isMetBy(results.get(1))) {
        results.add(measure.apply(level));
      }
    }
    LevelResult last = results.get(results.size() - 1);
    // the last one agrees with an earlier one, if there is one
    boolean meets = target.isMetBy(last);
    Probe probe = new Probe(last, results.size(), meets);
    probes.add(probe);
    return probe;
  }

  private boolean isClearMiss(LevelResult result) {
    return !target.isMetBy(result)
        && (result.counts().errorCount() > 0
            || !result.keepsUp()
            || target.measuredUs(result) > CLEAR_MISS * target.limitUs());
  }

  /**
   * A latency target.
   *
   * @param percentile of requests; 0: the mean, 100: the slowest
   * @param limitUs the longest latency that meets it
   * @param text the target as written
   */
  record Goal(double percentile, double limitUs, String text) {

    private static final Pattern FORM =
        Pattern.compile(
            "\\s*(p[0-9]+(?:\\.[0-9]+)?|avg|max)\\s*<=?\\s*([0-9.]+)\\s*(us|µs|ms|s)\\s*");

    /** Parses a text such as {@code p99<=10ms}. */
    static Goal of(String text) {
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
          return new Goal(percentile, limitUs, text.strip());
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

    /** True if the target is met, all requests were sent, and none failed. */
    boolean isMetBy(LevelResult result) {
      return result.counts().errorCount() == 0 && result.keepsUp() && measuredUs(result) <= limitUs;
    }
  }
}
