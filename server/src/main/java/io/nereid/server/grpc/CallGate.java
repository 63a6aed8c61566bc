package io.nereid.server.grpc;

import static io.nereid.server.access.EndpointGroup.INFERENCE;

import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.EndpointGroup;
import io.nereid.server.access.Refusal;
import io.nereid.server.shared.ServerHealth;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Checks every call on its event loop before it is served: whether the client may make it, whether
 * the server can serve it now, and whether replies are compressed.
 */
final class CallGate implements ServerInterceptor {

  private final ServerHealth health;
  private final AccessControl access;
  private final boolean compresses;

  /** The metadata that decides who may make a call, by its name. */
  private final Map<String, Metadata.Key<String>> keys = new HashMap<>();

  CallGate(ServerHealth health, GrpcOptions options) {
    this.health = health;
    access = options.access();
    compresses = options.compression() != GrpcCompression.NONE;
    for (String name : access.fieldNames()) {
      keys.put(name, Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
    }
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    Status refused = refusal(call, headers);
    if (refused != null) {
      call.close(refused, new Metadata());
      return new ServerCall.Listener<>() {};
    }
    if (compresses) {
      // has no effect for a client that does not accept it
      call.setCompression(GrpcCompression.GZIP);
    }
    return next.startCall(call, headers);
  }

  /** The status of a call that is refused; null if it may be made. */
  private Status refusal(ServerCall<?, ?> call, Metadata headers) {
    byte[] broken = fieldWithLineEnd(headers);
    if (broken != null) {
      return Status.INVALID_ARGUMENT.withDescription(
          "expected metadata without NUL, CR and LF, got such a value of '"
              + new String(broken, StandardCharsets.US_ASCII)
              + "'");
    }
    boolean open = access.isOpen();
    boolean busy = health.isFinishing() || health.isLoading();
    if (open && !busy) {
      return null;
    }
    EndpointGroup group = MethodGroups.of(call.getMethodDescriptor());
    if (!open) {
      Refusal refusal = access.check(group, name -> value(headers, keys.get(name))).orElse(null);
      if (refusal != null) {
        return status(refusal);
      }
    }
    // Health and the server's metadata are always answered, during start and stop too.
    if (!busy || !needsModels(call.getMethodDescriptor())) {
      return null;
    }
    if (!health.isFinishing()) {
      return GrpcStatus.STARTING;
    }
    // Requests of sequences that have started pass: they can be told from others only after
    // reading.
    return group == INFERENCE && !health.isStopping() && !health.isLoading()
        ? null
        : GrpcStatus.STOPPING;
  }

  /**
   * Returns the name of a text field whose value contains a character that ends a line or string,
   * and so would break out of a header field; null if there is none. Netty does not check that.
   */
  private static byte[] fieldWithLineEnd(Metadata headers) {
    byte[][] fields = InternalMetadata.serialize(headers); // names and values in turns, not copied
    for (int i = 0; i < fields.length; i += 2) {
      for (byte character : fields[i + 1]) {
        if ((character == 0 || character == '\n' || character == '\r') && !isBinary(fields[i])) {
          return fields[i];
        }
      }
    }
    return null;
  }

  private static boolean isBinary(byte[] name) {
    return new String(name, StandardCharsets.US_ASCII).endsWith(Metadata.BINARY_HEADER_SUFFIX);
  }

  /**
   * Returns a field's value; several are joined as over HTTP, and match no secret; null: there is
   * none.
   */
  private static String value(Metadata headers, Metadata.Key<String> key) {
    Iterable<String> values = headers.getAll(key);
    return values == null ? null : String.join(",", values);
  }

  private static Status status(Refusal refusal) {
    Status status =
        switch (refusal.kind()) {
          case RESTRICTED -> Status.UNAVAILABLE; // Triton's choice
          case UNAUTHENTICATED -> Status.UNAUTHENTICATED;
          case NOT_GRANTED -> Status.PERMISSION_DENIED;
        };
    return status.withDescription(refusal.message());
  }

  // ---- Groups of methods -----------------------------------------------------------------------

  /** True if the method can only be answered while the models are there. */
  private static boolean needsModels(MethodDescriptor<?, ?> method) {
    return switch (MethodGroups.of(method)) {
      case HEALTH -> false;
      case METADATA -> "ModelMetadata".equals(method.getBareMethodName());
      default -> true;
    };
  }
}
