package io.nereid.gpu;

/**
 * A line of the report.
 *
 * @param check the check that it belongs to
 * @param what what was looked at
 * @param outcome how it went
 * @param measured what was seen, with numbers and units
 * @param expected what would have been right; empty where a number is only told
 * @param seconds since the check began, or since its last row
 */
record Row(
    String check, String what, Outcome outcome, String measured, String expected, double seconds) {

  enum Outcome {
    PASS,
    FAIL,
    /** It could not be looked at here, and {@code measured} says why. */
    SKIP,
    /** A number without a bar. */
    INFO
  }
}
