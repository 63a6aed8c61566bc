package io.nereid.server.grpc;

import io.grpc.Grpc;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import java.net.SocketAddress;

/**
 * Answers calls that are not about tensors, each on a virtual thread: loading a model may take
 * minutes, and the event loop, on which calls arrive, must not wait.
 */
final class UnaryCalls {

  private UnaryCalls() {}

  /** What makes a reply of a request. What it throws is the call's status. */
  @FunctionalInterface
  interface Answer<Q, R> {
    R to(Q request);
  }

  /** The same with the address of who asks. */
  @FunctionalInterface
  interface ClientAnswer<Q, R> {
    R to(Q request, SocketAddress client);
  }

  static <Q, R> ServerCallHandler<Q, R> ofClient(ClientAnswer<Q, R> answer) {
    return (call, headers) -> {
      SocketAddress client = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
      return of((Q request) -> answer.to(request, client)).startCall(call, headers);
    };
  }

  static <Q, R> ServerCallHandler<Q, R> of(Answer<Q, R> answer) {
    return ServerCalls.asyncUnaryCall((request, observer) -> {
      ServerCallStreamObserver<R> client = (ServerCallStreamObserver<R>) observer;
      // Without a handler, answering a client that went away would throw.
      client.setOnCancelHandler(() -> {});
      LoggedModel.tell(request);
      Thread.ofVirtual().name("nrd-grpc-call").start(() -> run(answer, request, client));
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
      return; // also when the server has stopped, and nothing would take the answer
    }
    if (failure != null) {
      client.onError(failure.asRuntimeException());
    } else {
      client.onNext(reply);
      client.onCompleted();
    }
  }
}
