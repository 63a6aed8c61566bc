package io.nereid.server.http;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;

/** The statuses that this server answers with. */
enum Status {
  OK(200, "OK"),
  NOT_MODIFIED(304, "Not Modified"),
  PERMANENT_REDIRECT(308, "Permanent Redirect"),
  BAD_REQUEST(400, "Bad Request"),
  UNAUTHORIZED(401, "Unauthorized"),
  FORBIDDEN(403, "Forbidden"),
  NOT_FOUND(404, "Not Found"),
  METHOD_NOT_ALLOWED(405, "Method Not Allowed"),
  REQUEST_TIMEOUT(408, "Request Timeout"),
  CONTENT_TOO_LARGE(413, "Content Too Large"),
  EXPECTATION_FAILED(417, "Expectation Failed"),
  HEAD_TOO_LARGE(431, "Request Header Fields Too Large"),
  CLIENT_CLOSED(499, "Client Closed Request"),
  INTERNAL(500, "Internal Server Error"),
  NOT_IMPLEMENTED(501, "Not Implemented"),
  UNAVAILABLE(503, "Service Unavailable"),
  DEADLINE(504, "Gateway Timeout"),
  VERSION_NOT_SUPPORTED(505, "HTTP Version Not Supported");

  private final io.helidon.http.Status http;

  Status(int code, String reason) {
    http =
        code == 200 ? io.helidon.http.Status.OK_200 : io.helidon.http.Status.create(code, reason);
  }

  /** The number. */
  int code() {
    return http.code();
  }

  /** The same status as Helidon's type. */
  io.helidon.http.Status http() {
    return http;
  }

  /** The status for a failure of the runtime. */
  static Status of(NereidException failure) {
    return of(failure.code());
  }

  private static Status of(StatusCode code) {
    return switch (code) {
      case INVALID_ARGUMENT, ALREADY_EXISTS, FAILED_PRECONDITION, OUT_OF_RANGE -> BAD_REQUEST;
      case NOT_FOUND -> NOT_FOUND;
      case PERMISSION_DENIED -> FORBIDDEN;
      // RESOURCE_EXHAUSTED means that the pool is full now, since too large requests are refused
      // earlier.
      case UNAVAILABLE, RESOURCE_EXHAUSTED -> UNAVAILABLE;
      case DEADLINE_EXCEEDED -> DEADLINE;
      case CANCELLED -> CLIENT_CLOSED;
      case UNIMPLEMENTED -> NOT_IMPLEMENTED;
      case UNAUTHENTICATED -> UNAUTHORIZED;
      case OK, UNKNOWN, INTERNAL, ABORTED, DATA_LOSS -> INTERNAL;
    };
  }
}
