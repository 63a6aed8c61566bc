package io.nereid.server.grpc;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.nereid.InferResponse;
import io.nereid.ResponseListener;
import io.nereid.model.ModelSpec;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.trace.Trace;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * One call of ModelInfer. It runs on the call's event loop; answers from other threads go there
 * first. It owns the request from its arrival, and the response until a reply does.
 */
final class InferCall extends TensorCall implements ResponseListener {

  private final long startNs = isTracing() ? System.nanoTime() : 0;

  private IncomingRequest incoming;
  private Trace trace; // null: the call is not traced
  private long cameNs; // 0: the model has no objective
  private boolean over; // the client was answered, or has gone
  private int replyBytes; // bytes that the client has not taken

  // Written by the thread that brings the answer, before the task goes to the loop.
  private InferResponse response;
  private Throwable failure;

  /** Begins a call, on its event loop. */
  InferCall(
      ServerCall<IncomingRequest, OutgoingReply> call,
      Metadata headers,
      Executor loop,
      Shared shared) {
    super(call, headers, loop, shared);
  }

  // ---- What the client does --------------------------------------------------------------------

  @Override
  public void onMessage(IncomingRequest message) {
    if (over) {
      message.close();
    } else if (incoming != null) {
      message.close();
      fail(Status.INTERNAL.withDescription("expected one request, got another one"));
    } else {
      incoming = message;
    }
  }

  @Override
  public void onHalfClose() {
    if (over) {
      return;
    }
    if (incoming == null) {
      fail(Status.INTERNAL.withDescription("expected one request, got none"));
      return;
    }
    CallLog.tell(incoming);
    if (startNs != 0) {
      trace = beginTrace(incoming, startNs);
    }
    if (incoming.failure() != null) {
      fail(incoming.failure());
      return;
    }
    readInputs(incoming, this::send);
  }

  private void send() {
    if (over) {
      return;
    }
    try {
      send(incoming);
    } catch (RuntimeException | Error e) { // the client is told
      fail(GrpcStatus.of(e));
    }
  }

  private void send(IncomingRequest incoming) {
    incoming.checkRead();
    ModelSpec spec = incoming.model().spec();
    if (spec.decoupled()) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "ModelInfer RPC doesn't support models with decoupled transaction policy");
    }
    if (spec.objective().isPresent()) {
      cameNs = System.nanoTime();
    }
    HeaderForwarding.apply(forwarded(), incoming.request());
    limit(incoming.request());
    if (trace != null) {
      trace.submitted(incoming.model(), incoming.request());
    }
    incoming.request().submit(this, mayExecute(incoming.model()));
  }

  @Override
  public void onCancel() {
    taken();
    if (!over) {
      ended(Status.CANCELLED.withDescription("the client gave up"));
    }
    over = true;
    if (incoming != null) {
      if (incoming.request() != null) {
        incoming.request().cancel();
      }
      incoming.close();
    }
  }

  // ---- The answer ------------------------------------------------------------------------------

  @Override
  public void onResponse(InferResponse response) {
    this.response = response;
    toLoop();
  }

  @Override
  public void onFailure(NereidException failure) {
    this.failure = failure;
    toLoop();
  }

  private void toLoop() {
    if (isOnLoop()) {
      answer();
      return;
    }
    try {
      loop.execute(this::answer);
    } catch (RejectedExecutionException e) { // the server has stopped, and its connections are gone
      over = true;
      answer();
    }
  }

  private void answer() {
    if (response != null) {
      pace(incoming.model()).executed(response);
    }
    incoming.closeInputs();
    if (over) {
      drop(response);
      incoming.close();
      return;
    }
    if (failure != null) {
      fail(GrpcStatus.of(failure));
      return;
    }
    if (trace != null) {
      trace.answered(response);
    }
    if (incoming.forms().areShort(response)) {
      reply(null);
    } else {
      makeOutputs(response, incoming.forms(), this::reply);
    }
  }

  /** Sends the response; {@code made} is null if no output was made beforehand. */
  private void reply(LongOutputs made) {
    if (over) {
      made.close();
      response.close();
      return;
    }
    OutgoingReply reply;
    try {
      reply = OutgoingReply.unary(response, incoming.forms(), made);
    } catch (RuntimeException | Error e) { // the client is told
      fail(GrpcStatus.of(e));
      return;
    }
    if (!replies().take(reply.available())) {
      reply.close();
      fail(REPLIES_WAIT);
      return;
    }
    replyBytes = reply.available();
    over = true;
    dropIncoming();
    if (trace != null) {
      traceEnd(trace, Status.OK);
      trace.sending();
    }
    response.sent(cameNs); // before the transport closes it
    try (reply) {
      call.sendHeaders(new Metadata());
      ReplyBuffers.send(reply, call);
    }
    call.close(Status.OK, new Metadata());
    if (trace != null) {
      trace.end();
    }
  }

  @Override
  public void onComplete() {
    taken();
  }

  private void taken() {
    if (replyBytes > 0) {
      replies().giveBack(replyBytes);
      replyBytes = 0;
    }
  }

  private void fail(Status status) {
    over = true;
    if (incoming != null) {
      dropIncoming();
    }
    call.close(status, new Metadata());
    ended(status);
  }

  /** Lets go of the request, which the call would keep for as long as its reply is not taken. */
  private void dropIncoming() {
    incoming.close();
    incoming = null;
  }

  /** Ends the trace of a call that did not succeed. */
  private void ended(Status status) {
    if (trace != null) {
      traceEnd(trace, status);
      trace.sending();
      trace.end();
    }
  }
}
