package io.nereid.server.log;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.Objects;

/**
 * The settings of the log.
 *
 * @param info whether information is logged
 * @param warning whether warnings are logged
 * @param error whether errors are logged
 * @param verboseLevel further messages: 0 none, 1 those for finding faults, 2 all
 * @param format the form of a line
 */
public record LogValues(
    boolean info, boolean warning, boolean error, int verboseLevel, LogFormat format) {

  /** The default settings. */
  public static final LogValues DEFAULT = new LogValues(true, true, true, 0, LogFormat.DEFAULT);

  /** Checks the values. */
  public LogValues {
    Objects.requireNonNull(format);
    if (verboseLevel < 0) {
      throw new IllegalArgumentException("verboseLevel must not be negative, got " + verboseLevel);
    }
  }

  /** Returns these values with one changed, by its name and type in the logging extension. */
  LogValues with(String name, Object value) {
    return switch (name) {
      case "log_info" -> new LogValues(bool(name, value), warning, error, verboseLevel, format);
      case "log_warning" -> new LogValues(info, bool(name, value), error, verboseLevel, format);
      case "log_error" -> new LogValues(info, warning, bool(name, value), verboseLevel, format);
      case "log_verbose_level" -> new LogValues(info, warning, error, level(name, value), format);
      case "log_format" -> new LogValues(info, warning, error, verboseLevel, format(name, value));
      case "log_file" ->
          throw new NereidException(
              StatusCode.UNIMPLEMENTED,
              "log file location can not be updated through network protocol");
      default ->
          throw invalid(
              "expected a setting among log_info, log_warning, log_error, log_verbose_level and"
                  + " log_format, got '"
                  + LogLine.shortened(name)
                  + "'");
    };
  }

  private static boolean bool(String name, Object value) {
    if (value instanceof Boolean bool) {
      return bool;
    }
    throw invalid("a boolean", name, value);
  }

  private static int level(String name, Object value) {
    if (value instanceof Long level && level >= 0 && level <= Integer.MAX_VALUE) {
      return level.intValue();
    }
    throw invalid("a number from 0 to " + Integer.MAX_VALUE, name, value);
  }

  private static LogFormat format(String name, Object value) {
    if (value instanceof String text) {
      return LogFormat.of(text)
          .orElseThrow(() -> invalid("'default', 'ISO8601' or 'json'", name, value));
    }
    throw invalid("a string", name, value);
  }

  private static NereidException invalid(String expected, String name, Object got) {
    String text = LogLine.shortened(String.valueOf(got));
    return invalid(
        "expected %s as '%s', got %s"
            .formatted(expected, name, got instanceof String ? "'" + text + "'" : text));
  }

  private static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }
}
