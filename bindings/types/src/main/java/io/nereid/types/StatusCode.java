package io.nereid.types;

/**
 * The kinds of failure that an operation may end with. Their order is that of gRPC's canonical
 * numbers.
 */
public enum StatusCode {
  /** Not an error. */
  OK,
  /** The caller, or the client behind it, gave up. */
  CANCELLED,
  /** A failure that fits no other code. */
  UNKNOWN,
  /** The request is wrong whatever the state of the runtime. */
  INVALID_ARGUMENT,
  /** The caller's own deadline passed. */
  DEADLINE_EXCEEDED,
  /** No such model, version or output. */
  NOT_FOUND,
  /** The thing to be made exists. */
  ALREADY_EXISTS,
  /** The caller may not do this. */
  PERMISSION_DENIED,
  /** A limit was reached: pool memory, sizes. */
  RESOURCE_EXHAUSTED,
  /** Not possible in the present state. */
  FAILED_PRECONDITION,
  /** Given up because of something that happened at the same time. */
  ABORTED,
  /** Beyond the range of what there is. */
  OUT_OF_RANGE,
  /** Not supported. */
  UNIMPLEMENTED,
  /** The fault is the runtime's or a backend's. */
  INTERNAL,
  /** Not ready, queue full, waited too long in the queue, shutting down: trying again may help. */
  UNAVAILABLE,
  /** Data was lost. */
  DATA_LOSS,
  /** It is not known who is calling. */
  UNAUTHENTICATED;

  private static final StatusCode[] BY_NUMBER = values();

  /** The canonical number. */
  public int number() {
    return ordinal();
  }

  /** The code with this number; {@link #UNKNOWN} when there is none. */
  public static StatusCode ofNumber(int number) {
    return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : UNKNOWN;
  }
}
