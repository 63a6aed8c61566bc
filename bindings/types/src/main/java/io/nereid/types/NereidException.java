package io.nereid.types;

import java.util.Objects;

/**
 * The exception for everything that can go wrong while models load and requests run. {@link #code}
 * says what kind of failure it is. Using something after it was closed is a mistake in the program
 * instead, and throws {@link IllegalStateException}; so are arguments that no state of the runtime
 * would allow, with {@link NullPointerException} and {@link IllegalArgumentException}.
 *
 * <p>When a backend in Java threw something, that is the cause. A subclass is for callers that must
 * tell one failure from others with the same code.
 */
public class NereidException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** The kind of the failure. */
  private final StatusCode code;

  /** A failure with its kind and a message for people. */
  public NereidException(StatusCode code, String message) {
    super(message);
    this.code = Objects.requireNonNull(code, "code");
  }

  /** A failure that another one caused. */
  public NereidException(StatusCode code, String message, Throwable cause) {
    super(cause == null ? message : message + ": " + describe(cause), cause);
    this.code = Objects.requireNonNull(code, "code");
  }

  /** Returns the kind of the failure, which is never {@link StatusCode#OK}. */
  public StatusCode code() {
    return code;
  }

  /** The class, the code, and the message. */
  @Override
  public String toString() {
    return getClass().getName() + ": " + code + ": " + getMessage();
  }

  private static String describe(Throwable cause) {
    String message = cause.getMessage();
    return message == null ? cause.getClass().getName() : message;
  }
}
