package io.nereid.server.grpc;

import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.shared.ServerState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A server on a port of its own, and a client's connection to it. */
public final class GrpcFixture implements AutoCloseable {

  static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Nereid nereid;
  private final ServerState state;
  private final GrpcServer server;
  private final ManagedChannel channel;

  GrpcFixture(RepositoryOptions repository) {
    this(repository, GrpcOptions.DEFAULT);
  }

  GrpcFixture(RepositoryOptions repository, GrpcOptions options) {
    this(
        Nereid.open(
            repository, NereidOptions.builder().drainTimeout(Duration.ofSeconds(10)).build()),
        options);
  }

  private GrpcFixture(Nereid nereid, GrpcOptions options) {
    this(nereid, ServerState.builder(nereid).build(), options);
  }

  /** Takes over the runtime. */
  GrpcFixture(Nereid nereid, ServerState state, GrpcOptions options) {
    this(nereid, state, options, List.of());
  }

  /** Serves more services, too. */
  GrpcFixture(
      Nereid nereid, ServerState state, GrpcOptions options, List<ServerServiceDefinition> others) {
    this.nereid = nereid;
    this.state = state;
    server = GrpcServer.start(state, options, others);
    channel = channel(server.port());
  }

  static GrpcLimits limits(int messageBytes, int metadataBytes, int connectionCount) {
    GrpcLimits usual = GrpcLimits.DEFAULT;
    return new GrpcLimits(
        messageBytes,
        usual.unfinishedBytes(),
        usual.requestTime(),
        metadataBytes,
        100,
        connectionCount);
  }

  /** Connects to a server on this machine. */
  public static ManagedChannel channel(int port) {
    return NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
  }

  Nereid nereid() {
    return nereid;
  }

  ServerState state() {
    return state;
  }

  GrpcServer server() {
    return server;
  }

  ManagedChannel channel() {
    return channel;
  }

  /** A method of the inference service. */
  static <Q extends Message, R extends Message> MethodDescriptor<Q, R> method(
      String name, Q request, R reply) {
    return method(InferenceService.NAME + "/" + name, MethodType.UNARY, request, reply);
  }

  static <Q extends Message, R extends Message> MethodDescriptor<Q, R> method(
      String fullName, MethodType type, Q request, R reply) {
    return MethodDescriptor.<Q, R>newBuilder()
        .setType(type)
        .setFullMethodName(fullName)
        .setRequestMarshaller(ProtoUtils.marshaller(request))
        .setResponseMarshaller(ProtoUtils.marshaller(reply))
        .build();
  }

  /** Calls a method of the inference service; {@code kind} is any instance of the reply's class. */
  <Q extends Message, R extends Message> R call(String name, Q request, R kind) {
    return ClientCalls.blockingUnaryCall(
        channel,
        method(name, request, kind),
        CallOptions.DEFAULT.withDeadlineAfter(PATIENCE.toSeconds(), TimeUnit.SECONDS),
        request);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.stop(Duration.ofSeconds(10));
    nereid.close();
    server.close();
  }
}
