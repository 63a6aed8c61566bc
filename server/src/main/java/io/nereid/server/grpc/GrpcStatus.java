package io.nereid.server.grpc;

import io.grpc.Status;
import io.nereid.internal.repository.ServerPaths;
import io.nereid.server.shared.CutText;
import io.nereid.server.shared.HeapShare;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;

/** Turns failures into statuses for clients, and logs failures that are the server's own. */
final class GrpcStatus {

  /** The status of calls that come when the server stops. */
  static final Status STOPPING =
      Status.UNAVAILABLE.withDescription(
          "GRPC server is shutting down and has stopped accepting new requests.");

  /** The status of calls that come before the models are loaded. */
  static final Status STARTING =
      Status.UNAVAILABLE.withDescription("GRPC server is starting: its models are being loaded.");

  private static final Logger LOGGER = System.getLogger("io.nereid.grpc");

  /**
   * Most bytes of a description. It travels in the trailers, of which clients take 8 KiB in all,
   * and it may quote the client's own text.
   */
  private static final int DESCRIPTION_BYTES = 4096;

  private GrpcStatus() {}

  /** Returns the status of a failure. A failure that is the server's fault is logged. */
  static Status of(Throwable failure) {
    return switch (failure) {
      // The runtime's codes have gRPC's numbers.
      case NereidException e -> of(e.code(), e.getMessage());
      case HeapShare.Exhausted e -> of(StatusCode.RESOURCE_EXHAUSTED, e.getMessage());
      case OutOfMemoryError e ->
          of(StatusCode.RESOURCE_EXHAUSTED, "not enough heap memory for the request");
      default -> {
        LOGGER.log(Level.ERROR, "a request failed", failure);
        yield of(
            StatusCode.INTERNAL,
            "internal error: " + ServerPaths.hide(failure.toString(), List.of()));
      }
    };
  }

  static Status of(StatusCode code, String message) {
    return Status.fromCodeValue(code.number()).withDescription(description(message));
  }

  static NereidException invalidArgument(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  /** Returns the message, cut to a length that clients accept. */
  static String description(String message) {
    return message == null ? "" : CutText.cut(message, DESCRIPTION_BYTES);
  }
}
