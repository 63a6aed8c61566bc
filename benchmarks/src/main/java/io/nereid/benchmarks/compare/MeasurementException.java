package io.nereid.benchmarks.compare;

/** Says what could not be measured, and what to do. */
final class MeasurementException extends Exception {

  private static final long serialVersionUID = 1L;

  MeasurementException(String message) {
    super(message);
  }

  MeasurementException(String message, Throwable cause) {
    super(message, cause);
  }
}
