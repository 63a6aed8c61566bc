package io.nereid.server.grpc;

import io.grpc.Status;
import io.nereid.InferResponse;
import io.nereid.ResponseListener;
import io.nereid.ResponseStream;
import io.nereid.server.trace.Trace;
import io.nereid.types.NereidException;
import java.util.concurrent.Semaphore;

/**
 * One request of a stream. All events of the request go to its call's event loop, which alone reads
 * and writes the fields that are not final. The request owns its message, and a response until its
 * turn comes.
 */
final class StreamedRequest implements ResponseListener {

  private final StreamInferCall call;
  private final IncomingRequest incoming;

  /** Held for each response that was handed to the call and not written yet. */
  private final Semaphore room = new Semaphore(1);

  // The answer of a model that is not decoupled, until its turn has come.
  InferResponse response;
  Status failure;
  boolean answered;

  private ResponseStream responses; // a decoupled model's
  private volatile boolean abandoned;

  private Trace trace; // null: not traced, or the trace has ended
  private boolean sending; // whether the first response was written
  private Status outcome = Status.OK; // the last failure, if any

  /** Takes the message over; {@code trace} may be null. */
  StreamedRequest(StreamInferCall call, IncomingRequest incoming, Trace trace) {
    this.call = call;
    this.incoming = incoming;
    this.trace = trace;
  }

  IncomingRequest incoming() {
    return incoming;
  }

  /** Asks a decoupled model for its responses, and reads them on a thread of their own. */
  void stream() {
    responses = incoming.request().inferStream();
    Thread.ofVirtual().name("nrd-grpc-stream").start(this::readResponses);
  }

  // ---- What happens to it, on the event loop ---------------------------------------------------

  /** Notes that the request goes to its model. */
  void submitting() {
    if (trace != null) {
      trace.submitted(incoming.model(), incoming.request());
    }
  }

  /** Keeps the answer of a model that is not decoupled until its turn has come. */
  void answered(InferResponse itsResponse, Status itsFailure) {
    response = itsResponse;
    failure = itsFailure;
    answered = true;
    if (itsResponse != null) {
      responded(itsResponse);
    } else if (trace != null && incoming.failure() == null) {
      trace.failed(itsFailure.getDescription(), true); // the status is known later
    }
  }

  /** Notes that the model has one more response. */
  void responded(InferResponse itsResponse) {
    if (trace != null) {
      trace.answered(itsResponse);
    }
  }

  /** Notes that a response, a failure or the mere end is about to be written. */
  void writing(Status status, boolean ends) {
    if (trace == null) {
      return;
    }
    if (!status.isOk()) {
      outcome = status;
    }
    if (ends) {
      TensorCall.traceEnd(trace, outcome);
    }
    if (!sending) {
      sending = true;
      trace.sending();
    }
  }

  /** Notes that a response, a failure or the mere end was written. */
  void written(boolean ends) {
    room.release();
    if (ends) {
      endTrace();
    }
  }

  private void endTrace() {
    if (trace != null) {
      trace.end();
      trace = null; // the trace's own thread owns it now
    }
  }

  /** Gives the request up: nobody waits for it, and answers that come are dropped. */
  void abandon() {
    if (trace != null) {
      TensorCall.traceEnd(
          trace, Status.CANCELLED.withDescription("the stream ended before the request did"));
      endTrace();
    }
    abandoned = true;
    if (incoming.request() != null) {
      incoming.request().cancel();
    }
    if (responses != null) {
      responses.close();
    }
    room.release(); // last, so that the reader wakes to a closed stream
    incoming.close();
    if (response != null) {
      response.close();
    }
  }

  // ---- On other threads ------------------------------------------------------------------------

  @Override
  public void onResponse(InferResponse response) {
    call.onLoop(() -> call.answered(this, response, null), response);
  }

  @Override
  public void onFailure(NereidException failure) {
    call.onLoop(() -> call.answered(this, null, GrpcStatus.of(failure)), null);
  }

  /** Reads responses at the client's pace. */
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
    Status reason = failure == null ? null : GrpcStatus.of(failure);
    boolean endsEmpty = !finalSent && reason == null && incoming.enablesEmptyFinal();
    call.onLoop(() -> call.ended(this, reason, endsEmpty), null);
  }
}
