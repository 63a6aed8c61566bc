package io.nereid.perf.compare;

/** Says what could not be measured, and what to do. */
public final class MeasurementException extends Exception {

  private static final long serialVersionUID = 1L;

  /** With a message for people. */
  public MeasurementException(String message) {
    super(message);
  }

  /** With what led to it. */
  public MeasurementException(String message, Throwable cause) {
    super(message, cause);
  }
}
