package io.nereid.server.trace;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Settings as a client gives them, and what a model or the server has of its own. */
final class TraceUpdate {

  static final String LEVEL = "trace_level";
  static final String RATE = "trace_rate";
  static final String COUNT = "trace_count";
  static final String LOG_FREQUENCY = "log_frequency";
  static final String FILE = "trace_file";
  static final String MODE = "trace_mode";

  private TraceUpdate() {}

  /**
   * The new settings of their own: those there were, with what is given set or, when it has no
   * values, taken away.
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

  /** The settings that hold: one's own, and for the rest those of the fallback. */
  static TraceSettings settings(Map<String, Object> own, TraceSettings fallback) {
    return new TraceSettings(
        levels(own, fallback),
        (Long) own.getOrDefault(RATE, fallback.rate()),
        (Long) own.getOrDefault(COUNT, fallback.count()),
        (Long) own.getOrDefault(LOG_FREQUENCY, fallback.logFrequency()));
  }

  @SuppressWarnings("unchecked") // what parse made
  private static Set<TraceLevel> levels(Map<String, Object> own, TraceSettings fallback) {
    return (Set<TraceLevel>) own.getOrDefault(LEVEL, fallback.levels());
  }

  /** A set of levels, else a Long; null when the values are empty. */
  private static Object parse(String name, List<String> values) {
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
        : number(name, values.getFirst(), 0, TraceSettings.MOST_UNSIGNED);
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
        "Unable to parse '"
            + name
            + "', value is out of range [ "
            + least
            + ", "
            + most
            + " ], got: "
            + text);
  }

  static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  private static NereidException unimplemented(String message) {
    return new NereidException(StatusCode.UNIMPLEMENTED, message);
  }
}
