package io.nereid.server.http;

/** A request that is refused here, with what the client is told. Carries no stack trace. */
final class HttpFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final Status status;

  /** Whether the framing of the connection is in doubt, so that nothing more is read from it. */
  private final boolean closing;

  private HttpFailure(Status status, String message, boolean closing) {
    super(message, null, false, false);
    this.status = status;
    this.closing = closing;
  }

  HttpFailure(Status status, String message) {
    this(status, message, false);
  }

  static HttpFailure badRequest(String message) {
    return new HttpFailure(Status.BAD_REQUEST, message);
  }

  /** A request after which it is not known where the next one would begin. */
  static HttpFailure closing(Status status, String message) {
    return new HttpFailure(status, message, true);
  }

  Status status() {
    return status;
  }

  boolean closing() {
    return closing;
  }
}
