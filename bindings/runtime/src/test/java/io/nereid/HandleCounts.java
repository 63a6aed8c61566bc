package io.nereid;

import io.nereid.internal.ffi.StatisticsRecord;

/** The numbers of objects that the core counts as alive in this process. */
record HandleCounts(long runtimes, long models, long requests) {

  static HandleCounts read() {
    StatisticsRecord.HandleCounts counts = StatisticsRecord.handleCounts();
    return new HandleCounts(counts.runtimes(), counts.models(), counts.requests());
  }
}
