package io.nereid.server.shared;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Tells that connections could not be accepted: once in ten seconds, however often it fails. Used
 * by one thread.
 */
public final class FailureLog {

  private static final Logger LOGGER = System.getLogger(FailureLog.class.getName());

  private static final long SILENCE_NS = 10_000_000_000L;

  private final String protocol;
  private long lastNs = System.nanoTime() - SILENCE_NS;
  private long untold;

  /** For the listener of that name. */
  public FailureLog(String protocol) {
    this.protocol = protocol;
  }

  /** One more. */
  public void log(Throwable failure) {
    untold++;
    long nowNs = System.nanoTime();
    if (nowNs - lastNs < SILENCE_NS) {
      return;
    }
    LOGGER.log(
        Level.WARNING,
        protocol
            + " could not accept a connection, and goes on after a pause: "
            + failure
            + (untold > 1 ? " (" + untold + " times since this was last said)" : ""));
    lastNs = nowNs;
    untold = 0;
  }
}
