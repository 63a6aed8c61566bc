package io.nereid.server.grpc;

import io.grpc.ServerCallHandler;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

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

  static <Q, R> ServerCallHandler<Q, R> of(Answer<Q, R> answer) {
    return ServerCalls.asyncUnaryCall((request, observer) -> {
      // Without a handler, answering a client that went away would throw.
      ((ServerCallStreamObserver<R>) observer).setOnCancelHandler(() -> {});
      Thread.ofVirtual().name("nrd-grpc-call").start(() -> run(answer, request, observer));
    });
  }

  private static <Q, R> void run(Answer<Q, R> answer, Q request, StreamObserver<R> observer) {
    R reply;
    try {
      reply = answer.to(request);
    } catch (RuntimeException | Error e) { // the client gets an answer, whatever it is
      observer.onError(GrpcStatus.of(e).asRuntimeException());
      return;
    }
    observer.onNext(reply);
    observer.onCompleted();
  }
}
