package io.nereid.server.metrics;

import io.nereid.server.http.HttpLimits;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.http.HttpServer;
import io.nereid.server.http.Page;
import io.nereid.server.shared.ServerState;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Serves metrics at a port of their own: it answers, however busy the other ports are. */
public final class MetricsServer {

  private static final String PATH = "/metrics";
  private static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private static final Duration IDLE_TIME = Duration.ofMinutes(2);

  /** The request that a scraper sends has no body. */
  private static final int MAX_BODY_BYTES = 1024;

  private final ServerState state;
  private final Map<String, LongSupplier> connections;
  private final MetricsOptions options;
  private final SummaryMetrics summaries;
  private final HttpServer server;
  private volatile Machine machine;

  private MetricsServer(
      ServerState state, MetricsOptions options, Map<String, LongSupplier> connections) {
    this.state = state;
    this.connections = connections;
    this.options = options;
    summaries = new SummaryMetrics(options.config().quantiles());
    server = HttpServer.start(state, http(options), "metrics", new Metrics());
  }

  private static HttpOptions http(MetricsOptions options) {
    HttpLimits usual = HttpLimits.DEFAULT;
    HttpLimits limits =
        new HttpLimits(
            MAX_BODY_BYTES,
            usual.headBytes(),
            usual.chunkCount(),
            usual.jsonDepth(),
            options.connectionCount(),
            usual.requestTime(),
            IDLE_TIME);
    return HttpOptions.DEFAULT
        .withAddress(options.address())
        .withPort(options.port())
        .withLimits(limits);
  }

  /**
   * Listens.
   *
   * @param connections of each protocol, how many are open
   */
  public static MetricsServer start(
      ServerState state, MetricsOptions options, Map<String, LongSupplier> connections) {
    return new MetricsServer(state, options, connections);
  }

  /** Where it listens. */
  public int port() {
    return server.port();
  }

  /** Listens no more. */
  public void stop() {
    server.stop(Duration.ZERO);
  }

  private final class Metrics implements Page {

    @Override
    public String path() {
      return PATH;
    }

    @Override
    public String contentType() {
      return CONTENT_TYPE;
    }

    @Override
    public byte[] bytes() {
      MetricsText text = new MetricsText();
      ModelMetrics.write(state.nereid(), options.config(), summaries, text);
      ServerMetrics.write(state, connections, text);
      Machine known = machine();
      known.gpus().ifPresent(gpus -> gpus.write(text));
      known.process().write(text);
      return text.bytes();
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
