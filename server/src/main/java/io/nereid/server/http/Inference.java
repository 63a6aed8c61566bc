package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.ResponseListener;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * Runs one inference after the other of a connection and waits for its answer: on the calling
 * thread if a carrier stays free for others, else in the model's queue. Used by the thread that
 * serves the request.
 */
final class Inference {

  private final Runnable stepAside;
  private final Runnable beforeWait = this::beforeWait;
  private boolean holdsCarrier;

  /** {@code stepAside} runs before a thread that serves several connections waits. */
  Inference(Runnable stepAside) {
    this.stepAside = stepAside;
  }

  /** Runs a request; {@code isRepeated}: on a round's thread, which is no carrier. */
  InferResponse run(InferRequest request, boolean isRepeated) {
    if (isRepeated) {
      return request.infer(stepAside);
    }
    if (!FreeCarrier.enter()) {
      return queued(request);
    }
    holdsCarrier = true;
    try {
      return request.infer(beforeWait);
    } finally {
      leave();
    }
  }

  private void beforeWait() {
    leave();
    stepAside.run();
  }

  private void leave() {
    if (holdsCarrier) {
      holdsCarrier = false;
      FreeCarrier.leave();
    }
  }

  private static InferResponse queued(InferRequest request) {
    CompletableFuture<InferResponse> answer = new CompletableFuture<>();
    request.submit(
        new ResponseListener() {
          @Override
          public void onResponse(InferResponse response) {
            answer.complete(response);
          }

          @Override
          public void onFailure(NereidException failure) {
            answer.completeExceptionally(failure);
          }
        },
        false);
    try {
      return answer.get();
    } catch (ExecutionException e) {
      throw (NereidException) e.getCause();
    } catch (InterruptedException e) {
      request.cancel();
      Thread.currentThread().interrupt();
      answer.thenAccept(InferResponse::close); // no caller takes it any more
      throw new NereidException(StatusCode.CANCELLED, "the thread was interrupted while it waited");
    }
  }
}
