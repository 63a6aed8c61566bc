package io.nereid.server.grpc;

import io.nereid.InferResponse;
import io.nereid.NereidException;
import io.nereid.ResponseListener;
import io.nereid.ResponseStream;
import java.util.concurrent.Semaphore;

/**
 * One request of a stream. What happens to it goes to its call's event loop, which alone reads and
 * writes the fields here that are not final.
 */
final class StreamedRequest implements ResponseListener {

  private final StreamInferCall call;
  private final IncomingRequest incoming;

  /** Held for each response that was handed to the call and not written yet. */
  private final Semaphore room = new Semaphore(1);

  // The answer of a model that is not decoupled, until its turn has come.
  InferResponse response;
  Throwable failure;
  boolean answered;

  private ResponseStream responses; // of a decoupled model
  private volatile boolean abandoned;

  StreamedRequest(StreamInferCall call, IncomingRequest incoming) {
    this.call = call;
    this.incoming = incoming;
  }

  IncomingRequest incoming() {
    return incoming;
  }

  /** The model is asked for any number of responses: they are read on a thread of their own. */
  void stream() {
    responses = incoming.request().inferStream();
    Thread.ofVirtual().name("nrd-grpc-stream").start(this::readResponses);
  }

  /** Nobody is interested any more. Answers that come are dropped. On the event loop. */
  void abandon() {
    abandoned = true;
    room.release();
    if (incoming.request() != null) {
      incoming.request().cancel();
    }
    if (responses != null) {
      responses.close();
    }
    incoming.close();
    if (response != null) {
      response.close();
    }
  }

  /** The response that was handed over last has been written. */
  void written() {
    room.release();
  }

  // ---- On other threads ------------------------------------------------------------------------

  @Override
  public void onResponse(InferResponse response) {
    call.onLoop(() -> call.answered(this, response, null), response);
  }

  @Override
  public void onFailure(NereidException failure) {
    call.onLoop(() -> call.answered(this, null, failure), null);
  }

  /** Reads at the pace at which the client does. */
  private void readResponses() {
    Throwable failure = null;
    boolean finalSent = false;
    try (ResponseStream stream = responses) {
      for (InferResponse next = stream.next(); next != null; next = stream.next()) {
        InferResponse response = next;
        finalSent = response.isFinal();
        room.acquireUninterruptibly();
        call.onLoop(() -> call.responded(this, response), response);
      }
    } catch (RuntimeException | Error e) { // the client is told, unless it has left
      failure = abandoned ? null : e;
    }
    Throwable reason = failure;
    boolean endsEmpty = !finalSent && reason == null && incoming.enablesEmptyFinal();
    call.onLoop(() -> call.ended(this, reason, endsEmpty), null);
  }
}
