package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.internal.repository.ServerPaths;
import io.nereid.server.http.Route.Endpoint;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.json.JsonException;
import io.nereid.server.memory.RequestSlices;
import io.nereid.server.shared.ExecutionPace;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.shared.HeapShare;
import io.nereid.server.shared.LoadReport;
import io.nereid.server.trace.Trace;
import io.nereid.server.wire.HttpExchange;
import io.nereid.server.wire.HttpFailure;
import io.nereid.server.wire.HttpHandler;
import io.nereid.server.wire.ReplyField;
import io.nereid.server.wire.RequestBody;
import io.nereid.server.wire.RequestHead;
import io.nereid.server.wire.Status;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Function;

/**
 * Answers requests for the protocol's endpoints, one after the other: says who may ask, finds the
 * endpoint, and runs inferences itself; others serve the other endpoints. One for each exchange,
 * whose thread calls it.
 */
final class ProtocolHandler implements HttpHandler {

  private static final Logger LOGGER = System.getLogger(ProtocolHandler.class.getName());

  private static final ReplyField JSON = ReplyField.of("Content-Type", "application/json");
  private static final ReplyField BINARY =
      ReplyField.of("Content-Type", "application/octet-stream");
  private static final ReplyField JSON_LENGTH = ReplyField.of("Inference-Header-Content-Length");
  private static final ReplyField EVENTS =
      ReplyField.of("Content-Type", "text/event-stream; charset=utf-8");
  private static final ReplyField REQUEST_ID = ReplyField.of("X-Request-Id");
  private static final ReplyField LOAD = ReplyField.of("endpoint-load-metrics");

  private final HttpContext context;
  private final HttpExchange exchange;
  private final JsonBuffer json;
  private final InferRequestParser parser;
  private final GenerateHandler generate;
  private final Dispatcher dispatcher;
  private final ConsoleHandler console;
  private final RequestLog log;
  private final Execution execution = new Execution();
  private final Runnable stepAside;

  private final Function<String, Route> routes = this::route;

  /** Clients send the same path again and again: the last one is not understood anew. */
  private String lastTarget;

  private Route lastRoute;

  private Trace trace; // of the present request; null: it is not traced
  private boolean tellsLoad; // to the present request's client, if it wants to know

  ProtocolHandler(HttpContext context, HttpExchange exchange) {
    this.context = context;
    this.exchange = exchange;
    stepAside = exchange::stepAside;
    json = new JsonBuffer(exchange.heap());
    parser = new InferRequestParser(context.limits());
    log = new RequestLog(context.state().accessLog().orElse(null), exchange);
    generate = new GenerateHandler(context, this, log);
    dispatcher = new Dispatcher(context, exchange, this::model);
    console = new ConsoleHandler(context, exchange);
  }

  @Override
  public RequestHead newHead() {
    return new ProtocolHead(context.kept(), routes);
  }

  private Route route(String target) {
    if (!target.equals(lastTarget)) {
      Route route = Route.to(target);
      lastRoute = route == Route.UNKNOWN ? console.route(target) : route;
      lastTarget = target;
    }
    return lastRoute;
  }

  @Override
  public void begin() {
    tellsLoad = false;
    log.begin();
  }

  @Override
  public void end() {
    try {
      log.end();
    } finally {
      json.clear();
      dispatcher.end();
      parser.release();
      if (trace != null) {
        trace.end();
        trace = null;
      }
    }
  }

