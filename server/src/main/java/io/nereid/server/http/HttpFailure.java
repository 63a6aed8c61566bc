package io.nereid.server.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderValues;
import io.nereid.server.json.JsonException;
import io.nereid.server.shared.CutText;
import io.nereid.server.shared.HeapShare;
import io.nereid.types.NereidException;

/**
 * The refusal of a request, with status and text for the client. It carries no stack trace:
 * refusing is an everyday event.
 */
final class HttpFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Most bytes of a message, which may quote the client's own text. With all of them escaped it
   * fits the first piece of a reply's buffer, so that it can be told when the heap is used up.
   */
  private static final int MESSAGE_BYTES = 3 << 10;

  private final Status status;

  /** True if the framing of the connection is in doubt, so that nothing more is read from it. */
  private final boolean closing;

  /** A header field that the reply needs; null: none. */
  private final transient Header field;

  private HttpFailure(Status status, String message, boolean closing, Header field) {
    super(CutText.cut(message, MESSAGE_BYTES), null, false, false);
    this.status = status;
    this.closing = closing;
    this.field = field;
  }

  /** Makes a failure with a text for the client. */
  HttpFailure(Status status, String message) {
    this(status, message, false, null);
  }

  /** Makes a failure with one more header field in the reply. */
  static HttpFailure withField(Status status, String message, String name, String value) {
    return new HttpFailure(status, message, false, HeaderValues.create(name, value));
  }

  /** A request that makes no sense. */
  static HttpFailure badRequest(String message) {
    return new HttpFailure(Status.BAD_REQUEST, message);
  }

  /** A request after which the beginning of the next one is unknown. */
  static HttpFailure closing(Status status, String message) {
    return new HttpFailure(status, message, true, null);
  }

  /** The HTTP failure for an exception of the runtime or a library; null: an unexpected one. */
  static HttpFailure of(RuntimeException failure) {
    return switch (failure) {
      case HttpFailure known -> known;
      case NereidException known -> new HttpFailure(Status.of(known), known.getMessage());
      case JsonException known -> badRequest(known.getMessage());
      case HeapShare.Exhausted known ->
          closing(
              known.isPassing() ? Status.UNAVAILABLE : Status.CONTENT_TOO_LARGE,
              known.getMessage());
      default -> null;
    };
  }

  /** The status of the reply. */
  Status status() {
    return status;
  }

  /** A header field that the reply needs; null: none. */
  Header field() {
    return field;
  }

  /** True if the connection ends with the reply. */
  boolean closing() {
    return closing;
  }
}
