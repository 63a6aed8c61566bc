package io.nereid.client;

import io.grpc.Status;
import io.nereid.types.StatusCode;
import java.net.ConnectException;
import java.net.UnknownHostException;

/** Turns the status of a gRPC call into an {@link InferenceException}. */
final class GrpcFailures {

  private GrpcFailures() {}

  /** The exception for a status other than OK; {@code begun}: a part of the reply had come. */
  static InferenceException of(Status status, boolean begun) {
    Throwable cause = status.getCause();
    for (Throwable inner = cause; inner != null; inner = inner.getCause()) {
      if (inner instanceof InferenceException known) {
        return known;
      }
    }
    boolean unavailable = status.getCode() == Status.Code.UNAVAILABLE;
    String description = status.getDescription();
    String message =
        description == null || description.isEmpty()
            ? "the call ended with " + status.getCode()
            : description;
    return InferenceException.builder(
            StatusCode.ofNumber(status.getCode().value()),
            unavailable && cause != null ? message + ": " + cause.getMessage() : message)
        .cause(cause)
        .neverSent(unavailable && !begun && isUnreachable(cause))
        .worthRetrying(unavailable && !begun)
        .build();
  }

  private static boolean isUnreachable(Throwable cause) {
    for (Throwable inner = cause; inner != null; inner = inner.getCause()) {
      if (inner instanceof ConnectException || inner instanceof UnknownHostException) {
        return true;
      }
    }
    return false;
  }
}
