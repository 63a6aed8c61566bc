package io.nereid;

/** What kind of failure an operation ended with. The numbers are gRPC's canonical status codes. */
public enum StatusCode {
  /** Not an error. */
  OK(0),
  /** The caller, or the client behind it, gave up. */
  CANCELLED(1),
  /** A failure that fits no other code. */
  UNKNOWN(2),
  /** The request is wrong whatever the state of the runtime. */
  INVALID_ARGUMENT(3),
  /** The caller's own deadline passed. */
  DEADLINE_EXCEEDED(4),
  /** No such model, version or output. */
  NOT_FOUND(5),
  /** The thing to be made exists. */
  ALREADY_EXISTS(6),
  /** The caller may not do this. */
  PERMISSION_DENIED(7),
  /** A limit was reached: pool memory, sizes. */
  RESOURCE_EXHAUSTED(8),
  /** Not possible in the present state. */
  FAILED_PRECONDITION(9),
  /** Not supported. */
  UNIMPLEMENTED(12),
  /** The fault is the runtime's or a backend's. */
  INTERNAL(13),
  /** Not ready, queue full, waited too long in the queue, shutting down: trying again may help. */
  UNAVAILABLE(14);

  private final int number;

  StatusCode(int number) {
    this.number = number;
  }

  /** The canonical number. */
  public int number() {
    return number;
  }

  /** The code with this number; {@link #UNKNOWN} when there is none. */
  public static StatusCode ofNumber(int number) {
    return switch (number) {
      case 0 -> OK;
      case 1 -> CANCELLED;
      case 3 -> INVALID_ARGUMENT;
      case 4 -> DEADLINE_EXCEEDED;
      case 5 -> NOT_FOUND;
      case 6 -> ALREADY_EXISTS;
      case 7 -> PERMISSION_DENIED;
      case 8 -> RESOURCE_EXHAUSTED;
      case 9 -> FAILED_PRECONDITION;
      case 12 -> UNIMPLEMENTED;
      case 13 -> INTERNAL;
      case 14 -> UNAVAILABLE;
      default -> UNKNOWN;
    };
  }
}
