package io.nereid.server.log;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.ErrorManager;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * The log of the process while this is open: everything that goes to {@link System.Logger} or
 * {@link Logger}. Any thread may change its settings at any time.
 */
public final class LogSettings implements AutoCloseable {

  /**
   * Kept in a field, because the logging system may collect an unused logger and forget its level.
   */
  private static final Logger ROOT = Logger.getLogger("");

  /** Only Nereid's loggers follow the verbose level; libraries log at most information. */
  private static final Logger NEREID = Logger.getLogger("io.nereid");

  /** The web server's logger, kept quiet because the server logs the same in fewer lines. */
  private static final Logger HELIDON = Logger.getLogger("io.helidon");

  private final Optional<Path> file;
  private final Writer handler;
  private final List<Handler> others;
  private final Level rootLevel;
  private final Level nereidLevel;

  private LogSettings(LogValues values, Optional<Path> file) {
    this.file = file;
    LogOutput output = file.map(LogOutput::file).orElseGet(LogOutput::errorStream);
    handler = new Writer(output, values);
    others = List.of(ROOT.getHandlers());
    rootLevel = ROOT.getLevel();
    nereidLevel = NEREID.getLevel();
    others.forEach(ROOT::removeHandler);
    ROOT.addHandler(handler);
    ROOT.setLevel(Level.INFO);
    HELIDON.setLevel(Level.WARNING);
    apply(values);
    KeptLogManager.kept = true;
  }

  /**
   * Takes over the log of the process.
   *
   * @param file the file to append to; empty: the error stream
   */
  public static LogSettings install(LogValues values, Optional<Path> file) {
    return new LogSettings(values, file);
  }

  /** The present settings. */
  public LogValues values() {
    return handler.values();
  }

  /** The file that lines are appended to; empty for the error stream. */
  public Optional<Path> file() {
    return file;
  }

  /**
   * Changes settings by the names that the logging extension has for them: all of them, or none if
   * one is wrong.
   *
   * @param settings booleans, strings, and whole numbers as {@link Long}
   * @return the settings from now on
   */
  public synchronized LogValues change(Map<String, ?> settings) {
    LogValues next = values();
    for (Map.Entry<String, ?> setting : settings.entrySet()) {
      next = next.with(setting.getKey(), setting.getValue());
    }
    apply(next);
    return next;
  }

  /** Throws if no setting has this name, or it cannot have this value. */
  public static void check(String name, Object value) {
    LogValues.DEFAULT.with(name, value);
  }

  private void apply(LogValues values) {
    handler.values(values);
    NEREID.setLevel(
        switch (values.verboseLevel()) {
          case 0 -> Level.INFO;
          case 1 -> Level.FINE;
          default -> Level.ALL;
        });
  }

  LogOutput output() {
    return handler.output();
  }

  /** Restores the log's former handlers and levels. */
  @Override
  public synchronized void close() {
    KeptLogManager.kept = false;
    ROOT.removeHandler(handler);
    others.forEach(ROOT::addHandler);
    ROOT.setLevel(rootLevel);
    NEREID.setLevel(nereidLevel);
    handler.output().close();
  }

  /** Writes the records that the settings ask for, on the thread that logs. */
  private static final class Writer extends Handler {

    private final LogOutput output;
    private final LogLine line;
    private volatile LogValues values;

    Writer(LogOutput output, LogValues values) {
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
        // The error stream gets a message once; the logging code does not get the exception.
        reportError("a line could not be logged", e, ErrorManager.WRITE_FAILURE);
      }
    }

    @Override
    public void flush() {
      // Nothing is buffered.
    }

    @Override
    public void close() {
      // The opener closes the output, because the JVM closes handlers while it still logs.
    }
  }
}
