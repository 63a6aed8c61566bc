package io.nereid.server.grpc;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.trace.Trace;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * One call of ModelStreamInfer. Its event loop alone reads and writes its state; answers from other
 * threads come there as tasks.
 *
 * <p>Requests to models that are not decoupled are answered in the order in which they came, those
 * to decoupled ones as their responses come. A request counts until its last response is written,
 * the number of requests is limited, and responses wait until the transport has room. So a client
 * that does not read is not read from, either. Responses that wait, and replies that the transport
 * has, count in the connection's share of unread bytes, but for the last of the transport's.
 */
final class StreamInferCall extends TensorCall {

  /** Requests that one stream may have under way, enough to fill batches. */
  static final int MOST_UNDER_WAY = 64;

  private static final Metadata.Key<String> GRPC_ERROR =
      Metadata.Key.of("triton_grpc_error", Metadata.ASCII_STRING_MARSHALLER);

  private final List<HeaderForwarding.Field> forwarded = forwarded(); // parameters of each request
  private final Set<StreamInferCall> open; // all open calls

  /** True if the first failure ends the stream, as clients can ask with metadata. */
  private final boolean failsAsCall;

  /** Requests whose last response was not written yet. */
  private final Set<StreamedRequest> underWay = new LinkedHashSet<>();

  /** The requests under way that are answered in the order in which they came. */
  private final ArrayDeque<StreamedRequest> ordered = new ArrayDeque<>();

  /** The responses that are written when the transport has room. */
  private final ArrayDeque<Ready> ready = new ArrayDeque<>();

  private long sentBytes; // taken from the share for replies that the transport may still have
  private boolean asked = true; // grpc-java was asked for a message, which was not read yet
  private boolean making; // long outputs of the next response are being made
  private boolean halfClosed;
  private boolean stopping;
  private boolean over;

  /**
   * A response, failure or mere end for the client.
   *
   * @param response outputs; null: none
   * @param failure in place of outputs; null: none
   * @param ends whether it is the last of its request
   * @param silent whether nothing is written, so that the request only ends
   * @param bytes taken from the share of unread bytes, since the response has to wait
   */
  private record Ready(
      StreamedRequest request,
      InferResponse response,
      Status failure,
      boolean ends,
      boolean silent,
      long bytes) {}

  private StreamInferCall(
      ServerCall<IncomingRequest, OutgoingReply> call,
      Metadata headers,
      Executor loop,
      Shared shared,
      Set<StreamInferCall> open) {
    super(call, headers, loop, shared);
    this.open = open;
    String said = headers.get(GRPC_ERROR);
    failsAsCall = said != null && said.toLowerCase(Locale.ROOT).equals("true");
  }

  /** Begins a call, on its event loop; it is in {@code open} until it is over. */
  static StreamInferCall start(
      ServerCall<IncomingRequest, OutgoingReply> call,
      Metadata headers,
      Executor loop,
      Shared shared,
      Set<StreamInferCall> open) {
    StreamInferCall listener = new StreamInferCall(call, headers, loop, shared, open);
    open.add(listener);
    call.sendHeaders(new Metadata());
    call.request(1);
    return listener;
  }

  // ---- What the client does --------------------------------------------------------------------

  @Override
  public void onMessage(IncomingRequest message) {
    if (over) {
      message.close();
      return;
    }
    if (!underWay.isEmpty() && !message.hold()) { // the first one counts with its call
      message.close();
      close(message.refusal());
      return;
    }
    CallLog.tell(message);
    // Each request of a stream has a trace of its own.
    Trace trace = message.startNs() == 0 ? null : beginTrace(message, message.startNs());
    StreamedRequest request = new StreamedRequest(this, message, trace);
    underWay.add(request);
    readInputs(
        message,
        () -> {
          asked = false;
          if (!over) {
            begin(request);
            write();
          }
        });
  }

  private void begin(StreamedRequest request) {
    IncomingRequest incoming = request.incoming();
    Model model = incoming.model();
    boolean decoupled = model != null && model.spec().decoupled();
    if (!decoupled) {
      ordered.add(request);
    }
    try {
      if (incoming.failure() != null) {
        answered(request, null, incoming.failure());
        return;
      }
      incoming.checkRead();
      HeaderForwarding.apply(forwarded, incoming.request());
      request.submitting();
      limit(incoming.request());
      if (decoupled) {
        request.stream();
      } else {
        incoming.request().submit(request, mayExecute(model));
      }
    } catch (RuntimeException | Error e) { // the client is told
      if (decoupled) {
        ended(request, GrpcStatus.of(e), false);
      } else {
        answered(request, null, GrpcStatus.of(e));
      }
    }
  }

  @Override
  public void onHalfClose() {
    halfClosed = true;
    write();
  }

  @Override
  public void onReady() {
    write();
  }

  @Override
  public void onCancel() {
    abandon();
    taken();
  }

  /**
   * Called also if the call was closed because a message could not be sent, as for lack of memory.
   */
  @Override
  public void onComplete() {
    onCancel();
  }

  /** Answers the requests that have come, and ends the stream. Any thread may call. */
  void stop() {
    onLoop(
        () -> {
          stopping = true;
          write();
        },
        null);
  }

  // ---- Answers, on the event loop --------------------------------------------------------------

