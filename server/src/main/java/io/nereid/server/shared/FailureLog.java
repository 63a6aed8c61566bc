package io.nereid.server.shared;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Logs failures of an action that is retried after a pause: at most once in ten seconds. Used by
 * one thread at a time.
 */
public final class FailureLog {

  private static final Logger LOGGER = System.getLogger(FailureLog.class.getName());

  private static final long SILENCE_NS = 10_000_000_000L;

  private final String failed;
  private long lastNs = System.nanoTime() - SILENCE_NS;
  private long untold;

  /**
   * For one thing.
   *
   * @param failed how the line begins, such as {@code HTTP could not accept a connection}
   */
  public FailureLog(String failed) {
    this.failed = failed;
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
        failed
            + ", and goes on after a pause: "
            + failure
            + (untold > 1 ? " (" + untold + " times since this was last said)" : ""));
    lastNs = nowNs;
    untold = 0;
  }
}
