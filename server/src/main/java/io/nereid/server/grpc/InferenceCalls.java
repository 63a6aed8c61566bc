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
 * Serves the two methods that carry tensors, on the event loops and with a codec of their own: the
 * server must have a direct executor, and run its connections on the group given here. No
 * interceptor may drop messages, since a message that was read owns memory.
 */
final class InferenceCalls implements AutoCloseable {

  private final ServerState state;
  private final EventLoops loops;
  private final TensorCall.Shared shared;
  private final Set<StreamInferCall> streams = ConcurrentHashMap.newKeySet();
  private final Runnable healthListener = this::endStreams;

  /**
   * Serves connections that run on {@code loops}; follows the server's stopping, until it is
   * closed.
   */
  InferenceCalls(ServerState state, EventLoops loops, Optional<HeaderForwarding> forwarding) {
    this.state = state;
    this.loops = loops;
    shared = new TensorCall.Shared(state.tracing(), forwarding, state.paces());
    state.health().addListener(healthListener);
  }

  ServerMethodDefinition<IncomingRequest, OutgoingReply> modelInfer() {
    return ServerMethodDefinition.create(
        method("ModelInfer", MethodType.UNARY),
        (call, headers) -> {
          InferCall listener = new InferCall(call, headers, loops.current(), shared);
          call.request(2); // to notice a second message, which violates the protocol
          return listener;
        });
  }

  ServerMethodDefinition<IncomingRequest, OutgoingReply> modelStreamInfer() {
    return ServerMethodDefinition.create(
        method("ModelStreamInfer", MethodType.BIDI_STREAMING),
        (call, headers) -> {
          StreamInferCall listener =
              StreamInferCall.start(call, headers, loops.current(), shared, streams);
          if (state.health().isStopping()) {
            listener.stop(); // endStreams has passed already
          }
          return listener;
        });
  }

  /** Ends all streams: they could go on for ever, and the server's end must not wait. */
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

  private record Requests(ServerState state)
      implements MethodDescriptor.Marshaller<IncomingRequest> {

    @Override
    public IncomingRequest parse(InputStream stream) {
      return IncomingRequest.read(state, stream);
    }

    @Override
    public InputStream stream(IncomingRequest request) {
      throw new UnsupportedOperationException("a server does not send requests");
    }
  }

  private record Replies() implements MethodDescriptor.Marshaller<OutgoingReply> {

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
