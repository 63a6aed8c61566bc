package io.nereid.client;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * One request over gRPC and its one reply. A thread of the transport reads the reply and completes
 * the future.
 */
final class GrpcUnaryCall<R, T> extends ClientCall.Listener<R> {

  private final CompletableFuture<T> result = new CompletableFuture<>();
  private final Function<R, T> reader;
  private final Runnable answered;
  private R reply;

  private GrpcUnaryCall(Function<R, T> reader, Runnable answered) {
    this.reader = reader;
    this.answered = answered;
  }

  /** Runs {@code answered} when the server has replied, and so has read the request. */
  static <Q, R, T> Call.Attempt<T> start(
      ClientCall<Q, R> call,
      Metadata headers,
      Q request,
      Function<R, T> reader,
      Runnable answered) {
    GrpcUnaryCall<R, T> listener = new GrpcUnaryCall<>(reader, answered);
    call.start(listener, headers);
    call.request(2); // to notice a second reply, which would be a fault
    try {
      call.sendMessage(request);
      call.halfClose();
    } catch (RuntimeException e) {
      call.cancel("the request could not be written", e);
      throw e;
    }
    return new Call.Attempt<>(listener.result, () -> call.cancel("the caller gave up", null));
  }

  @Override
  public void onMessage(R message) {
    if (reply != null) {
      throw Status.INTERNAL
          .withDescription("more than one reply to a request")
          .asRuntimeException();
    }
    reply = message;
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    if (!status.isOk()) {
      discard();
      result.completeExceptionally(GrpcFailures.of(status, reply != null));
      return;
    }
    if (reply == null) {
      result.completeExceptionally(InferenceException.malformed("it is empty"));
      return;
    }
    answered.run();
    T value;
    try {
      value = reader.apply(reply);
      // the transport would only log it, and the caller would wait for ever
    } catch (RuntimeException | Error e) {
      result.completeExceptionally(e);
      return;
    }
    result.complete(value);
  }

  private void discard() {
    if (reply instanceof GrpcReply tensors) {
      tensors.lease().close();
    }
  }
}
