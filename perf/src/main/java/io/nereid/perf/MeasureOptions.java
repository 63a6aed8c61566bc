package io.nereid.perf;

import java.time.Duration;

/**
 * How a level is measured.
 *
 * @param window the length of one window
 * @param mostWindows after so many it is over, stable or not
 * @param tolerance by which fraction the last windows may differ from their mean
 * @param percentile of latency that has to agree; 0: the mean
 * @param warmUp before the first window
 * @param seed of random schedules
 */
record MeasureOptions(
    Duration window,
    int mostWindows,
    double tolerance,
    double percentile,
    Duration warmUp,
    long seed) {

  /** How many windows have to agree. */
  static final int AGREEING = 3;
}
