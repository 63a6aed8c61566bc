package io.nereid.client;

/** What kind of failure a call ended with: gRPC's canonical codes, over HTTP too. */
public enum StatusCode {
  /** Not an error. */
  OK,
  /** The caller gave up. */
  CANCELLED,
  /** A failure that fits no other code, or of which the server does not say what it is. */
  UNKNOWN,
  /** The request is wrong whatever the state of the server. */
  INVALID_ARGUMENT,
  /** The call took longer than it may. */
  DEADLINE_EXCEEDED,
  /** No such model, version, output or region. */
  NOT_FOUND,
  /** The thing to be made exists. */
  ALREADY_EXISTS,
  /** The caller may not do this. */
  PERMISSION_DENIED,
  /** A limit was reached. */
  RESOURCE_EXHAUSTED,
  /** Not possible in the present state. */
  FAILED_PRECONDITION,
  /** Given up because of something concurrent. */
  ABORTED,
  /** Beyond the range of what there is. */
  OUT_OF_RANGE,
  /** The server does not support it. */
  UNIMPLEMENTED,
  /** The server failed, or answered with something that is not the protocol. */
  INTERNAL,
  /** Not reachable, not ready or overloaded: trying again may help. */
  UNAVAILABLE,
  /** Data was lost. */
  DATA_LOSS,
  /** The server does not know who is calling. */
  UNAUTHENTICATED;

  private static final StatusCode[] BY_NUMBER = values();

  /** The code with gRPC's number. */
  static StatusCode ofNumber(int number) {
    return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : UNKNOWN;
  }

  /** What an HTTP status that is not a success says. */
  static StatusCode ofHttpStatus(int status) {
    return switch (status) {
      case 400, 422 -> INVALID_ARGUMENT;
      case 401 -> UNAUTHENTICATED;
      case 403 -> PERMISSION_DENIED;
      case 404 -> NOT_FOUND;
      case 405, 501 -> UNIMPLEMENTED;
      case 408, 504 -> DEADLINE_EXCEEDED;
      case 409 -> ALREADY_EXISTS;
      case 412 -> FAILED_PRECONDITION;
      case 413, 429, 431 -> RESOURCE_EXHAUSTED;
      case 499 -> CANCELLED;
      case 500 -> INTERNAL;
      case 502, 503 -> UNAVAILABLE;
      default -> UNKNOWN;
    };
  }
}
