package io.nereid.server.trace;

import java.util.Set;

/**
 * Which requests are traced, of one model or of all.
 *
 * @param levels what is recorded of them; nothing is traced without any
 * @param rate of how many requests one is traced; 0: those only whose clients trace them
 * @param count how many traces are still taken; -1: no end
 * @param logFrequency traces in a numbered file; 0: all go into one file
 */
record TraceSettings(Set<TraceLevel> levels, long rate, long count, long logFrequency) {

  static final long MOST_UNSIGNED = 0xffff_ffffL;

  /** Whether anything is traced. */
  boolean isOn() {
    return !levels.isEmpty();
  }

  /** Why these settings cannot be; null when they can. */
  String fault(TraceMode mode, String file) {
    if (rate < 0 || rate > MOST_UNSIGNED) {
      return "trace rate must be 0 to " + MOST_UNSIGNED + ", got " + rate;
    }
    if (count < -1 || count > Integer.MAX_VALUE) {
      return "trace count must be -1 to " + Integer.MAX_VALUE + ", got " + count;
    }
    if (logFrequency < 0 || logFrequency > MOST_UNSIGNED) {
      return "log frequency must be 0 to " + MOST_UNSIGNED + ", got " + logFrequency;
    }
    if (levels.contains(TraceLevel.TENSORS) && mode == TraceMode.OPENTELEMETRY) {
      return "trace level TENSORS is not recorded in mode " + mode;
    }
    if (isOn() && mode == TraceMode.TRITON) {
      if (rate == 0) {
        return "sample rate must be non-zero";
      }
      if (file.isEmpty()) {
        return "trace file name is not given";
      }
    }
    return null;
  }
}
