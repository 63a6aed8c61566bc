package io.nereid.server.trace;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The settings for tracing requests, of one model or of all.
 *
 * @param levels the recorded parts; empty: nothing is traced
 * @param rate one of so many requests is traced; 0: only requests that their clients trace
 * @param count how many traces are still taken; -1: no end
 * @param logFrequency traces in a numbered file; 0: all go into one file
 */
record TraceSettings(Set<TraceLevel> levels, long rate, long count, long logFrequency) {

  // Triton's names of the settings.
  static final String LEVEL = "trace_level";
  static final String RATE = "trace_rate";
  static final String COUNT = "trace_count";
  static final String LOG_FREQUENCY = "log_frequency";
  static final String FILE = "trace_file";
  static final String MODE = "trace_mode";

  private static final long MOST_UNSIGNED = 0xffff_ffffL;

  /** True if anything is traced. */
  boolean isOn() {
    return !levels.isEmpty();
  }

  /** The reason why these settings contradict each other or the limits; null if they do not. */
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

  // ---- Settings as clients give them -----------------------------------------------------------

  /**
   * Changes the settings that a model, or the server, has of its own. A setting without values is
   * removed, so that the fallback applies again.
   *
   * @param own its settings so far, by name; null: none
   */
  static Map<String, Object> apply(Map<String, Object> own, Map<String, List<String>> given) {
    Map<String, Object> updated = new HashMap<>(own == null ? Map.of() : own);
    given.forEach((name, values) -> {
      Object value = parse(name, values);
      if (value == null) {
        updated.remove(name);
      } else {
        updated.put(name, value);
      }
    });
    return Map.copyOf(updated);
  }

  /** Returns these settings, overridden by those that a model or the server has of its own. */
  @SuppressWarnings("unchecked") // parse made the set
  TraceSettings with(Map<String, Object> own) {
    return new TraceSettings(
        (Set<TraceLevel>) own.getOrDefault(LEVEL, levels),
        (Long) own.getOrDefault(RATE, rate),
        (Long) own.getOrDefault(COUNT, count),
        (Long) own.getOrDefault(LOG_FREQUENCY, logFrequency));
  }

  /** The value of a setting: a set of levels or a Long; null when the values are empty. */
  static Object parse(String name, List<String> values) {
    switch (name) {
      case FILE ->
          throw unimplemented("trace file location can not be updated through network protocol");
      case MODE -> throw unimplemented("trace mode can not be updated through network protocol");
      case LEVEL, RATE, COUNT, LOG_FREQUENCY -> {}
      default ->
          throw invalid(
              "expected one of the settings trace_level, trace_rate, trace_count, log_frequency,"
                  + " got '"
                  + name
                  + "'");
    }
    if (values.isEmpty()) {
      return null;
    }
    if (name.equals(LEVEL)) {
      return levels(values);
    }
    if (values.size() != 1) {
      throw invalid("expect only 1 value for '" + name + "'");
    }
    return name.equals(COUNT)
        ? number(name, values.getFirst(), -1, Integer.MAX_VALUE)
        : number(name, values.getFirst(), 0, MOST_UNSIGNED);
  }

  private static Set<TraceLevel> levels(List<String> values) {
    if (values.contains(TraceLevel.OFF)) {
      if (values.size() > 1) {
        throw invalid("Expect only one trace level 'OFF' is specified");
      }
      return Set.of();
    }
    Set<TraceLevel> levels = EnumSet.noneOf(TraceLevel.class);
    for (String value : values) {
      TraceLevel level = TraceLevel.named(value);
      if (level == null) {
        throw invalid(
            "Unable to parse 'trace_level', expected " + TraceLevel.EXPECTED + ", got: " + value);
      }
      levels.add(level);
    }
    return Set.copyOf(levels);
  }

  private static long number(String name, String text, long least, long most) {
    if (!text.matches("[+-]?[0-9]+")) {
      throw invalid("Unable to parse '" + name + "', got: " + text);
    }
    if (text.length() <= 18) {
      long value = Long.parseLong(text);
      if (value >= least && value <= most) {
        return value;
      }
    }
    throw invalid(
        "Unable to parse '%s', value is out of range [ %s, %s ], got: %s"
            .formatted(name, least, most, text));
  }

  static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  private static NereidException unimplemented(String message) {
    return new NereidException(StatusCode.UNIMPLEMENTED, message);
  }
}
