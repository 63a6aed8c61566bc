package io.nereid.server.log;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/**
 * Formats log records, on the logging thread, and parts of the access log's lines. Text from
 * clients is escaped, so that it can neither end a line nor control a terminal.
 */
final class LogLine extends Formatter {

  /** The longest message, in characters, so that a few requests cannot fill the disk. */
  private static final int MAX_LENGTH = 16 << 10;

  /** The longest piece of a request that an error message quotes. */
  private static final int MAX_QUOTED_LENGTH = 64;

  private static final DateTimeFormatter SECOND =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.").withZone(ZoneOffset.UTC);

  /** A second as text, kept because most lines have the same second as the line before. */
  private record Second(long epochSecond, String text) {}

  private static volatile Second second = new Second(-1, "");

  private static final String HEX = "0123456789abcdef";

  private volatile LogFormat format;

  LogLine(LogFormat format) {
    this.format = format;
  }

  void format(LogFormat next) {
    format = next;
  }

  @Override
  public String format(LogRecord entry) {
    String logger = entry.getLoggerName() == null ? "" : entry.getLoggerName();
    String message = formatMessage(entry);
    StringBuilder line = new StringBuilder(160 + (message == null ? 0 : message.length()));
    if (format == LogFormat.JSON) {
      json(line, entry.getInstant(), level(entry.getLevel()), logger);
      line.append(",\"thread\":");
      appendQuoted(line, thread());
      line.append(",\"message\":");
      appendQuoted(line, String.valueOf(message));
      if (entry.getThrown() != null) {
        line.append(",\"exception\":");
        appendQuoted(line, stack(entry.getThrown()));
      }
      line.append('}');
    } else {
      plain(line, entry.getInstant(), level(entry.getLevel()));
      line.append('[');
      appendPlain(line, thread()); // a thread's name may contain a model's
      line.append("] ").append(logger).append(": ");
      appendPlain(line, String.valueOf(message));
      if (entry.getThrown() != null) {
        // Lines of the stack are indented, so that none looks like a line of the log.
        for (String part : stack(entry.getThrown()).stripTrailing().split("\\R")) {
          line.append("\n    ");
          appendPlain(line, part.strip());
        }
      }
    }
    return line.append('\n').toString();
  }

  /** Begins a line of text. */
  static void plain(StringBuilder line, Instant time, String level) {
    appendTime(line, time);
    line.append(' ').append(level).append(' ');
  }

  /** Begins a line of JSON. */
  static void json(StringBuilder line, Instant time, String level, String logger) {
    line.append("{\"timestamp\":\"");
    appendTime(line, time);
    line.append("\",\"level\":\"").append(level);
    line.append("\",\"logger\":");
    appendQuoted(line, logger);
  }

  private static String level(Level level) {
    int value = level.intValue();
    if (value >= Level.SEVERE.intValue()) {
      return "ERROR";
    }
    if (value >= Level.WARNING.intValue()) {
      return "WARNING";
    }
    if (value >= Level.CONFIG.intValue()) {
      return "INFO";
    }
    return value >= Level.FINE.intValue() ? "DEBUG" : "TRACE";
  }

  private static String thread() {
    Thread thread = Thread.currentThread();
    return thread.getName().isEmpty() ? "virtual-" + thread.threadId() : thread.getName();
  }

  private static String stack(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  // ---- Pieces of lines -------------------------------------------------------------------------

  /** Appends a time in ISO 8601, UTC, with milliseconds. */
  static void appendTime(StringBuilder line, Instant instant) {
    Second known = second;
    if (known.epochSecond != instant.getEpochSecond()) {
      known = new Second(instant.getEpochSecond(), SECOND.format(instant));
      second = known;
    }
    int ms = instant.getNano() / 1_000_000;
    line.append(known.text);
    line.append((char) ('0' + ms / 100)).append((char) ('0' + ms / 10 % 10));
    line.append((char) ('0' + ms % 10)).append('Z');
  }

  static String shortened(String text) {
    return text.length() <= MAX_QUOTED_LENGTH ? text : text.substring(0, MAX_QUOTED_LENGTH) + "...";
  }

  /** Appends text on one line, with escapes for line breaks and control characters. */
  static void appendPlain(StringBuilder line, String text) {
    append(line, text, false);
  }

  /** Appends text in quotes, as in JSON. */
  static void appendQuoted(StringBuilder line, String text) {
    line.append('"');
    append(line, text, true);
    line.append('"');
  }

  private static void append(StringBuilder line, String text, boolean quoted) {
    int length = Math.min(text.length(), MAX_LENGTH);
    int from = 0; // begin of the characters that need no escape
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      boolean marked = quoted && (c == '"' || c == '\\');
      if (c >= ' ' && c < 0x7f && !marked) {
        continue;
      }
      line.append(text, from, i);
      from = i + 1;
      if (marked) {
        line.append('\\').append(c);
      } else {
        appendSpecial(line, c);
      }
    }
    line.append(text, from, length);
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

  /** True if the character is no control, no mark of text direction, and no line break. */
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
