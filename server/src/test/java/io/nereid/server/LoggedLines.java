package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Collects the log at the default level. Closing it checks that only models were logged. */
public final class LoggedLines extends Handler {

  private static final Logger ROOT = Logger.getLogger("");

  private final List<String> lines = new ArrayList<>();

  public LoggedLines() {
    setLevel(Level.INFO);
    ROOT.addHandler(this);
  }

  @Override
  public synchronized void publish(LogRecord record) {
    if (!"io.nereid.load".equals(record.getLoggerName())) {
      lines.add(record.getLoggerName() + ": " + record.getMessage());
    }
  }

  @Override
  public void flush() {}

  @Override
  public synchronized void close() {
    ROOT.removeHandler(this);
    assertEquals(List.of(), lines);
  }
}
