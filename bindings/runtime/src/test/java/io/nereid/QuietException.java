package io.nereid;

/** A failure that tests bring about; without a stack trace, so that logs stay readable. */
final class QuietException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  QuietException(String message) {
    super(message, null, false, false);
  }
}
