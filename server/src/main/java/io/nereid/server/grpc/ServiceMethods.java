package io.nereid.server.grpc;

import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.ProtoServiceDescriptorSupplier;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.nereid.types.NereidException;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The methods of a service that a proto file describes, each with the code that serves it. A method
 * that carries no tensors is answered on a virtual thread: loading a model may take minutes, and
 * the event loop, on which calls arrive, must not wait.
 */
final class ServiceMethods {

  /** Makes a reply of a request. Its exception becomes the call's status. */
  @FunctionalInterface
  interface Answer<Q, R> {
    R to(Q request);
  }

  /**
   * Makes a reply of a request and its client's address. Its exception becomes the call's status.
   */
  @FunctionalInterface
  interface ClientAnswer<Q, R> {
    R to(Q request, SocketAddress client);
  }

  private final String name;
  private final Supplier<com.google.protobuf.Descriptors.ServiceDescriptor> description;
  private final List<ServerMethodDefinition<?, ?>> described = new ArrayList<>();
  private final List<ServerMethodDefinition<?, ?>> own = new ArrayList<>();

  /**
   * A service without methods.
   *
   * @param name its full name
   * @param description the service's description, for reflection: only read when a client asks,
   *     because that loads all descriptors
   */
  ServiceMethods(
      String name, Supplier<com.google.protobuf.Descriptors.ServiceDescriptor> description) {
    this.name = name;
    this.description = description;
  }

  // ---- The table -------------------------------------------------------------------------------

  /**
   * Adds a method that is answered on a virtual thread.
   *
   * @param request a message of the method's type
   */
  <Q extends Message, R extends Message> ServiceMethods add(
      String name, Q request, Answer<Q, R> answer) {
    return addForClient(name, request, (asked, client) -> answer.to(asked));
  }

  /** Does the same as {@link #add}, for a method that needs the client's address. */
  <Q extends Message, R extends Message> ServiceMethods addForClient(
      String name, Q request, ClientAnswer<Q, R> answer) {
    return addForClient(name, request, () -> {}, answer);
  }

  /** Does the same, and reads no message if {@code check} throws, which ends the call. */
  <Q extends Message, R extends Message> ServiceMethods addForClient(
      String name, Q request, Runnable check, ClientAnswer<Q, R> answer) {
    ServerCallHandler<Q, R> handler =
        (call, headers) -> {
          try {
            check.run();
          } catch (NereidException e) {
            call.close(GrpcStatus.of(e), new Metadata());
            return new ServerCall.Listener<>() {};
          }
          SocketAddress client = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
          ConnectionTasks tasks = ConnectionTasks.of(call);
          return ServiceMethods.<Q, R>answering(asked -> answer.to(asked, client), tasks)
              .startCall(call, headers);
        };
    return add(name, MethodType.UNARY, request, handler);
  }

  /** Adds a method with any number of replies, which is served on the event loop. */
  <Q extends Message, R extends Message> ServiceMethods addStreaming(
      String name, Q request, ServerCalls.ServerStreamingMethod<Q, R> serving) {
    return add(
        name, MethodType.SERVER_STREAMING, request, ServerCalls.asyncServerStreamingCall(serving));
  }

  private <Q extends Message, R extends Message> ServiceMethods add(
      String method, MethodType type, Q request, ServerCallHandler<Q, R> handler) {
    MethodDescriptor<Q, R> descriptor =
        MethodDescriptor.<Q, R>newBuilder()
            .setType(type)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(name, method))
            .setRequestMarshaller(Requests.like(request))
            .setResponseMarshaller(new Replies<>())
            .build();
    described.add(ServerMethodDefinition.create(descriptor, handler));
    return this;
  }

  /** Adds a method that serves itself, and reads its messages itself. */
  ServiceMethods add(ServerMethodDefinition<?, ?> method) {
    own.add(method);
    return this;
  }

  ServerServiceDefinition definition() {
    List<ServerMethodDefinition<?, ?>> all = new ArrayList<>(own);
    all.addAll(MessageReading.of(definition(described)).getMethods());
    return definition(all);
  }

  private ServerServiceDefinition definition(List<ServerMethodDefinition<?, ?>> methods) {
    ServiceDescriptor.Builder descriptor =
        ServiceDescriptor.newBuilder(name).setSchemaDescriptor(new Schema(description));
    methods.forEach(method -> descriptor.addMethod(method.getMethodDescriptor()));
    ServerServiceDefinition.Builder definition =
        ServerServiceDefinition.builder(descriptor.build());
    methods.forEach(definition::addMethod);
    return definition.build();
  }

  /** Gives reflection the service's description. */
  private record Schema(Supplier<com.google.protobuf.Descriptors.ServiceDescriptor> description)
      implements ProtoServiceDescriptorSupplier {

    @Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return description.get();
    }

    @Override
    public FileDescriptor getFileDescriptor() {
      return description.get().getFile();
    }
  }

  /**
   * Reads requests. It leaves out the fields that the server does not know: parsed, each would take
   * up to a hundred times the memory that it takes on the wire.
   */
  private record Requests<Q extends Message>(Parser<Q> parser)
      implements MethodDescriptor.Marshaller<Q> {

    /** Makes the marshaller for messages of the same type. */
    @SuppressWarnings("unchecked") // a message has the parser of its own type
    static <Q extends Message> Requests<Q> like(Q message) {
      return new Requests<>(
          DiscardUnknownFieldsParser.wrap((Parser<Q>) message.getParserForType()));
    }

    @Override
    public InputStream stream(Q request) {
      throw new UnsupportedOperationException("a server does not send requests");
    }

    @Override
    public Q parse(InputStream stream) {
      try {
        return parser.parseFrom(stream);
      } catch (InvalidProtocolBufferException e) {
        throw Status.INTERNAL.withCause(e).asRuntimeException(); // as gRPC's own marshallers do
      }
    }
  }

  /** Writes replies; reading is not supported, as a server reads none. */
  private record Replies<R extends Message>() implements MethodDescriptor.Marshaller<R> {

    @Override
    public InputStream stream(R reply) {
      return new ByteArrayInputStream(reply.toByteArray());
    }

    @Override
    public R parse(InputStream stream) {
      throw new UnsupportedOperationException("a server does not receive replies");
    }
  }

  // ---- Answering -------------------------------------------------------------------------------

  private static <Q, R> ServerCallHandler<Q, R> answering(
      Answer<Q, R> answer, ConnectionTasks tasks) {
    return ServerCalls.asyncUnaryCall((request, observer) -> {
      ServerCallStreamObserver<R> client = (ServerCallStreamObserver<R>) observer;
      // Without a handler, answering a client that has gone would throw.
      client.setOnCancelHandler(() -> {});
      CallLog.tell(request);
      tasks.run(() -> run(answer, request, client));
    });
  }

  private static <Q, R> void run(
      Answer<Q, R> answer, Q request, ServerCallStreamObserver<R> client) {
    R reply = null;
    Status failure = null;
    try {
      reply = answer.to(request);
    } catch (RuntimeException | Error e) { // the client gets an answer, whatever it is
      failure = GrpcStatus.of(e);
    }
    if (client.isCancelled()) {
      return; // also when the server has stopped, and no answer can be sent
    }
    if (failure != null) {
      client.onError(failure.asRuntimeException());
    } else {
      client.onNext(reply);
      client.onCompleted();
    }
  }
}
