package io.nereid.server.log;

import java.util.logging.LogManager;

/**
 * The log manager of a process that serves: it stays as it is while the process ends. The JVM's own
 * takes all handlers away as soon as it is told to stop, when requests are still being finished.
 * The system property {@code java.util.logging.manager} has to name it.
 */
public final class KeptLogManager extends LogManager {

  /** True if there is a {@link LogSettings}. */
  static volatile boolean kept;

  /** For the JVM. */
  public KeptLogManager() {}

  @Override
  public void reset() {
    if (!kept) {
      super.reset();
    }
  }
}