  @Override
  public void answer() throws IOException {
    ProtocolHead head = (ProtocolHead) exchange.head();
    if (context.origins().isPreflight(head)) {
      OriginCheck.PREFLIGHT_FIELDS.forEach(exchange::field);
      send(Status.OK);
      return;
    }
    context.origins().admit(head);
    AccessCheck.admit(context.access(), head);
    RequestBody body = exchange.content();
    Endpoint endpoint = head.route().endpoint();
    boolean inference = endpoint.isInference() && head.method().equals("POST");
    if (!inference || endpoint != Endpoint.INFER) {
      exchange.stepAside();
    }
    if (!inference) {
      if (!endpoint.isConsole()) {
        send(dispatcher.dispatch(head, body, json));
      } else if (console.answer(head, body, json, this)) {
        send(Status.OK);
      }
      return;
    }
    tellsLoad = true;
    if (context.tracing().isOn()) {
      trace = HttpTrace.begin(context.tracing(), head, exchange);
    }
    switch (endpoint) {
      case GENERATE -> {
        generate.generate(head, body, json);
        HttpTrace.sending(trace, Status.OK, null);
        send(Status.OK);
      }
      case GENERATE_STREAM -> generate.stream(head, body, json);
      default -> infer(head, body);
    }
  }

  // ---- Inference -------------------------------------------------------------------------------

  private void infer(ProtocolHead head, RequestBody body) throws IOException {
    Model model = model(head.route());
    if (model.spec().decoupled()) {
      throw new HttpFailure(
          Status.NOT_IMPLEMENTED,
          "HTTP end point doesn't support models with decoupled transaction policy");
    }
    long cameNs = model.spec().objective().isPresent() ? exchange.readingSinceNs() : 0;
    long jsonLength = jsonLength(head.inferenceHeaderLength(), body.length());
    try (RequestSlices slices = new RequestSlices(context.state().sharedMemory());
        InferResponse response = run(model, head, body, jsonLength, slices)) {
      List<MemorySegment> binary =
          InferResponseWriter.write(response, parser.outputs(), jsonLength == 0, json);
      slices.release();
      HttpTrace.sending(trace, Status.OK, null);
      if (binary.isEmpty()) {
        exchange.field(JSON);
      } else {
        exchange.field(BINARY);
        exchange.field(JSON_LENGTH, json.size());
      }
      addFields(head);
      exchange.sendCompressed(json, binary);
      response.sent(cameNs);
    }
  }

  /** Reads a request, and runs it; the caller closes the response. */
  private InferResponse run(
      Model model, ProtocolHead head, RequestBody body, long jsonLength, RequestSlices slices)
      throws IOException {
    try (InferRequest request = model.newRequest()) {
      try {
        parser.parse(body, jsonLength, model, request, slices);
      } finally {
        log.id(parser.id());
      }
      HeaderForwarding.apply(head.forwarded(), request);
      if (trace != null) {
        trace.submitted(model, request);
      }
      ExecutionPace pace = context.state().paces().of(model);
      if (!pace.isShort()) {
        exchange.stepAside();
      }
      InferResponse response;
      begin(request);
      try {
        response = request.infer(stepAside);
      } finally {
        answered();
      }
      pace.executed(response);
      if (trace != null) {
        trace.answered(response);
      }
      return response;
    }
  }

  /** Bytes of the JSON part; {@link RequestHead#ABSENT}: the whole body, 0: there is none. */
  private static long jsonLength(String field, long bodyLength) {
    if (field == null) {
      return RequestHead.ABSENT;
    }
    long most = bodyLength == RequestBody.UNKNOWN_LENGTH ? Long.MAX_VALUE : bodyLength;
    boolean negative = field.startsWith("-");
    long length = RequestHead.digits(negative ? field.substring(1) : field);
    if (length < 0) {
      throw HttpFailure.badRequest(
          "Unable to parse Inference-Header-Content-Length, got: " + field);
    }
    if (negative || length > most) {
      throw HttpFailure.badRequest(
          "inference header size should be in range (0, " + most + "), got: " + field);
    }
    return length;
  }

  // ---- What inferences and the generate extension share ----------------------------------------

  HttpExchange exchange() {
    return exchange;
  }

  /** The trace of the present request; null when it is not traced. */
  Trace trace() {
    return trace;
  }

