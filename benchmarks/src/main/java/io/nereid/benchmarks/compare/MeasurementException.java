package io.nereid.benchmarks.compare;

/** Something could not be measured; the message says what, and what to do. */
final class MeasurementException extends Exception {

  private static final long serialVersionUID = 1L;

  MeasurementException(String message) {
    super(message);
  }

  MeasurementException(String message, Throwable cause) {
    super(message, cause);
  }
}
