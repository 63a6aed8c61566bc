package io.nereid.server.log;

import java.util.Optional;
import java.util.stream.Stream;

/** The forms of log lines, by the names that the logging extension has for them. */
public enum LogFormat {
  /** Text. */
  DEFAULT("default"),
  /** Text as well: its times are of ISO 8601 either way. */
  ISO8601("ISO8601"),
  /** A JSON object to a line. */
  JSON("json");

  private final String wireName;

  LogFormat(String wireName) {
    this.wireName = wireName;
  }

  /** The name that clients use. */
  public String wireName() {
    return wireName;
  }

  /** The format of a name; "text" is another one for the default. */
  public static Optional<LogFormat> of(String name) {
    return name.equals("text")
        ? Optional.of(DEFAULT)
        : Stream.of(values()).filter(format -> format.wireName.equals(name)).findFirst();
  }

  @Override
  public String toString() {
    return wireName;
  }
}
