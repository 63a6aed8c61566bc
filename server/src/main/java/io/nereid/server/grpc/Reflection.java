package io.nereid.server.grpc;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.InternalServer;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.services.ProtoReflectionService;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Tells clients which services there are. gRPC's own reflection asks a server of its own kind,
 * which it finds in the context of a call: this is one that knows its services, and nothing else.
 */
final class Reflection extends Server implements ServerInterceptor {

  private final List<ServerServiceDefinition> all;

  /** For services, beside which there is reflection under both of its names. */
  Reflection(List<ServerServiceDefinition> services) {
    all = new ArrayList<>(services);
    all.add(
        ServerInterceptors.intercept(ProtoReflectionServiceV1.newInstance().bindService(), this));
    all.add(ServerInterceptors.intercept(underOldName(), this));
  }

  /** The name that it had before it was finished, which many tools still use. */
  @SuppressWarnings("deprecation") // so it is marked, in favour of the new name
  private static ServerServiceDefinition underOldName() {
    return ProtoReflectionService.newInstance().bindService();
  }

  /** The services, and reflection. */
  List<ServerServiceDefinition> withServices() {
    return all;
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    Context context = Context.current().withValue(InternalServer.SERVER_CONTEXT_KEY, this);
    return Contexts.interceptCall(context, call, headers, next);
  }

  // ---- As gRPC's server ------------------------------------------------------------------------

  @Override
  public List<ServerServiceDefinition> getServices() {
    return all;
  }

  @Override
  public List<ServerServiceDefinition> getImmutableServices() {
    return all;
  }

  @Override
  public List<ServerServiceDefinition> getMutableServices() {
    return List.of();
  }

  @Override
  public Server start() {
    return this;
  }

  @Override
  public Server shutdown() {
    return this;
  }

  @Override
  public Server shutdownNow() {
    return this;
  }

  @Override
  public boolean isShutdown() {
    return false;
  }

  @Override
  public boolean isTerminated() {
    return false;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return false;
  }

  @Override
  public void awaitTermination() {
    throw new UnsupportedOperationException("it is not run");
  }
}
