package io.nereid.server.metrics;

import io.nereid.server.json.JsonBuffer;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerState;
import io.nereid.server.wire.ConnectionWatch;
import io.nereid.server.wire.HttpExchange;
import io.nereid.server.wire.HttpFailure;
import io.nereid.server.wire.HttpHandler;
import io.nereid.server.wire.HttpPort;
import io.nereid.server.wire.ReplyField;
import io.nereid.server.wire.RequestHead;
import io.nereid.server.wire.Status;
import io.nereid.server.wire.WireContext;
import io.nereid.server.wire.WireLimits;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Serves metrics at a port of their own: it answers, however busy the other ports are. */
public final class MetricsServer {

  private static final Logger LOGGER = System.getLogger(MetricsServer.class.getName());

  private static final String PATH = "/metrics";
  private static final ReplyField TEXT =
      ReplyField.of("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  private static final ReplyField JSON = ReplyField.of("Content-Type", "application/json");

  private static final Duration IDLE_TIME = Duration.ofMinutes(2);

  /** The request that a scraper sends has no body. */
  private static final int MAX_BODY_BYTES = 1024;

  private final ServerState state;
  private final MetricsOptions options;
  private final SummaryMetrics summaries;
  private final HttpPort port;
  private volatile Machine machine;

  private MetricsServer(ServerState state, MetricsOptions options) {
    this.state = state;
    this.options = options;
    summaries = new SummaryMetrics(options.config().quantiles());
    port =
        HttpPort.open(
            "metrics",
            options.address(),
            options.port(),
            Optional.empty(),
            context(state, options),
            state.health()::listenerEnded);
  }

  /** It takes no part in what requests hold of the heap, so it answers when that is all taken. */
  private WireContext context(ServerState state, MetricsOptions options) {
    WireLimits usual = WireLimits.USUAL;
    WireLimits limits =
        new WireLimits(
            MAX_BODY_BYTES,
            usual.headBytes(),
            usual.chunkCount(),
            options.connectionCount(),
            usual.requestTime(),
            IDLE_TIME);
    return new WireContext(
        limits,
        new ConnectionWatch("nrd-http"),
        new HeapBudget(Long.MAX_VALUE / 4),
        state.health()::isStopping,
        Handler::new,
        "");
  }

  /** Listens. */
  public static MetricsServer start(ServerState state, MetricsOptions options) {
    return new MetricsServer(state, options);
  }

  /** Where it listens. */
  public int port() {
    return port.number();
  }

  /** Listens no more. */
  public void stop() {
    state.health().stop();
    port.stop(Duration.ZERO);
  }

  /** The text as it is now. */
  private byte[] text() {
    MetricsText text = new MetricsText();
    ModelMetrics.write(state.nereid(), options.config(), summaries, text);
    ServerMetrics.write(state, text);
    Machine known = machine();
    known.gpus().ifPresent(gpus -> gpus.write(text));
    known.process().write(text);
    text.foreign(state.nereid().pluginMetrics());
    return text.bytes();
  }

  /** Answers scrapers, one request after the other of a connection, on its thread. */
  private final class Handler implements HttpHandler {
    private final HttpExchange exchange;
    private final JsonBuffer body = new JsonBuffer();

    Handler(HttpExchange exchange) {
      this.exchange = exchange;
    }

    @Override
    public RequestHead newHead() {
      return new RequestHead();
    }

    @Override
    public void answer() throws IOException {
      RequestHead head = exchange.head();
      if (!head.path().equals(PATH)) {
        throw new HttpFailure(Status.NOT_FOUND, "Not Found: this port serves " + PATH);
      }
      if (!head.method().equals("GET") && !head.isHeadMethod()) {
        throw HttpFailure.withField(
            Status.METHOD_NOT_ALLOWED, "Method Not Allowed", "Allow", "GET, HEAD");
      }
      byte[] text = text();
      body.clear();
      body.write(text, 0, text.length);
      exchange.field(TEXT);
      exchange.send(Status.OK, body, List.of());
    }

    @Override
    public HttpFailure explain(RuntimeException failure) {
      LOGGER.log(Level.ERROR, "metrics could not be told", failure);
      return HttpFailure.closing(Status.INTERNAL, "internal error: " + failure.getMessage());
    }

    @Override
    public void fail(HttpFailure failure) throws IOException {
      body.clear();
      body.ascii("{\"error\":").string(String.valueOf(failure.getMessage())).write('}');
      if (failure.field() != null) {
        exchange.field(failure.field());
      }
      exchange.field(JSON);
      exchange.send(failure.status(), body, List.of());
    }

    @Override
    public void end() {
      body.clear();
    }
  }

  /** What is asked of others than this server. */
  private record Machine(ProcessMetrics process, Optional<GpuMetrics> gpus) {

    static Machine of(MetricsOptions options) {
      long intervalNs = options.interval().toNanos();
      return new Machine(
          new ProcessMetrics(options.cpuMetrics(), intervalNs),
          options.gpuMetrics() ? Optional.of(new GpuMetrics(intervalNs)) : Optional.empty());
    }
  }

  /** Made when it is first asked for: it takes a while, which a start should not. */
  private Machine machine() {
    Machine known = machine;
    if (known == null) {
      synchronized (this) {
        known = machine;
        if (known == null) {
          known = Machine.of(options);
          machine = known;
        }
      }
    }
    return known;
  }
}
