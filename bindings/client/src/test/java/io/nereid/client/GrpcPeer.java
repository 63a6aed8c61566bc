package io.nereid.client;

import com.google.protobuf.Message;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCalls;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A server made with grpc-java's own marshallers, to answer as no Nereid server would. */
final class GrpcPeer implements AutoCloseable {

  private static final String SERVICE = "inference.GRPCInferenceService";

  private final ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(SERVICE);

  /** The headers of each call, in their order. */
  final BlockingQueue<Metadata> headers = new LinkedBlockingQueue<>();

  /** The deadlines of each call, as far as they had any. */
  final BlockingQueue<Long> remainingMs = new LinkedBlockingQueue<>();

  private Server server;

  /** Answers a method. */
  <Q extends Message, R extends Message> GrpcPeer unary(
      String name, Q request, R reply, ServerCalls.UnaryMethod<Q, R> handler) {
    service.addMethod(
        method(name, MethodType.UNARY, request, reply), ServerCalls.asyncUnaryCall(handler));
    return this;
  }

  GrpcPeer infer(ServerCalls.UnaryMethod<ModelInferRequest, ModelInferResponse> handler) {
    return unary(
        "ModelInfer",
        ModelInferRequest.getDefaultInstance(),
        ModelInferResponse.getDefaultInstance(),
        handler);
  }

  GrpcPeer stream(
      ServerCalls.BidiStreamingMethod<ModelInferRequest, ModelStreamInferResponse> handler) {
    service.addMethod(
        method(
            "ModelStreamInfer",
            MethodType.BIDI_STREAMING,
            ModelInferRequest.getDefaultInstance(),
            ModelStreamInferResponse.getDefaultInstance()),
        ServerCalls.asyncBidiStreamingCall(handler));
    return this;
  }

  private static <Q extends Message, R extends Message> MethodDescriptor<Q, R> method(
      String name, MethodType type, Q request, R reply) {
    return MethodDescriptor.<Q, R>newBuilder()
        .setType(type)
        .setFullMethodName(SERVICE + "/" + name)
        .setRequestMarshaller(ProtoUtils.marshaller(request))
        .setResponseMarshaller(ProtoUtils.marshaller(reply))
        .build();
  }

  GrpcPeer start() throws IOException {
    return start(InsecureServerCredentials.create());
  }

  GrpcPeer start(ServerCredentials credentials) throws IOException {
    ServerInterceptor recorder =
        new ServerInterceptor() {
          @Override
          public <Q, R> ServerCall.Listener<Q> interceptCall(
              ServerCall<Q, R> call, Metadata fields, ServerCallHandler<Q, R> next) {
            headers.add(fields);
            if (Context.current().getDeadline() != null) {
              remainingMs.add(Context.current().getDeadline().timeRemaining(TimeUnit.MILLISECONDS));
            }
            return next.startCall(call, fields);
          }
        };
    server =
        Grpc.newServerBuilderForPort(0, credentials)
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .addService(ServerInterceptors.intercept(service.build(), recorder))
            .build()
            .start();
    return this;
  }

  int port() {
    return server.getPort();
  }

  InferenceClient connect() {
    return connect(ClientOptions.DEFAULT);
  }

  InferenceClient connect(ClientOptions options) {
    return InferenceClient.connect("grpc://localhost:" + port(), options);
  }

  @Override
  public void close() {
    server.shutdownNow();
    try {
      server.awaitTermination(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
