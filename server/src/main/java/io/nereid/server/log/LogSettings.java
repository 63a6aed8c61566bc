package io.nereid.server.log;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The log of the process while this is open: everything that goes to {@link System.Logger} or
 * {@link Logger}. What is logged, and how, can be changed all the while.
 */
public final class LogSettings implements AutoCloseable {

  /** Held here: the logging system keeps loggers weakly, and would forget levels with them. */
  private static final Logger ROOT = Logger.getLogger("");

  /** Libraries tell nothing beyond information, whatever the verbose level. */
  private static final Logger NEREID = Logger.getLogger("io.nereid");

  private final Optional<Path> file;
  private final LogHandler handler;
  private final List<Handler> others;
  private final Level rootLevel;
  private final Level nereidLevel;

  private LogSettings(LogValues values, Optional<Path> file) {
    this.file = file;
    LogOutput output = file.map(LogOutput::file).orElseGet(LogOutput::errorStream);
    handler = new LogHandler(output, values);
    others = List.of(ROOT.getHandlers());
    rootLevel = ROOT.getLevel();
    nereidLevel = NEREID.getLevel();
    others.forEach(ROOT::removeHandler);
    ROOT.addHandler(handler);
    ROOT.setLevel(Level.INFO);
    apply(values);
    KeptLogManager.kept = true;
  }

  /**
   * Takes over the log of the process.
   *
   * @param file what lines are appended to; empty for the error stream
   */
  public static LogSettings install(LogValues values, Optional<Path> file) {
    return new LogSettings(values, file);
  }

  /** What is logged now, and in which form. */
  public LogValues values() {
    return handler.values();
  }

  /** Where it is appended to; empty for the error stream. */
  public Optional<Path> file() {
    return file;
  }

  /**
   * Changes settings by the names that the logging extension has for them: all of them, or none if
   * one is wrong.
   *
   * @param settings booleans, strings, and whole numbers as {@link Long}
   * @return what is logged from now on
   */
  public synchronized LogValues change(Map<String, ?> settings) {
    LogValues next = values();
    for (Map.Entry<String, ?> setting : settings.entrySet()) {
      next = next.with(setting.getKey(), setting.getValue());
    }
    apply(next);
    return next;
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

  /** Hands the log back to those who had it. */
  @Override
  public synchronized void close() {
    KeptLogManager.kept = false;
    ROOT.removeHandler(handler);
    others.forEach(ROOT::addHandler);
    ROOT.setLevel(rootLevel);
    NEREID.setLevel(nereidLevel);
    handler.output().close();
  }
}
