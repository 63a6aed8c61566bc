package io.nereid.perf;

import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/** Reduces a server's error reply to one printable line. */
final class ErrorText {

  private static final int MOST_CHARS = 400;

  private ErrorText() {}

  /** Returns the text of a body: the protocol's {@code {"error": ...}} or anything else. */
  static String of(String body) {
    try {
      if (JSON.std.mapFrom(body).get("error") instanceof String text) {
        return printable(text);
      }
    } catch (JacksonException e) {
      return printable(body); // an error page of a proxy in between
    }
    return printable(body);
  }

  /** Returns the text in one line, without control characters. */
  static String printable(String text) {
    String line = text.strip().replaceAll("[\\p{Cntrl}\\s]+", " ");
    if (line.isEmpty()) {
      return "without a text";
    }
    return line.length() <= MOST_CHARS ? line : line.substring(0, MOST_CHARS) + "...";
  }
}
