package io.nereid.server.log;

import java.util.Optional;
import java.util.stream.Stream;

/** The forms of log lines, with their names in the logging extension. */
public enum LogFormat {
  /** Text. */
  DEFAULT("default"),
  /** The same text: its times are always of ISO 8601. */
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

  /** The format of a name; "text" also means the default. */
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
