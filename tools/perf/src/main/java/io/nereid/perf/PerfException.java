package io.nereid.perf;

/**
 * Says what keeps a measurement from being made; the message is for the person who asked for it.
 */
public final class PerfException extends RuntimeException {
  private static final long serialVersionUID = 1;

  PerfException(String message) {
    super(message);
  }

  PerfException(String message, Throwable cause) {
    super(message, cause);
  }
}
