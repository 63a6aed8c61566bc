package io.nereid.server.http;

import io.nereid.InferResponse;
import io.nereid.internal.repository.ServerPaths;
import io.nereid.server.trace.Trace;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Requests and their answers, one after the other, by whatever protocol they travel. */
final class Exchange {

  private static final Logger LOGGER = System.getLogger(Exchange.class.getName());

  /** Most bytes of a refused body that are read over to keep the connection. */
  private static final long MAX_SKIPPED_BYTES = 1 << 20;

  private final HttpContext context;
  private final ClientChannel channel;
  private final ConnectionGuard guard;
  private final HeadSource heads;
  private final BodyReader body;
  private final ConnectionOutput output;
  private final InferHandler infer;
  private final GenerateHandler generate;
  private final Dispatcher dispatcher;
  private final RequestFacts facts = new RequestFacts();
  private final RequestLog requestLog; // null: there is no access log
  private final AccessGate gate; // null: everything may be asked for
  private final HeapShare heap;
  private final JsonBuffer json;
  private RequestHead head; // of the present request; null: it could not be read

  /** Of the request that is being served; null when it is not traced. */
  private Trace trace;

  Exchange(
      HttpContext context,
      ClientChannel channel,
      ConnectionGuard guard,
      HeadSource heads,
      BodyReader body,
      ConnectionOutput output) {
    this.context = context;
    this.channel = channel;
    this.guard = guard;
    this.heads = heads;
    this.body = body;
    this.output = output;
    heap = new HeapShare(context.heap());
    json = new JsonBuffer(heap);
    body.heap(heap);
    infer = new InferHandler(context, body, guard, facts);
    requestLog = RequestLog.of(context.accessLog(), channel.socket());
    generate = new GenerateHandler(context, guard, output, facts);
    dispatcher = new Dispatcher(context, channel.socket());
    gate = AccessGate.of(context.access());
  }

  /** Reads a request and answers it; whether the connection stays. */
  boolean serve() throws IOException {
    try {
      return requestLog == null ? answerOne() : logged(this::answerOne);
    } finally {
      json.clear();
      infer.release();
      heap.giveBack();
      if (trace != null) {
        trace.end();
        trace = null;
      }
    }
  }

  private interface Answering {
    boolean run() throws IOException;
  }

  private boolean logged(Answering answering) throws IOException {
    requestLog.begin();
    try {
      return answering.run();
    } finally {
      requestLog.end(head, heads, body.received(), output, facts, requestId());
    }
  }

  /** Answers a client's first request with that it came in vain, without having read it. */
  void refuse(String message) throws IOException {
    Answering refusal =
        () -> {
          answer(null, Status.UNAVAILABLE, message, "", true);
          return false;
        };
    if (requestLog == null) {
      refusal.run();
    } else {
      logged(refusal);
    }
  }

  private boolean answerOne() throws IOException {
    json.clear();
    output.begin();
    facts.begin();
    head = null;
    boolean close = true;
    try {
      head = heads.parse();
      output.requestId(head.fields().requestId());
      close = head.fields().wantsClose(heads.isHttp10());
      body.start(head.fields());
      output.moreFields(context.origins().replyFields(head));
      if (context.origins().isPreflight(head)) {
        close = close || isEnding();
        output.sendWith(Status.OK, json, OriginCheck.PREFLIGHT_FIELDS, close, false);
        return !close && skipBody();
      }
      context.origins().admit(head);
      if (gate != null) {
        gate.admit(head);
      }
      if (Compression.ofRequest(head.fields().contentEncoding()) == Compression.NONE) {
        close = exchange(head, body, close);
      } else {
        try (InflatedBody inflated = new InflatedBody(body, context.limits().bodyBytes())) {
          close = exchange(head, inflated, close);
        }
      }
    } catch (HttpFailure e) {
      checkNotBegun(e);
      close = close || e.closing() || isEnding();
      answer(head, e.status(), e.getMessage(), e.fields(), close);
    } catch (NereidException e) {
      if (guard.clientGone()) {
        throw new ClientGoneException();
      }
      checkNotBegun(e);
      close = close || isEnding();
      Status status = Status.of(e);
      if (status == Status.INTERNAL) {
        LOGGER.log(Level.ERROR, failed() + ": " + e.getMessage());
      }
      answer(head, status, e.getMessage(), "", close);
    } catch (ClientGoneException e) {
      if (!guard.timedOut()) {
        throw e;
      }
      answer(head, Status.REQUEST_TIMEOUT, timeoutMessage(), "", true);
      return false;
    } catch (OutOfMemoryError e) {
      // One allocation was too much, and its memory is free again: others may go on.
      if (output.hasBegun()) {
        throw e;
      }
      answer(head, Status.UNAVAILABLE, "not enough heap memory for the request", "", true);
      return false;
    } catch (RuntimeException e) {
      checkNotBegun(e);
      LOGGER.log(Level.ERROR, failed(), e);
      String told = ServerPaths.hide(e.toString(), List.of());
      answer(head, Status.INTERNAL, "internal error: " + told, "", true);
      return false;
    }
    return !close && skipBody();
  }

