package io.nereid.server.metrics;

import io.helidon.common.media.type.MediaTypes;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Method;
import io.helidon.http.PathMatchers;
import io.helidon.http.Status;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.http1.Http1Config;
import io.nereid.server.shared.Listening;
import io.nereid.server.shared.ServerState;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Serves metrics at a port of their own: it answers, however busy the other ports are. */
public final class MetricsServer {

  private static final String PATH = "/metrics";
  private static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  /** Scrapers are few, and ask seldom. */
  private static final int MAX_CONNECTIONS = 64;

  private static final Duration IDLE_TIME = Duration.ofMinutes(2);

  private final ServerState state;
  private final Map<String, LongSupplier> connections;
  private final MetricsOptions options;
  private final SummaryMetrics summaries;
  private final WebServer server;
  private volatile Machine machine;

  private MetricsServer(
      ServerState state, MetricsOptions options, Map<String, LongSupplier> connections) {
    this.state = state;
    this.connections = connections;
    this.options = options;
    summaries = new SummaryMetrics(options.config().quantiles());
    server =
        WebServer.builder()
            .address(options.address())
            .port(options.port())
            .protocolsDiscoverServices(false)
            .addProtocol(Http1Config.create())
            .maxPayloadSize(0)
            .maxTcpConnections(MAX_CONNECTIONS)
            .idleConnectionTimeout(IDLE_TIME)
            .shutdownHook(false)
            .shutdownGracePeriod(Duration.ZERO)
            .routing(this::route)
            .build();
  }

  /**
   * Listens.
   *
   * @param connections of each protocol, how many are open
   */
  public static MetricsServer start(
      ServerState state, MetricsOptions options, Map<String, LongSupplier> connections) {
    MetricsServer metrics = new MetricsServer(state, options, connections);
    Listening.start(metrics.server, options.address(), options.port());
    return metrics;
  }

  /** Where it listens. */
  public int port() {
    return server.port();
  }

  /** Listens no more. */
  public void stop() {
    server.stop();
  }

  private void route(HttpRouting.Builder routing) {
    routing
        .route(Method.predicate(Method.GET, Method.HEAD), PathMatchers.exact(PATH), this::metrics)
        .any(PATH, MetricsServer::wrongMethod)
        .any(MetricsServer::notFound);
  }

  private void metrics(ServerRequest request, ServerResponse response) {
    MetricsText text = new MetricsText();
    ModelMetrics.write(state.nereid(), options.config(), summaries, text);
    ServerMetrics.write(state, connections, text);
    Machine known = machine();
    known.gpus().ifPresent(gpus -> gpus.write(text));
    known.process().write(text);
    response.headers().set(HeaderNames.CONTENT_TYPE, CONTENT_TYPE);
    response.send(text.bytes());
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

  private static void wrongMethod(ServerRequest request, ServerResponse response) {
    response.header(HeaderValues.create(HeaderNames.ALLOW, "GET, HEAD"));
    error(response, Status.METHOD_NOT_ALLOWED_405, "Method Not Allowed");
  }

  private static void notFound(ServerRequest request, ServerResponse response) {
    error(response, Status.NOT_FOUND_404, "Not Found: this port serves " + PATH);
  }

  private static void error(ServerResponse response, Status status, String message) {
    response.headers().contentType(MediaTypes.APPLICATION_JSON);
    response.status(status).send("{\"error\":\"" + message + "\"}");
  }
}
