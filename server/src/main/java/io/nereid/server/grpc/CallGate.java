package io.nereid.server.grpc;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.EndpointGroup;
import io.nereid.server.access.Refusal;
import io.nereid.server.shared.ServerHealth;
import java.util.HashMap;
import java.util.Map;

/** What every call passes before it is served. */
final class CallGate implements ServerInterceptor {

  static final String GZIP = "gzip";

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
      call.setCompression(GZIP); // has no effect for a client that does not take it
    }
    return next.startCall(call, headers);
  }

  /** Null when the call may be made. */
  private Status refusal(ServerCall<?, ?> call, Metadata headers) {
    boolean open = access.isOpen();
    boolean busy = health.isStopping() || health.isLoading();
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
    // Health is told from the first moment to the last, and what the server is.
    if (!busy || !MethodGroups.needsModels(call.getMethodDescriptor())) {
      return null;
    }
    return health.isStopping() ? GrpcStatus.STOPPING : GrpcStatus.STARTING;
  }

  /** Null when there is none. As over HTTP several are one value, which nobody is let in with. */
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
}
