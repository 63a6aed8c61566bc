package io.nereid.server.log;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/** Makes lines of log records, on the thread that logs. */
final class LogLine extends Formatter {

  private volatile LogFormat format;

  LogLine(LogFormat format) {
    this.format = format;
  }

  LogFormat format() {
    return format;
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
      LogText.appendQuoted(line, thread());
      line.append(",\"message\":");
      LogText.appendQuoted(line, String.valueOf(message));
      if (entry.getThrown() != null) {
        line.append(",\"exception\":");
        LogText.appendQuoted(line, stack(entry.getThrown()));
      }
      line.append('}');
    } else {
      plain(line, entry.getInstant(), level(entry.getLevel()));
      line.append('[');
      LogText.appendPlain(line, thread()); // it may have the name of a model
      line.append("] ").append(logger).append(": ");
      LogText.appendPlain(line, String.valueOf(message));
      if (entry.getThrown() != null) {
        // Every line of it is set in: none looks like a line of the log.
        for (String part : stack(entry.getThrown()).stripTrailing().split("\\R")) {
          line.append("\n    ");
          LogText.appendPlain(line, part.strip());
        }
      }
    }
    return line.append('\n').toString();
  }

  /** Begins a line of text. */
  static void plain(StringBuilder line, Instant time, String level) {
    line.append(LogText.time(time)).append(' ').append(level).append(' ');
  }

  /** Begins a line of JSON. */
  static void json(StringBuilder line, Instant time, String level, String logger) {
    line.append("{\"timestamp\":\"").append(LogText.time(time));
    line.append("\",\"level\":\"").append(level);
    line.append("\",\"logger\":");
    LogText.appendQuoted(line, logger);
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
}
