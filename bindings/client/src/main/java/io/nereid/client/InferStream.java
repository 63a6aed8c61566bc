package io.nereid.client;

/**
 * Requests that go out and responses that come back over one call, each way in order and neither
 * waiting for the other. One thread may send while another reads.
 *
 * <p>Flow control holds in both directions: {@link #send} waits while the server does not read, and
 * the server is made to wait while nobody calls {@link #next}. So a program that sends a lot before
 * it reads must do the two in different threads.
 *
 * <p>Models answer once, never, or many times. Whether a response is the last to its request is
 * {@link InferResponse#isFinal}; a model that ends without a further response says so only to
 * requests with the parameter {@code triton_enable_empty_final_response}, set to true. Responses
 * are told apart by {@linkplain InferRequest.Builder#id ids}.
 */
public sealed interface InferStream extends AutoCloseable permits GrpcStream {

  /** Sends a request; its inputs must stay as they are until the response to it is there. */
  void send(InferRequest request);

  /** Says that no more requests follow. The server then ends the stream when all are answered. */
  void finish();

  /**
   * The next response; waits for it. Null when the server has ended the stream.
   *
   * @throws InferenceException when a request failed, which {@link InferenceException#requestId}
   *     names when the request had an id and after which the stream goes on; or when the stream as
   *     a whole failed, after which every further call throws
   */
  InferResponse next();

  /** Whether the stream has ended and everything that came was read. */
  boolean isEnded();

  /** Cancels what is not finished. Closing twice does nothing. */
  @Override
  void close();
}