  /** What the client has of a reply cannot be taken back: another one in it would be nonsense. */
  private void checkNotBegun(RuntimeException e) {
    if (output.hasBegun()) {
      throw e;
    }
  }

  /** How a line of the log about the present request begins. */
  private String failed() {
    return "request "
        + requestId()
        + " failed"
        + (head == null ? "" : ", " + head.method() + " " + heads.target());
  }

  /** What the client, or else this server, calls the present request. */
  private String requestId() {
    if (head != null && head.fields().requestId() != null) {
      return head.fields().requestId();
    }
    if (!facts.id().isEmpty()) {
      return facts.id();
    }
    return requestLog == null ? "<id_unknown>" : requestLog.madeId();
  }

  /** Reads over what a handler left of the body; whether the next request follows it. */
  private boolean skipBody() throws IOException {
    try {
      return body.skipRest(MAX_SKIPPED_BYTES);
    } catch (HttpFailure e) {
      return false; // the request has its answer
    }
  }

  /** Answers a request that is well formed; whether the connection ends with it. */
  private boolean exchange(RequestHead head, RequestBody content, boolean wantsClose)
      throws IOException {
    if (context.page() != null) {
      return page(context.page(), head, wantsClose);
    }
    Endpoint endpoint = head.route().endpoint();
    if (!endpoint.isInference() || !head.method().equals("POST")) {
      return send(dispatcher.dispatch(head, content, json), head, wantsClose);
    }
    if (head.fields().loadFormat() != null) {
      output.head().load(context.state().load().orElse(null), head.fields().loadFormat());
    }
    if (context.tracing().isOn()) {
      trace = HttpTrace.begin(context.tracing(), head, heads.target(), guard, channel);
    }
    return switch (endpoint) {
      case GENERATE -> {
        generate.begin(trace).generate(head, content, json);
        HttpTrace.sending(trace, Status.OK, null);
        yield send(Status.OK, head, wantsClose);
      }
      case GENERATE_STREAM ->
          generate.begin(trace).stream(
              head, content, json, heads.isHttp10(), () -> wantsClose || isEnding());
      default -> infer(head, content, wantsClose);
    };
  }

  /** Sends the JSON of a reply; whether the connection ends with it. */
  private boolean send(Status status, RequestHead head, boolean wantsClose) throws IOException {
    boolean close = wantsClose || isEnding();
    output.send(status, json, List.of(), close, head.isHeadMethod());
    return close;
  }

  private boolean page(Page page, RequestHead head, boolean wantsClose) throws IOException {
    if (!Router.path(heads.target()).equals(page.path())) {
      throw new HttpFailure(Status.NOT_FOUND, "Not Found: this port serves " + page.path());
    }
    if (!head.method().equals("GET") && !head.isHeadMethod()) {
      throw HttpFailure.withField(
          Status.METHOD_NOT_ALLOWED, "Method Not Allowed", "Allow", "GET, HEAD");
    }
    byte[] text = page.bytes();
    json.write(text, 0, text.length);
    output.head().contentType(page.contentType());
    return send(Status.OK, head, wantsClose);
  }

  private boolean infer(RequestHead head, RequestBody content, boolean wantsClose)
      throws IOException {
    try (InferResponse response = infer.infer(head, content, trace)) {
      List<MemorySegment> binary = infer.write(response, json);
      boolean close = wantsClose || isEnding();
      HttpTrace.sending(trace, Status.OK, null);
      Compression compression = Compression.preferred(head.fields().acceptEncoding());
      if (compression == Compression.NONE) {
        output.send(Status.OK, json, binary, close, false);
      } else {
        output.sendCompressed(compression, json, binary, close);
      }
      return close;
    }
  }

  /** Whether the next request would not be read from here. */
  private boolean isEnding() {
    return !body.isSkippable(MAX_SKIPPED_BYTES) || context.health().isStopping();
  }

  private void answer(RequestHead head, Status status, String message, String fields, boolean close)
      throws IOException {
    json.clear();
    json.ascii("{\"error\":").string(message == null ? status.toString() : message).write('}');
    HttpTrace.sending(trace, status, message);
    output.sendWith(status, json, fields, close, head != null && head.isHeadMethod());
  }

  private String timeoutMessage() {
    return "expected the whole request within "
        + context.limits().requestTime().toSeconds()
        + " s; --http-request-timeout-secs sets the limit";
  }
}
