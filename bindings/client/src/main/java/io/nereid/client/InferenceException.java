package io.nereid.client;

import io.nereid.types.StatusCode;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The one exception for a call that failed, whether the server refused it, could not be reached or
 * took too long; {@link #code} is the kind. Mistakes in the program, such as the use of something
 * that was closed, throw {@link IllegalStateException} or {@link IllegalArgumentException} instead.
 */
public final class InferenceException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** The kind of the failure. */
  private final StatusCode code;

  /** The status of the reply; 0: there was none. */
  private final int httpStatus;

  /** The id of the stream's request that failed; null: the whole call failed. */
  private final String requestId;

  /** True if the server certainly saw nothing of the request. */
  private final boolean neverSent;

  /** True if no part of a reply came, or a reply that asks to try again. */
  private final boolean worthRetrying;

  /** The time that the server asks to wait before the next attempt; 0: not given. */
  private final long retryAfterNs;

  private InferenceException(Builder builder) {
    super(builder.message, builder.cause);
    code = Objects.requireNonNull(builder.code);
    httpStatus = builder.httpStatus;
    requestId = builder.requestId;
    neverSent = builder.neverSent;
    worthRetrying = builder.worthRetrying;
    retryAfterNs = builder.retryAfterNs;
  }

  InferenceException(StatusCode code, String message) {
    this(builder(code, message));
  }

  InferenceException(StatusCode code, String message, Throwable cause) {
    this(builder(code, message).cause(cause));
  }

  /** The exception for a reply that violates the protocol. */
  static InferenceException malformed(String message) {
    return new InferenceException(
        StatusCode.INTERNAL, "the server's reply is malformed: " + message);
  }

  /** The exception for a reply that violates the protocol. */
  static InferenceException malformed(String message, Throwable cause) {
    return new InferenceException(
        StatusCode.INTERNAL, "the server's reply is malformed: " + message, cause);
  }

  /** Returns the kind of the failure, which is never {@link StatusCode#OK}. */
  public StatusCode code() {
    return code;
  }

  /** The HTTP status, when there was an HTTP reply. */
  public OptionalInt httpStatus() {
    return httpStatus == 0 ? OptionalInt.empty() : OptionalInt.of(httpStatus);
  }

  /** The id of the request, when it is one request of an {@link InferStream} that failed. */
  public Optional<String> requestId() {
    return Optional.ofNullable(requestId);
  }

  boolean neverSent() {
    return neverSent;
  }

  long retryAfterNs() {
    return retryAfterNs;
  }

  /** True if another attempt, where that is harmless, may succeed. */
  boolean worthRetrying() {
    return worthRetrying;
  }

  /** Returns the same failure with the stack of the calling thread. */
  InferenceException rethrown() {
    Builder builder = builder(code, getMessage()).cause(this).httpStatus(httpStatus);
    builder.requestId = requestId;
    return builder.build();
  }

  static Builder builder(StatusCode code, String message) {
    return new Builder(code, message);
  }

  /** Builds an {@link InferenceException}. */
  static final class Builder {
    private final StatusCode code;
    private final String message;
    private Throwable cause;
    private int httpStatus;
    private String requestId;
    private boolean neverSent;
    private boolean worthRetrying;
    private long retryAfterNs;

    private Builder(StatusCode code, String message) {
      this.code = code;
      this.message = message;
    }

    Builder cause(Throwable throwable) {
      cause = throwable;
      return this;
    }

    Builder httpStatus(int status) {
      httpStatus = status;
      return this;
    }

    Builder requestId(String id) {
      requestId = id;
      return this;
    }

    Builder neverSent(boolean unsent) {
      neverSent = unsent;
      return this;
    }

    Builder worthRetrying(boolean worth) {
      worthRetrying = worth;
      return this;
    }

    Builder retryAfterNs(long delayNs) {
      retryAfterNs = delayNs;
      return this;
    }

    InferenceException build() {
      return new InferenceException(this);
    }
  }
}
