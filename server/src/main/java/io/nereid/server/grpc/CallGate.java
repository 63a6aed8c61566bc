package io.nereid.server.grpc;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.nereid.server.shared.ServerHealth;
import java.util.Set;

/** What every call of the inference service passes before it is served. */
final class CallGate implements ServerInterceptor {

  static final String GZIP = "gzip";

  /** What is answered from the first moment to the last. */
  private static final Set<String> ALWAYS_SERVED =
      Set.of("ServerLive", "ServerReady", "ModelReady", "ServerMetadata");

  private final ServerHealth health;
  private final boolean compresses;

  CallGate(ServerHealth health, GrpcCompression compression) {
    this.health = health;
    compresses = compression != GrpcCompression.NONE;
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    if ((health.isStopping() || health.isLoading())
        && !ALWAYS_SERVED.contains(call.getMethodDescriptor().getBareMethodName())) {
      call.close(health.isStopping() ? GrpcStatus.STOPPING : GrpcStatus.STARTING, new Metadata());
      return new ServerCall.Listener<>() {};
    }
    if (compresses) {
      call.setCompression(GZIP); // has no effect for a client that does not take it
    }
    return next.startCall(call, headers);
  }
}
