package io.nereid.server.log;

import java.io.IOException;
import java.util.logging.ErrorManager;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/** Writes those records that are wanted. */
final class LogHandler extends Handler {

  private final LogOutput output;
  private final LogLine line;
  private volatile LogValues values;

  LogHandler(LogOutput output, LogValues values) {
    this.output = output;
    this.values = values;
    line = new LogLine(values.format());
    setLevel(Level.ALL);
  }

  LogOutput output() {
    return output;
  }

  LogValues values() {
    return values;
  }

  void values(LogValues next) {
    values = next;
    line.format(next.format());
  }

  @Override
  public boolean isLoggable(LogRecord entry) {
    LogValues now = values;
    int level = entry.getLevel().intValue();
    if (level >= Level.SEVERE.intValue()) {
      return now.error();
    }
    if (level >= Level.WARNING.intValue()) {
      return now.warning();
    }
    if (level >= Level.CONFIG.intValue()) {
      return now.info();
    }
    return now.verboseLevel() >= (level >= Level.FINE.intValue() ? 1 : 2);
  }

  @Override
  public void publish(LogRecord entry) {
    if (!isLoggable(entry)) {
      return;
    }
    try {
      output.write(line.format(entry));
    } catch (IOException | RuntimeException e) {
      // Says so on the error stream, once. Whoever logs has no part in it.
      reportError("a line could not be logged", e, ErrorManager.WRITE_FAILURE);
    }
  }

  @Override
  public void flush() {
    // Nothing is kept back.
  }

  @Override
  public void close() {
    // The output is closed by who opened it: the JVM closes handlers before it is done logging.
  }
}
