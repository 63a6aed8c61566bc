package io.nereid.perf.compare;

/** A failure to measure, with advice in the message. */
public final class MeasurementException extends Exception {

  private static final long serialVersionUID = 1L;

  /** With a message for people. */
  public MeasurementException(String message) {
    super(message);
  }

  /** With a message for people and a cause. */
  public MeasurementException(String message, Throwable cause) {
    super(message, cause);
  }
}
