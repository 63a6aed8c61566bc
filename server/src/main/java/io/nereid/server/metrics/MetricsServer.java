package io.nereid.server.metrics;

import io.helidon.common.media.type.MediaTypes;
import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.HttpMediaType;
import io.helidon.http.Status;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.nereid.server.access.EndpointGroup;
import io.nereid.server.access.Refusal;
import io.nereid.server.http.seam.ConnectionWatch;
import io.nereid.server.http.seam.ErrorBody;
import io.nereid.server.http.seam.HttpListener;
import io.nereid.server.http.seam.RequestEvents;
import io.nereid.server.http.seam.SeamContext;
import io.nereid.server.http.seam.SeamLimits;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerState;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;

/** Serves metrics at their own port, which answers even if the other ports are busy. */
public final class MetricsServer {

  private static final Logger LOGGER = System.getLogger(MetricsServer.class.getName());

  private static final String PATH = "/metrics";
  private static final Header TEXT =
      HeaderValues.createCached(
          HeaderNames.CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");

  private static final String OPEN_TYPE = "application/openmetrics-text";
  private static final String VERSION = "1.0.0";
  private static final Header OPEN_TEXT =
      HeaderValues.createCached(
          HeaderNames.CONTENT_TYPE, OPEN_TYPE + "; version=" + VERSION + "; charset=utf-8");

  private static final int HEAD_BYTES = 16 << 10;
  private static final Duration REQUEST_TIME = Duration.ofMinutes(2);
  private static final Duration IDLE_TIME = Duration.ofMinutes(2);

  /** The most bytes of a request's body; scrapers send none. */
  private static final int MAX_BODY_BYTES = 1024;

  private final ServerState state;
  private final MetricsOptions options;
  private final SummaryMetrics summaries;
  private final HttpListener listener;
  private volatile Machine machine;

  private MetricsServer(ServerState state, MetricsOptions options) {
    this.state = state;
    this.options = options;
    summaries = new SummaryMetrics(options.config().quantiles());
    listener =
        HttpListener.open(
            "metrics",
            options.address(),
            options.port(),
            options.tls(),
            context(state, options),
            connection -> new RequestEvents() {},
            HttpListener.routing()
                .addFilter(this::admit)
                .get(PATH, this::answer)
                .head(PATH, (request, response) -> response.header(type(wantsOpen(request))).send())
                .any(PATH, (request, response) -> refuse(response))
                .any((request, response) ->
                    tell(response, Status.NOT_FOUND_404, "Not Found: this port serves " + PATH))
                .error(Throwable.class, (request, response, failure) -> fail(response, failure)),
            state.health()::listenerEnded);
  }

  /**
   * Makes the context of the port, with its own heap budget, so that it answers when requests have
   * used up theirs.
   */
  private static SeamContext context(ServerState state, MetricsOptions options) {
    return new SeamContext(
        new SeamLimits(
            HEAD_BYTES, MAX_BODY_BYTES, options.connectionCount(), REQUEST_TIME, IDLE_TIME),
        new ConnectionWatch("nrd-metrics"),
        new HeapBudget(Long.MAX_VALUE / 4),
        state.frontends().failures("metrics"),
        "");
  }

  /** Admits clients that may read statistics; for other paths any token will do. */
  private void admit(FilterChain chain, RoutingRequest request, RoutingResponse response) {
    EndpointGroup group = request.path().path().equals(PATH) ? EndpointGroup.STATISTICS : null;
    Optional<Refusal> refusal =
        options
            .access()
            .check(group, field -> request.headers().first(HeaderNames.create(field)).orElse(null));
    if (refusal.isEmpty()) {
      chain.proceed();
      return;
    }
    boolean unknown = refusal.get().kind() == Refusal.Kind.UNAUTHENTICATED;
    if (unknown) {
      response.header(HeaderNames.WWW_AUTHENTICATE, "Bearer");
    }
    tell(
        response,
        unknown ? Status.UNAUTHORIZED_401 : Status.FORBIDDEN_403,
        refusal.get().message());
  }

  private static void refuse(ServerResponse response) {
    response.header(HeaderNames.ALLOW, "GET, HEAD");
    tell(response, Status.METHOD_NOT_ALLOWED_405, "Method Not Allowed");
  }

  private static void fail(ServerResponse response, Throwable failure) {
    LOGGER.log(Level.ERROR, "metrics could not be told", failure);
    tell(response, Status.INTERNAL_SERVER_ERROR_500, "internal error: " + failure.getMessage());
  }

  /** Replies with a status. Further input is not read: scrapers send no bodies. */
  private static void tell(ServerResponse response, Status status, String message) {
    response
        .status(status)
        .header(HeaderValues.CONTENT_TYPE_JSON)
        .header(HeaderValues.CONNECTION_CLOSE)
        .send(ErrorBody.json(message));
  }

  /** Listens. */
  public static MetricsServer start(ServerState state, MetricsOptions options) {
    MetricsServer server = new MetricsServer(state, options);
    state.frontends().metricsAt(server.port());
    return server;
  }

  /** The port at which this listens. */
  public int port() {
    return listener.port();
  }

  /** Stops listening. */
  public void stop() {
    state.health().stop();
    listener.stop(Duration.ZERO);
  }

  private void answer(ServerRequest request, ServerResponse response) {
    boolean open = wantsOpen(request);
    response.header(type(open)).send(text(open));
  }

  private static Header type(boolean open) {
    return open ? OPEN_TEXT : TEXT;
  }

  /**
   * True if the request prefers OpenMetrics, or ranks it equal to the text format; curl does not.
   * An Accept field that cannot be read asks for the text format.
   */
  private static boolean wantsOpen(ServerRequest request) {
    try {
      return prefersOpen(request);
    } catch (RuntimeException e) { // Helidon throws several kinds, some of them for each type
      return false;
    }
  }

  private static boolean prefersOpen(ServerRequest request) {
    double open = 0;
    double plain = 0;
    for (HttpMediaType type : request.headers().acceptedTypes()) {
      if (type.mediaType().text().equals(OPEN_TYPE)
          && type.parameters().getOrDefault("version", VERSION).equals(VERSION)) {
        open = Math.max(open, type.qualityFactor());
      } else if (type.test(MediaTypes.TEXT_PLAIN)) {
        plain = Math.max(plain, type.qualityFactor());
      }
    }
    return open > 0 && open >= plain;
  }

  /** The present metrics as text. */
  private byte[] text(boolean open) {
    MetricsText text = new MetricsText(open);
    ModelMetrics.write(state, options.config(), summaries, text);
    ServerMetrics.write(state, text);
    Machine known = machine();
    known.gpus().ifPresent(gpus -> gpus.write(text));
    known.process().write(text);
    text.foreign(state.nereid().pluginMetrics());
    return text.bytes();
  }

  /** The metrics of the machine and process, which do not come from the server. */
  private record Machine(ProcessMetrics process, Optional<GpuMetrics> gpus) {

    static Machine of(MetricsOptions options) {
      long intervalNs = options.interval().toNanos();
      return new Machine(
          new ProcessMetrics(options.cpuMetrics(), intervalNs),
          options.gpuMetrics() ? Optional.of(new GpuMetrics(intervalNs)) : Optional.empty());
    }
  }

  /** Made at the first use, because that takes a while and would delay the start. */
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
