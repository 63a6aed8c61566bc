package io.nereid;

import io.nereid.internal.request.StreamQueue;
import io.nereid.types.StatusCode;

/**
 * The responses of one request, in the order in which the model sends them. A decoupled model sends
 * any number of responses, any other model sends one.
 *
 * <pre>{@code
 * try (var request = model.newRequest().input("IN", prompt);
 *     var stream = request.inferStream()) {
 *   for (var response = stream.next(); response != null; response = stream.next()) {
 *     try (response) {
 *       print(response.output("OUT"));
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>A model that sends faster than the stream is read is held up after a few responses, so a
 * stream that is not read on must be closed. When the model is unloaded or replaced, its streams
 * have {@link NereidOptions#drainTimeout} to end; then they fail with {@link
 * StatusCode#UNAVAILABLE}.
 */
public final class ResponseStream implements AutoCloseable {

  private final StreamQueue queue;

  ResponseStream(StreamQueue queue) {
    this.queue = queue;
  }

  /**
   * The next response, which its receiver closes, also after the stream; null when there are no
   * more. Waits for it; made for virtual threads, good on any.
   *
   * <p>When the thread is interrupted before the request has ended, the request is cancelled and
   * {@link StatusCode#CANCELLED} thrown; the thread stays interrupted. When the request's deadline
   * passes while this waits, it is cancelled and {@link StatusCode#DEADLINE_EXCEEDED} thrown. A
   * request that fails does so after the responses that it had before. A failure is thrown again by
   * later calls. An error that does not end the request is a response with a {@link
   * InferResponse#failure}.
   */
  public InferResponse next() {
    return queue.next(InferResponse::new, InferResponse::new);
  }

  /**
   * Cancels the request if it has not ended, and gives back the responses that were not fetched.
   * Responses that were fetched stay open. Closing twice does nothing.
   */
  @Override
  public void close() {
    queue.close();
  }
}
