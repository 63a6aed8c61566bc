package io.nereid.server.console;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.statistics.Histogram;
import io.nereid.statistics.ModelStatistics;

/**
 * The figures of a model in the last intervals, for a page's first lines. The sampling thread adds
 * to it, and any thread may write it.
 */
final class ModelHistory {

  /** Three minutes. */
  static final int LENGTH = 180;

  static final String[] NAMES = {"requests_per_s", "p50_us", "p99_us", "errors_per_s", "pending"};

  @GuardedBy("this")
  private final float[][] values = new float[NAMES.length][LENGTH];

  @GuardedBy("this")
  private int count;

  /** The values of an interval in the order of their names, NaN: none. */
  static double[] values(ModelFigures.Work work) {
    Histogram total = work.recent(ModelStatistics::totalHistogram);
    return new double[] {
      work.perSecond(figures -> figures.success().count()),
      ConsoleJson.percentileUs(total, 50),
      ConsoleJson.percentileUs(total, 99),
      work.perSecond(figures -> figures.fail().count()),
      work.now().pendingCount()
    };
  }

  /** Adds an interval. */
  synchronized void add(ModelFigures.Work work) {
    double[] interval = values(work);
    for (int i = 0; i < NAMES.length; i++) {
      values[i][count % LENGTH] = (float) interval[i];
    }
    count++;
  }

  synchronized ConsoleJson json() {
    return json(Math.min(count, LENGTH));
  }

  /** The history from the first interval with activity on, since most models may be idle. */
  synchronized ConsoleJson busy() {
    int kept = Math.min(count, LENGTH);
    while (kept > 0 && isIdle((count - kept) % LENGTH)) {
      kept--;
    }
    return json(kept);
  }

  @GuardedBy("this")
  private boolean isIdle(int at) {
    for (float[] row : values) {
      if (row[at] > 0) {
        return false;
      }
    }
    return true;
  }

  @GuardedBy("this")
  private ConsoleJson json(int kept) {
    ConsoleJson json = new ConsoleJson();
    double[] row = new double[kept];
    for (int i = 0; i < NAMES.length; i++) {
      for (int at = 0; at < kept; at++) {
        row[at] = values[i][(count - kept + at) % LENGTH];
      }
      json.with(NAMES[i], ConsoleJson.numbers(row));
    }
    return json;
  }
}
