package io.nereid.perf;

/** A measurement is impossible; the message is for the user. */
public final class PerfException extends RuntimeException {
  private static final long serialVersionUID = 1;

  PerfException(String message) {
    super(message);
  }

  PerfException(String message, Throwable cause) {
    super(message, cause);
  }
}
