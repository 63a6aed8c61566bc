package io.nereid.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.Function;

/**
 * Finds the highest load that meets a target: doubles it until the target is missed, then halves
 * the gap. A load meets the target when two measurements of it do, or two of three; it misses it
 * when two do, or one by far.
 */
final class SloSearch {

  /** A miss by this factor is believed at once. */
  private static final double CLEAR_MISS = 1.5;

  /** Rates nearer than this to each other are the same. */
  private static final double RATE_RESOLUTION = 0.03;

  private final SloTarget target;
  private final LoadRange range;
  private final DoubleFunction<LoadLevel> levels;
  private final Function<LoadLevel, LevelResult> measure;
  private final List<Probe> probes = new ArrayList<>();

  SloSearch(
      SloTarget target,
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
   * @param measurements how many there were
   * @param meets whether the target was met
   */
  record Probe(LevelResult result, int measurements, boolean meets) {}

  /**
   * What came out.
   *
   * @param best the highest load that meets the target; null: none does
   * @param atEnd whether that is the end of the range, so that more may do as well
   * @param probes all that was tried, in order
   */
  record Outcome(LevelResult best, boolean atEnd, List<Probe> probes) {}

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
    if (!isClearMiss(results.getFirst())) {
      results.add(measure.apply(level));
      if (target.isMetBy(results.getFirst()) != target.isMetBy(results.getLast())) {
        results.add(measure.apply(level));
      }
    }
    boolean meets = target.isMetBy(results.getLast()); // it agrees with one before, if there is one
    Probe probe = new Probe(results.getLast(), results.size(), meets);
    probes.add(probe);
    return probe;
  }

  private boolean isClearMiss(LevelResult result) {
    return !target.isMetBy(result)
        && (result.counts().errorCount() > 0
            || !result.keepsUp()
            || target.measuredUs(result) > CLEAR_MISS * target.limitUs());
  }
}
