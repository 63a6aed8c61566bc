package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.RuntimeCalls;
import io.nereid.internal.ffi.StatisticsLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** What the core counts as alive in this process. */
record HandleCounts(long runtimes, long models, long requests) {

  static HandleCounts read() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment counts = ModelOptionsWriter.sized(arena, StatisticsLayout.HANDLE_COUNTS);
      RuntimeCalls.handleCountsRead(counts.address());
      return new HandleCounts(
          counts.get(JAVA_LONG, StatisticsLayout.HANDLES_RUNTIMES),
          counts.get(JAVA_LONG, StatisticsLayout.HANDLES_MODELS),
          counts.get(JAVA_LONG, StatisticsLayout.HANDLES_REQUESTS));
    }
  }
}
