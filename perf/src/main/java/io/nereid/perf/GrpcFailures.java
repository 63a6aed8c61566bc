package io.nereid.perf;

import io.grpc.Status;

/** What the status of a failed call says. */
final class GrpcFailures {

  /** Before a call over a broken connection is made again, which would fail at once. */
  static final long PAUSE_MS = 20;

  private GrpcFailures() {}

  static String text(Status status) {
    String description = status.getDescription() == null ? "" : status.getDescription();
    String cause = status.getCause() == null ? "" : " (" + status.getCause().getMessage() + ")";
    return ErrorText.of(description + cause);
  }

  /** How long to wait before the next call. */
  static long pauseMs(Status status) {
    return status.getCause() == null ? 0 : PAUSE_MS;
  }
}
