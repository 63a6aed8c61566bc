package io.nereid.server.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.internal.repository.ServerPaths;
import io.nereid.server.http.seam.ClientConnection;
import io.nereid.server.http.seam.ClientGoneException;
import io.nereid.server.http.seam.RequestEvents;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.shared.LoadReport;
import io.nereid.server.trace.Trace;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;

/**
 * Answers requests for the protocol's endpoints, one after the other of a connection: checks
 * access, and runs inferences itself; other classes serve the other endpoints. Used by the thread
 * that serves the connection.
 */
final class ProtocolHandler implements RequestEvents, RequestInHand {

  private static final Logger LOGGER = System.getLogger(ProtocolHandler.class.getName());

  private static final Header JSON = HeaderValues.CONTENT_TYPE_JSON;
  private static final Header EVENTS =
      HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8");
  private static final HeaderName REQUEST_ID = HeaderNames.create("X-Request-Id");
  private static final HeaderName LOAD = HeaderNames.create("endpoint-load-metrics");

  private final HttpContext context;
  private final HttpExchange exchange;
  private final JsonBuffer json;
  private final InferHandler infer;
  private final GenerateHandler generate;
  private final Dispatcher dispatcher;
  private final ConsoleHandler console;
  private final RequestLog log;
  private final Execution execution = new Execution();

  private ProtocolHead kept; // the head of the last request, if it may be repeated
  private Trace trace; // the present request's; null: not traced
  private boolean tellsLoad; // true: the present reply tells the client the server's load

  ProtocolHandler(HttpContext context, ClientConnection connection) {
    this.context = context;
    exchange = new HttpExchange(connection, context.limits(), context.health()::isStopping);
    json = new JsonBuffer(connection.heap(), connection.reader()::breathe);
    log = new RequestLog(context.state(), exchange);
    infer = new InferHandler(context, this, log);
    generate = new GenerateHandler(context, this, log);
    dispatcher = new Dispatcher(context, exchange, this::model);
    console = new ConsoleHandler(context, exchange);
  }

  /** The handler of the connection that a request came through. */
  static ProtocolHandler of(ServerRequest request) {
    return (ProtocolHandler) ClientConnection.of(request).events();
  }

  @Override
  public void began() {
    tellsLoad = false;
    exchange.began();
    log.begin();
  }

  @Override
  public void replying(int status) {
    exchange.replying(status);
  }

  @Override
  public void ended() {
    try {
      log.end();
    } finally {
      exchange.endBody();
      json.clear();
      infer.end();
      if (trace != null) {
        trace.end();
        trace = null;
      }
    }
  }

  /** Answers a request that Helidon has matched with an endpoint. */
  void serve(Endpoint endpoint, ServerRequest request, ServerResponse response) throws IOException {
    ProtocolHead head = new ProtocolHead(request, endpoint, context.forwarding());
    exchange.start(request, response, head);
    try {
      answer(head);
    } catch (NereidException e) {
      if (exchange.clientGone()) {
        throw new ClientGoneException(); // the client's leaving made it fail
      }
      throw e;
    }
    exchange.finish();
  }

  @Override
  public void repeated(byte[] bytes, int from, int length) {
    exchange.startRepeated(kept, bytes, from, length);
    try {
      try {
        answer(kept);
      } catch (CloseConnectionException e) {
        throw e;
      } catch (RuntimeException | Error e) {
        fail(e);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void answer(ProtocolHead head) throws IOException {
    if (context.origins().isPreflight(head)) {
      OriginCheck.PREFLIGHT_FIELDS.forEach(exchange::field);
      send(Status.OK);
      return;
    }
    context.origins().admit(head);
    AccessCheck.admit(context.access(), head);
    Endpoint endpoint = head.route().endpoint();
    if (endpoint == Endpoint.UNKNOWN) {
      throw context.notFound(head.path());
    }
    if (!endpoint.allows(head.method())) {
      throw HttpFailure.withField(
          Status.METHOD_NOT_ALLOWED, "Method Not Allowed", "Allow", endpoint.allow());
    }
    RequestBody body = exchange.content();
    if (!endpoint.isInference()) {
      if (!endpoint.isConsole()) {
        send(dispatcher.dispatch(head, body, json));
      } else if (console.answer(head, json, this)) {
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
      default -> {
        if (infer.infer(head, body, json)) {
          kept = head;
        }
      }
    }
  }

  // ---- What inferences and the generate extension share ----------------------------------------

  @Override
  public HttpExchange exchange() {
    return exchange;
  }

  @Override
  public Trace trace() {
    return trace;
  }

  @Override
  public Model model(Route route) {
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

  @Override
  public void begin(InferRequest request) {
    execution.request = request;
    exchange.connection().running(execution);
  }

  @Override
  public void answered() {
    exchange.connection().answered();
    execution.request = null;
  }

  /**
   * Cancels the running request when the client goes away. All requests of a connection use one
   * object.
   */
  private static final class Execution implements Runnable {
    /** Null: none runs. The guard's state publishes it to the watch's thread. */
    private InferRequest request;

    /** Called by the thread that watches connections. */
    @Override
    public void run() {
      InferRequest running = request;
      if (running != null) {
        running.cancel();
      }
    }
  }

  // ---- Replies ---------------------------------------------------------------------------------

  /** Sends the content of the buffer as the reply. */
  private void send(Status status) throws IOException {
    if (json.size() > 0) {
      exchange.field(JSON);
    }
    addFields(exchange.head());
    exchange.send(status, json, List.of());
  }

  @Override
  public void beginEvents(Status status) throws IOException {
    HttpTrace.sending(trace, status, null);
    exchange.field(EVENTS);
    addFields(exchange.head());
    exchange.beginParts(status);
  }

  @Override
  public void addFields(ProtocolHead head) {
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

  /** Answers a request that failed; Helidon calls it while nothing of a reply was sent. */
  void fail(Throwable failure) throws IOException {
    HttpFailure told = explain(failure);
    if (told.closing()) {
      exchange.closeAfterReply();
    }
    exchange.clearReply();
    dispatcher.fail(exchange.head(), told, failure, json);
    HttpTrace.sending(trace, told.status(), told.getMessage());
    if (told.field() != null) {
      exchange.field(told.field());
    }
    send(told.status());
  }

  private HttpFailure explain(Throwable failure) {
    if (failure instanceof OutOfMemoryError) {
      // One allocation failed, and its memory is free again: other requests may go on.
      return HttpFailure.closing(Status.UNAVAILABLE, "not enough heap memory for the request");
    }
    HttpFailure known = failure instanceof RuntimeException e ? HttpFailure.of(e) : null;
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

  /** The beginning of a log line about the present request. */
  private String failed() {
    ProtocolHead head = exchange.head();
    return "request "
        + log.requestId()
        + " failed"
        + (head == null ? "" : ", " + head.method() + " " + head.target());
  }
}
