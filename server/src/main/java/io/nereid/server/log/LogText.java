package io.nereid.server.log;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/**
 * Pieces of log lines. Much of what is logged was sent by clients: nothing of it can end a line, or
 * do something to the terminal that shows it.
 */
final class LogText {

  /** Longest message, in characters: a client must not fill the disk with few requests. */
  private static final int MAX_LENGTH = 16 << 10;

  /** Longest piece of a request that an error message quotes. */
  private static final int MAX_QUOTED_LENGTH = 64;

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private static final String HEX = "0123456789abcdef";

  private LogText() {}

  /** A time as ISO 8601 has it, of UTC, with milliseconds. */
  static String time(Instant instant) {
    return TIME.format(instant);
  }

  static String shortened(String text) {
    return text.length() <= MAX_QUOTED_LENGTH ? text : text.substring(0, MAX_QUOTED_LENGTH) + "...";
  }

  /** Text on one line, with \\n for a line break and such. */
  static void appendPlain(StringBuilder line, String text) {
    append(line, text, false);
  }

  /** Text in quotes, as JSON has it. */
  static void appendQuoted(StringBuilder line, String text) {
    line.append('"');
    append(line, text, true);
    line.append('"');
  }

  private static void append(StringBuilder line, String text, boolean quoted) {
    int length = Math.min(text.length(), MAX_LENGTH);
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (quoted && (c == '"' || c == '\\')) {
        line.append('\\').append(c);
      } else if (c >= ' ' && c < 0x7f) {
        line.append(c);
      } else {
        appendSpecial(line, c);
      }
    }
    if (length < text.length()) {
      line.append("... (").append(text.length() - length).append(" more)");
    }
  }

  private static void appendSpecial(StringBuilder line, char c) {
    switch (c) {
      case '\n' -> line.append("\\n");
      case '\r' -> line.append("\\r");
      case '\t' -> line.append("\\t");
      default -> {
        if (isPrintable(c)) {
          line.append(c);
        } else {
          line.append("\\u")
              .append(HEX.charAt(c >> 12))
              .append(HEX.charAt(c >> 8 & 15))
              .append(HEX.charAt(c >> 4 & 15))
              .append(HEX.charAt(c & 15));
        }
      }
    }
  }

  /** Not so are controls, marks that turn the direction of text around, and further line breaks. */
  private static boolean isPrintable(char c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
