package io.nereid.server.wire;

/**
 * A request that is refused, with what the client is told. It carries no stack trace: refusing is
 * an everyday event.
 */
public final class HttpFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final Status status;

  /** Whether the framing of the connection is in doubt, so that nothing more is read from it. */
  private final boolean closing;

  /** A header field that the reply needs; null: none. */
  private final transient ReplyField field;

  private HttpFailure(Status status, String message, boolean closing, ReplyField field) {
    super(message, null, false, false);
    this.status = status;
    this.closing = closing;
    this.field = field;
  }

  /** With what the client is told. */
  public HttpFailure(Status status, String message) {
    this(status, message, false, null);
  }

  /** With one more header field in the reply. */
  public static HttpFailure withField(Status status, String message, String name, String value) {
    return new HttpFailure(status, message, false, ReplyField.of(name, value));
  }

  /** A request that makes no sense. */
  public static HttpFailure badRequest(String message) {
    return new HttpFailure(Status.BAD_REQUEST, message);
  }

  /** A request after which it is not known where the next one would begin. */
  public static HttpFailure closing(Status status, String message) {
    return new HttpFailure(status, message, true, null);
  }

  /** What the reply says. */
  public Status status() {
    return status;
  }

  /** A header field that the reply needs; null: none. */
  public ReplyField field() {
    return field;
  }

  /** Whether the connection ends with the reply. */
  public boolean closing() {
    return closing;
  }
}
