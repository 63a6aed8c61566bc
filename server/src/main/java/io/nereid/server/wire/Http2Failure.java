package io.nereid.server.wire;

/** What a client of HTTP/2 did wrong, which ends its stream or the whole connection. */
final class Http2Failure extends RuntimeException {

  private static final long serialVersionUID = 1;

  private final Http2Error error;
  private final boolean endsStreamOnly;

  private Http2Failure(Http2Error error, boolean endsStreamOnly, String message) {
    super(message, null, false, false); // a client's mistake: nobody looks for it here
    this.error = error;
    this.endsStreamOnly = endsStreamOnly;
  }

  static Http2Failure ofConnection(Http2Error error, String message) {
    return new Http2Failure(error, false, message);
  }

  static Http2Failure ofStream(Http2Error error, String message) {
    return new Http2Failure(error, true, message);
  }

  Http2Error error() {
    return error;
  }

  /** False: the connection ends. */
  boolean endsStreamOnly() {
    return endsStreamOnly;
  }
}
