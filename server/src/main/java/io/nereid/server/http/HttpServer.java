package io.nereid.server.http;

import io.nereid.server.shared.Frontends;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.wire.ConnectionWatch;
import io.nereid.server.wire.HttpPort;
import io.nereid.server.wire.WireContext;
import io.nereid.server.wire.WireLimits;
import java.time.Duration;

/** The HTTP frontend: the protocol on a port of its own. Started and stopped by the server. */
public final class HttpServer {

  private final HttpPort port;
  private final ServerHealth health;

  private HttpServer(HttpPort port, ServerHealth health) {
    this.port = port;
    this.health = health;
  }

  /** Listens; returns when connections are accepted. */
  public static HttpServer start(ServerState state, HttpOptions options) {
    ServerHealth health = state.health();
    WireContext context = context(state, options, new ConnectionWatch("nrd-http"), state.heap());
    HttpPort port =
        HttpPort.open(
            "HTTP",
            options.address(),
            options.port(),
            options.tls(),
            context,
            health::listenerEnded);
    state.frontends().add("http", place(options, port.number()), port::connectionCount);
    return new HttpServer(port, health);
  }

  private static Frontends.Place place(HttpOptions options, int port) {
    return new Frontends.Place(
        options.address(),
        port,
        options.tls().map(ServerTlsOptions::certificate),
        options.tls().map(ServerTlsOptions::isMutual).orElse(false));
  }

  /** What connections share whose requests are answered by the protocol. */
  public static WireContext context(
      ServerState state, HttpOptions options, ConnectionWatch watch, HeapBudget heap) {
    HttpContext context = HttpContext.of(state, options);
    HttpLimits limits = options.limits();
    return new WireContext(
        new WireLimits(
            limits.bodyBytes(),
            limits.headBytes(),
            limits.chunkCount(),
            limits.connectionCount(),
            limits.requestTime(),
            limits.idleTime()),
        watch,
        heap,
        state.health()::isStopping,
        exchange -> new ProtocolHandler(context, exchange),
        "; --http-max-connections sets the limit");
  }

  /** Where it listens. */
  public int port() {
    return port.number();
  }

  /** How many connections are open. */
  public int connectionCount() {
    return port.connectionCount();
  }

  /**
   * Accepts nothing more, lets requests that have begun finish, and closes all connections.
   *
   * @param timeout when requests that are still under way are given up
   * @return whether all of them finished
   */
  public boolean stop(Duration timeout) {
    health.stop();
    return port.stop(timeout);
  }
}
