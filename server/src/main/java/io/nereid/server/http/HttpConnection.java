package io.nereid.server.http;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.spi.ServerConnection;
import io.nereid.InferResponse;
import io.nereid.NereidException;
import io.nereid.server.trace.Trace;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** One client's connection: reads requests and answers them, one after the other. */
final class HttpConnection implements ServerConnection {

  private static final Logger LOGGER = System.getLogger(HttpConnection.class.getName());

  private static final byte[] CONTINUE =
      "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  /** Least size of the input's buffer: what is larger is read past it. */
  private static final int INPUT_BYTES = 16 << 10;

  /** Most bytes of a refused body that are read over to keep the connection. */
  private static final long MAX_SKIPPED_BYTES = 1 << 20;

  private final HttpContext context;
  private final ClientChannel channel;
  private final ConnectionInput input;
  private final ConnectionOutput output;
  private final ConnectionGuard guard;
  private final RequestHeadParser parser;
  private final BodyReader body;
  private final InferHandler infer;
  private final GenerateHandler generate;
  private final Dispatcher dispatcher;
  private final RequestFacts facts = new RequestFacts();
  private final RequestLog requestLog; // null: there is no access log
  private final AccessGate gate; // null: everything may be asked for
  private final JsonBuffer json = new JsonBuffer();
  private RequestHead head; // of the present request; null: it could not be read
  private boolean refused;

  /** Of the request that is being served; null when it is not traced. */
  private Trace trace;

  HttpConnection(HttpContext context, ClientChannel channel) {
    this.context = context;
    this.channel = channel;
    HttpLimits limits = context.limits();
    input = new ConnectionInput(channel, Math.max(INPUT_BYTES, limits.headBytes()));
    guard = new ConnectionGuard(channel, input, limits);
    output = new ConnectionOutput(channel, guard);
    KeptFields kept = KeptFields.of(context.access().fieldNames());
    parser = new RequestHeadParser(input, limits.headBytes(), kept);
    body = new BodyReader(input, limits, () -> output.write(ByteBuffer.wrap(CONTINUE)));
    infer = new InferHandler(context, body, guard, facts);
    requestLog = RequestLog.of(context.state().accessLog(), channel.socket());
    generate = new GenerateHandler(context, guard, output, facts);
    dispatcher = new Dispatcher(context);
    gate = AccessGate.of(context.access());
    context.watch().add(guard);
  }

  /** Answers the first request with that there are too many connections. */
  HttpConnection refused() {
    refused = true;
    return this;
  }

  @Override
  public void handle(Limit limit) {
    try {
      if (refused) {
        guard.lingering(); // it gets little time
        channel.open();
        refuse();
      } else {
        guard.opening();
        channel.open();
        serve();
      }
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "connection ended", e);
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "connection failed", e);
    } finally {
      context.watch().remove(guard);
      guard.close();
    }
  }

  private void serve() throws IOException {
    while (awaitRequest()) {
      boolean stays;
      try {
        stays = serveOne();
      } finally {
        endTrace();
      }
      if (!stays) {
        linger();
        return;
      }
    }
  }

  private void endTrace() {
    if (trace != null) {
      trace.end();
      trace = null;
    }
  }

  /** Whether there is something to read. */
  private boolean awaitRequest() throws IOException {
    if (input.available() == 0) {
      guard.idle();
      if (!input.fill()) {
        return false;
      }
    }
    guard.reading();
    return true;
  }

  /** Answers a request; whether the connection stays. */
  private boolean serveOne() throws IOException {
    if (requestLog == null) {
      return answerOne();
    }
    requestLog.begin();
    try {
      return answerOne();
    } finally {
      requestLog.end(head, parser, body, output, facts, requestId());
    }
  }

  private boolean answerOne() throws IOException {
    json.clear();
    output.begin();
    facts.begin();
    head = null;
    boolean close = true;
    try {
      head = parser.parse();
      output.requestId(head.fields().requestId());
      close = head.fields().wantsClose(parser.isHttp10());
      body.start(head.fields());
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
      close = close || e.closing() || isEnding();
      answer(head, e.status(), e.getMessage(), e.fields(), close);
    } catch (NereidException e) {
      if (guard.clientGone()) {
        throw new ClientGoneException();
      }
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
      if (output.hasBegun()) {
        throw e; // what the client has of a reply cannot be taken back
      }
      LOGGER.log(Level.ERROR, failed(), e);
      answer(head, Status.INTERNAL, "internal error: " + e, "", true);
      return false;
    }
    return !close && skipBody();
  }

  /** How a line of the log about the present request begins. */
  private String failed() {
    return "request "
        + requestId()
        + " failed"
        + (head == null ? "" : ", " + head.method() + " " + parser.target());
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
    Endpoint endpoint = head.route().endpoint();
    if (!endpoint.isInference() || !head.method().equals("POST")) {
      return send(dispatcher.dispatch(head, content, json), head, wantsClose);
    }
    if (context.tracing().isOn()) {
      trace = HttpTrace.begin(context.tracing(), head, parser.target(), guard, channel);
    }
    return switch (endpoint) {
      case GENERATE -> {
        generate.begin(trace).generate(head, content, json);
        HttpTrace.sending(trace, Status.OK, null);
        yield send(Status.OK, head, wantsClose);
      }
      case GENERATE_STREAM ->
          generate.begin(trace).stream(
              head, content, json, parser.isHttp10(), () -> wantsClose || isEnding());
      default -> infer(head, content, wantsClose);
    };
  }

  /** Sends the JSON of a reply; whether the connection ends with it. */
  private boolean send(Status status, RequestHead head, boolean wantsClose) throws IOException {
    boolean close = wantsClose || isEnding();
    output.send(status, json, List.of(), close, head.isHeadMethod());
    return close;
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

  private void refuse() throws IOException {
    json.clear();
    int most = context.limits().connectionCount();
    String message =
        "expected at most "
            + most
            + " connections at a time; --http-max-connections sets the limit";
    json.ascii("{\"error\":").string(message).write('}');
    output.send(Status.UNAVAILABLE, json, List.of(), true, false);
    linger();
  }

  /**
   * Closing with unread input makes the kernel drop what was written last: lets the client read it
   * first, for a while.
   */
  private void linger() throws IOException {
    guard.lingering();
    output.end();
    do {
      input.skip(input.available());
    } while (input.fill());
  }

  @Override
  public Duration idleTime() {
    return Duration.ZERO; // the watch ends idle connections
  }

  @Override
  public void close(boolean interrupt) {
    if (interrupt) {
      guard.abort();
    }
  }
}