  /** Runs a task on the event loop; if that has ended, closes the response that the task brings. */
  void onLoop(Runnable task, InferResponse response) {
    if (isOnLoop()) {
      task.run();
      return;
    }
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) { // the server has stopped, and its connections are gone
      drop(response);
    }
  }

  /** Takes the answer of a model that is not decoupled, or the early failure of any request. */
  void answered(StreamedRequest request, InferResponse response, Status failure) {
    if (response != null && request.incoming().model() != null) {
      pace(request.incoming().model()).executed(response);
    }
    if (over) {
      drop(response);
      return;
    }
    request.incoming().closeInputs();
    request.answered(response, failure);
    while (!ordered.isEmpty() && ordered.peek().answered) {
      StreamedRequest next = ordered.remove();
      respond(next, next.response, next.failure, true);
      next.response = null;
    }
    write();
  }

  /** Takes one more response of a decoupled model, maybe an error. */
  void responded(StreamedRequest request, InferResponse response) {
    if (over) {
      drop(response);
      return;
    }
    Throwable failure = response.failure().orElse(null);
    if (failure == null) {
      request.responded(response);
      respond(request, response, null, false);
    } else {
      drop(response);
      respond(request, null, GrpcStatus.of(failure), false);
    }
    write();
  }

  /** Lets a response or failure wait for its turn; a response needs room for that. */
  private void respond(
      StreamedRequest request, InferResponse response, Status failure, boolean ends) {
    boolean waits = response != null && (making || !ready.isEmpty() || !call.isReady());
    long bytes = waits ? outputBytes(response) : 0;
    if (bytes == 0 || replies().take(bytes)) {
      ready.add(new Ready(request, response, failure, ends, false, bytes));
    } else {
      drop(response);
      ready.add(new Ready(request, null, REPLIES_WAIT, ends, false, 0));
    }
  }

  /** Takes the end of a decoupled model's responses. */
  void ended(StreamedRequest request, Status failure, boolean endsEmpty) {
    request.incoming().closeInputs();
    if (over) {
      return;
    }
    ready.add(new Ready(request, null, failure, true, failure == null && !endsEmpty, 0));
    write();
  }

  // ---- Writing ---------------------------------------------------------------------------------

  private void write() {
    if (call.isReady()) {
      taken();
    }
    while (!over && !making && !ready.isEmpty() && (ready.peek().silent() || call.isReady())) {
      Ready item = ready.remove();
      InferResponse response = item.response();
      OutputForms forms = item.request().incoming().forms();
      making = response != null && !forms.areShort(response);
      if (making) {
        makeOutputs(response, forms, made -> made(item, made));
      } else {
        write(item, null);
      }
    }
    if (over) {
      return;
    }
    if (halfClosed || stopping) {
      if (underWay.isEmpty()) {
        abandon();
        call.close(halfClosed ? Status.OK : GrpcStatus.STOPPING, new Metadata());
      }
    } else if (!asked && underWay.size() < MOST_UNDER_WAY) {
      asked = true;
      call.request(1);
    }
  }

  private void made(Ready item, LongOutputs made) {
    if (over) {
      made.close();
      drop(item.response());
      sentBytes += item.bytes();
      taken();
      return;
    }
    making = false;
    write(item, made);
    write();
  }

  private void write(Ready item, LongOutputs made) {
    sentBytes += item.bytes();
    // Read now, since the response is closed if making its reply fails.
    boolean last = item.ends() || item.response() != null && item.response().isFinal();
    Status failure = item.failure();
    OutgoingReply reply = null;
    if (failure == null && !item.silent()) {
      try {
        reply = counted(reply(item, made, last), item.bytes());
        failure = reply == null ? REPLIES_WAIT : null;
      } catch (RuntimeException | Error e) { // too large, or the wanted form is impossible
        failure = GrpcStatus.of(e);
      }
    }
    boolean endsCall = failure != null && failsAsCall;
    item.request().writing(failure == null ? Status.OK : failure, item.ends() || endsCall);
    if (failure != null && !endsCall) {
      String id = item.request().incoming().id();
      reply = counted(OutgoingReply.error(failure.getDescription(), id, last), 0);
    }
    if (failure != null && reply == null) { // the call ends with it, or there is no room to tell it
      item.request().written(true);
      close(failure);
      return;
    }
    if (reply != null) {
      try (OutgoingReply sent = reply) {
        ReplyBuffers.send(sent, call);
      }
    }
    item.request().written(item.ends());
    if (item.ends()) {
      item.request().incoming().close();
      underWay.remove(item.request());
    }
  }

  /** Counts a reply, {@code before} bytes of which are counted; null: no room, and it is closed. */
  private OutgoingReply counted(OutgoingReply reply, long before) {
    long more = Math.max(0, reply.available() - before);
    if (!replies().take(more)) {
      reply.close();
      return null;
    }
    sentBytes += more;
    return reply;
  }

  /** Gives back the bytes that the transport had, which has sent nearly all of them by now. */
  private void taken() {
    if (sentBytes > 0) {
      replies().giveBack(sentBytes);
      sentBytes = 0;
    }
  }

  private static OutgoingReply reply(Ready item, LongOutputs made, boolean last) {
    IncomingRequest incoming = item.request().incoming();
    if (item.response() == null) {
      Model model = incoming.model();
      return OutgoingReply.emptyFinal(model.name(), model.version(), incoming.id());
    }
    return OutgoingReply.streamed(item.response(), incoming.forms(), made, last);
  }

  /** Ends the stream before its time. */
  private void close(Status status) {
    abandon();
    call.close(status, new Metadata());
  }

  private void abandon() {
    over = true;
    open.remove(this);
    for (Ready item : ready) {
      drop(item.response());
      sentBytes += item.bytes();
    }
    ready.clear();
    ordered.clear();
    for (StreamedRequest request : new ArrayList<>(underWay)) {
      request.abandon();
    }
    underWay.clear();
  }
}
