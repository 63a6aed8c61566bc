package io.nereid.server.http;

/** A request that is refused here, with what the client is told. Carries no stack trace. */
final class HttpFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final Status status;

  /** Whether the framing of the connection is in doubt, so that nothing more is read from it. */
  private final boolean closing;

  /** Header fields that the reply needs, each with its line end. */
  private final String fields;

  private HttpFailure(Status status, String message, boolean closing, String fields) {
    super(message, null, false, false);
    this.status = status;
    this.closing = closing;
    this.fields = fields;
  }

  HttpFailure(Status status, String message) {
    this(status, message, false, "");
  }

  /** With one more header field in the reply. */
  static HttpFailure withField(Status status, String message, String name, String value) {
    return new HttpFailure(status, message, false, name + ": " + value + "\r\n");
  }

  static HttpFailure badRequest(String message) {
    return new HttpFailure(Status.BAD_REQUEST, message);
  }

  /** A request after which it is not known where the next one would begin. */
  static HttpFailure closing(Status status, String message) {
    return new HttpFailure(status, message, true, "");
  }

  Status status() {
    return status;
  }

  String fields() {
    return fields;
  }

  boolean closing() {
    return closing;
  }
}
