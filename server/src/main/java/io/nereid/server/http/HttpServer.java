package io.nereid.server.http;

import io.nereid.server.http.seam.ConnectionWatch;
import io.nereid.server.http.seam.HttpListener;
import io.nereid.server.http.seam.SeamContext;
import io.nereid.server.shared.Frontends;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import java.time.Duration;

/** The HTTP frontend, which serves the protocol on its own port. The server starts and stops it. */
public final class HttpServer {

  private final HttpListener listener;
  private final ServerHealth health;

  private HttpServer(HttpListener listener, ServerHealth health) {
    this.listener = listener;
    this.health = health;
  }

  /** Listens; returns when connections are accepted. */
  public static HttpServer start(ServerState state, HttpOptions options) {
    HttpListener listener = listen(state, options, state.heap());
    state
        .frontends()
        .add(
            "http",
            new Frontends.Place(listener.port(), options.tls().isPresent()),
            listener::connectionCount);
    return new HttpServer(listener, state.health());
  }

  /** Serves the protocol, with its own part of the heap. */
  static HttpListener listen(ServerState state, HttpOptions options, HeapBudget heap) {
    HttpContext context = HttpContext.of(state, options);
    return HttpListener.open(
        "HTTP",
        options.address(),
        options.port(),
        options.tls(),
        new SeamContext(
            options.limits().ofConnections(),
            new ConnectionWatch("nrd-http"),
            heap,
            state.frontends().failures("http"),
            "; --http-max-connections sets the limit"),
        connection -> new ProtocolHandler(context, connection),
        Routes.of(options.console().map(ConsoleProvider::path)),
        state.health()::listenerEnded);
  }

  /** The port at which the frontend listens. */
  public int port() {
    return listener.port();
  }

  /** The number of open connections. */
  public int connectionCount() {
    return listener.connectionCount();
  }

  /**
   * Accepts no more requests, lets those that have begun finish, and closes all connections.
   *
   * @param timeout when requests that are still under way are given up
   * @return whether all of them finished
   */
  public boolean stop(Duration timeout) {
    health.stop();
    return listener.stop(timeout);
  }
}
