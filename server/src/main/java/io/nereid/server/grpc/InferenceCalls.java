package io.nereid.server.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerMethodDefinition;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.shared.ServerState;
import java.io.InputStream;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The two methods that carry tensors. They have a codec of their own and run on the loops of their
 * connections. Nothing between them and the transport may swallow messages, since a message that
 * was read owns memory.
 */
final class InferenceCalls implements AutoCloseable {

  private final ServerState state;
  private final TensorCall.Shared shared;
  private final Set<StreamInferCall> streams = ConcurrentHashMap.newKeySet();
  private final Runnable healthListener = this::endStreams;

  /** Hears when the server stops, until it is closed. */
  InferenceCalls(ServerState state, Optional<HeaderForwarding> forwarding) {
    this.state = state;
    shared = new TensorCall.Shared(state.tracing(), forwarding, state.paces());
    state.health().addListener(healthListener);
  }

  ServerMethodDefinition<IncomingRequest, OutgoingReply> modelInfer() {
    return ServerMethodDefinition.create(
        method("ModelInfer", MethodType.UNARY),
        (call, headers) -> {
          InferCall listener = new InferCall(call, headers, shared);
          call.request(2); // a second one is a violation of the protocol, to be noticed
          return listener;
        });
  }

  ServerMethodDefinition<IncomingRequest, OutgoingReply> modelStreamInfer() {
    return ServerMethodDefinition.create(
        method("ModelStreamInfer", MethodType.BIDI_STREAMING),
        (call, headers) -> {
          StreamInferCall listener = StreamInferCall.start(call, headers, shared, streams);
          if (state.health().isStopping()) {
            listener.stop(); // those that were there have been told
          }
          return listener;
        });
  }

  /** A stream may go on for ever, which the server's end must not wait for. */
  private void endStreams() {
    if (state.health().isStopping()) {
      streams.forEach(StreamInferCall::stop);
    }
  }

  @Override
  public void close() {
    state.health().removeListener(healthListener);
  }

  private MethodDescriptor<IncomingRequest, OutgoingReply> method(String name, MethodType type) {
    return MethodDescriptor.<IncomingRequest, OutgoingReply>newBuilder()
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(InferenceService.NAME, name))
        .setRequestMarshaller(new Requests(state))
        .setResponseMarshaller(new Replies())
        .build();
  }

  /** Reads requests. */
  record Requests(ServerState state)
      implements MethodDescriptor.Marshaller<IncomingRequest>, ReadsAsItComes {

    @Override
    public IncomingRequest parse(InputStream stream) {
      return IncomingRequest.read(state, stream);
    }

    @Override
    public InputStream stream(IncomingRequest request) {
      throw new UnsupportedOperationException("a server does not send requests");
    }
  }

  /** Writes replies. */
  record Replies() implements MethodDescriptor.Marshaller<OutgoingReply> {

    @Override
    public InputStream stream(OutgoingReply reply) {
      return reply;
    }

    @Override
    public OutgoingReply parse(InputStream stream) {
      throw new UnsupportedOperationException("a server does not receive replies");
    }
  }
}
