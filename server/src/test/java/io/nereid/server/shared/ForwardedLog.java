package io.nereid.server.shared;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** The lines that one class logs, while this is open. */
public final class ForwardedLog extends Handler implements AutoCloseable {

  private final Logger logger;
  private final SimpleFormatter formatter = new SimpleFormatter();
  private final List<String> lines = new CopyOnWriteArrayList<>();

  /** Of the logger that has the name of the class. */
  public ForwardedLog(Class<?> source) {
    logger = Logger.getLogger(source.getName());
    logger.addHandler(this);
  }

  /** What was logged so far, without time and level. */
  public List<String> lines() {
    return lines;
  }

  /** The same without lines of slow reads, which any pause of a thread may cause. */
  public List<String> linesOfReads() {
    return lines.stream().filter(line -> !line.contains("could not be read within")).toList();
  }

  @Override
  public void publish(LogRecord line) {
    lines.add(formatter.formatMessage(line));
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}