  /** The model that is to answer a request, while the server takes any. */
  Model model(Route route) {
    context.health().checkLoaded();
    if (context.health().isStopping()) {
      throw stopping();
    }
    Nereid nereid = context.nereid();
    Model model =
        route.version() == 0
            ? nereid.model(route.model())
            : nereid.model(route.model(), route.version());
    log.version(model.version());
    if (context.health().refuses(model)) {
      throw stopping();
    }
    return model;
  }

  private static HttpFailure stopping() {
    return HttpFailure.closing(
        Status.UNAVAILABLE,
        "Server is stopping, scheduler for model has stopped accepting new inference requests");
  }

  /** The answer to a request is waited for: it is cancelled when its client goes away. */
  void begin(InferRequest request) {
    execution.request = request;
    exchange.running(execution);
  }

  /** There is an answer, or a failure. */
  void answered() {
    exchange.answered();
    execution.request = null;
  }

  /** What is cancelled when the client goes away. One object, so that no request makes another. */
  private static final class Execution implements Runnable {
    /** Null: none runs. Published to the thread below by what says that a request runs. */
    private InferRequest request;

    /** The thread that looks after connections calls this. */
    @Override
    public void run() {
      InferRequest running = request;
      if (running != null) {
        running.cancel();
      }
    }
  }

  // ---- Replies ---------------------------------------------------------------------------------

  /** Sends what is in the buffer as the reply. */
  private void send(Status status) throws IOException {
    if (json.size() > 0) {
      exchange.field(JSON);
    }
    addFields((ProtocolHead) exchange.head());
    exchange.send(status, json, List.of());
  }

  /** Begins a reply of events. */
  void beginEvents(Status status) throws IOException {
    HttpTrace.sending(trace, status, null);
    exchange.field(EVENTS);
    addFields((ProtocolHead) exchange.head());
    exchange.beginParts(status);
  }

  /** Adds the fields that every reply has; {@code head} is null when it could not be read. */
  private void addFields(ProtocolHead head) {
    if (head == null) {
      return;
    }
    context.origins().addFields(head, exchange);
    if (head.requestId() != null) {
      exchange.field(REQUEST_ID, head.requestId());
    }
    if (tellsLoad && head.loadFormat() != null) {
      LoadReport report = context.state().load().orElse(null);
      String text = report == null ? null : report.in(head.loadFormat());
      if (text != null) {
        exchange.field(LOAD, text);
      }
    }
  }

  @Override
  public void fail(HttpFailure failure) throws IOException {
    dispatcher.fail((ProtocolHead) exchange.head(), failure, json);
    HttpTrace.sending(trace, failure.status(), failure.getMessage());
    if (failure.field() != null) {
      exchange.field(failure.field());
    }
    send(failure.status());
  }

  @Override
  public HttpFailure explain(RuntimeException failure) {
    HttpFailure known = known(failure);
    if (known == null) {
      LOGGER.log(Level.ERROR, failed(), failure);
      String told = ServerPaths.hide(failure.toString(), List.of());
      return HttpFailure.closing(Status.INTERNAL, "internal error: " + told);
    }
    if (known.status() == Status.INTERNAL) {
      LOGGER.log(Level.ERROR, failed() + ": " + known.getMessage());
    }
    return known;
  }

  /** What a failure of what is used here means to a client; null: it was not foreseen. */
  static HttpFailure known(RuntimeException failure) {
    return switch (failure) {
      case HttpFailure known -> known;
      case NereidException known -> new HttpFailure(Status.of(known), known.getMessage());
      case JsonException known -> HttpFailure.badRequest(known.getMessage());
      case HeapShare.Exhausted known ->
          HttpFailure.closing(
              known.isPassing() ? Status.UNAVAILABLE : Status.CONTENT_TOO_LARGE,
              known.getMessage());
      default -> null;
    };
  }

  /** How a line of the log about the present request begins. */
  private String failed() {
    ProtocolHead head = (ProtocolHead) exchange.head();
    return "request "
        + log.requestId()
        + " failed"
        + (head == null ? "" : ", " + head.method() + " " + head.target());
  }
}
