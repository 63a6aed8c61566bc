package io.nereid.server.log;

import java.util.logging.LogManager;

/**
 * A log manager that keeps its handlers while the process ends. The JVM's own removes all handlers
 * as soon as shutdown begins, when requests are still being finished. The system property {@code
 * java.util.logging.manager} has to name it.
 */
public final class KeptLogManager extends LogManager {

  /** True while there is a {@link LogSettings}. */
  static volatile boolean kept;

  /** Called by the JVM. */
  public KeptLogManager() {}

  @Override
  public void reset() {
    if (!kept) {
      super.reset();
    }
  }
}
