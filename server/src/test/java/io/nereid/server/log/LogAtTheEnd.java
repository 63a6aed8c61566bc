package io.nereid.server.log;

import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.logging.LogManager;

/**
 * A process that logs when the JVM has taken its log away, as it does at once when it is ending.
 */
final class LogAtTheEnd {

  private LogAtTheEnd() {}

  public static void main(String[] args) {
    System.setProperty("java.util.logging.manager", args[0]);
    try (LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.empty())) {
      LogManager.getLogManager().reset();
      System.getLogger("io.nereid").log(Level.ERROR, "still here, " + log.values().format());
    }
  }
}
