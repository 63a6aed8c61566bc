package io.nereid.server.http;

import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.Listener;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.server.tls.TlsSettings;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A frontend that speaks HTTP: a listening socket and the connections that came through it. */
public final class HttpServer {

  private static final String HTTP_1 = "http/1.1";
  static final String HTTP_2 = "h2";

  private static final long POLL_NS = 2_000_000;

  /** How long connections that are given up may take to notice. */
  private static final long LEAVE_NS = 1_000_000_000;

  private final ServerHealth health;
  private final HttpContext context;
  private final TlsSettings tls; // null: bytes travel as they are
  private final Listener listener;

  private HttpServer(ServerState state, HttpContext context, HttpOptions options, String protocol) {
    health = state.health();
    this.context = context;
    tls = options.tls().map(TlsSettings::open).orElse(null);
    listener =
        Listener.open(
            protocol, options.address(), options.port(), this::take, health::listenerEnded);
  }

  /** Listens; returns when connections are accepted. */
  public static HttpServer start(ServerState state, HttpOptions options) {
    return start(state, options, "HTTP", state.heap(), null);
  }

  /**
   * The same for a port where there is nothing but a page. It takes no part in what requests hold
   * of the heap, so it answers when there is nothing left of that.
   *
   * @param protocol what the port is called in the log
   */
  public static HttpServer start(
      ServerState state, HttpOptions options, String protocol, Page page) {
    return start(state, options, protocol, new HeapBudget(Long.MAX_VALUE / 4), page);
  }

  private static HttpServer start(
      ServerState state, HttpOptions options, String protocol, HeapBudget heap, Page page) {
    ConnectionWatch watch = new ConnectionWatch();
    try {
      HttpContext context = HttpContext.of(state, options, watch, heap, page);
      return new HttpServer(state, context, options, protocol);
    } catch (RuntimeException | Error e) {
      watch.close();
      throw e;
    }
  }

  /** On the listener's thread. */
  private void take(SocketChannel socket) throws IOException {
    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
    socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    HttpConnection connection = new HttpConnection(context, channel(socket));
    boolean started = false;
    try {
      if (connection.admit()) {
        Thread.ofVirtual().name("nrd-http").start(connection);
        started = true;
      }
    } finally {
      if (!started) {
        connection.end();
      }
    }
  }

  private ClientChannel channel(SocketChannel socket) {
    return tls == null
        ? new PlainChannel(socket)
        : new TlsChannel(socket, () -> tls.newEngine(HTTP_2, HTTP_1));
  }

  /** Where it listens. */
  public int port() {
    return listener.port();
  }

  /** How many connections are open. */
  public int connectionCount() {
    return context.watch().count();
  }

  /**
   * Accepts nothing more, lets requests that have begun finish, and closes all connections.
   *
   * @param timeout when requests that are still under way are given up
   * @return whether all of them finished
   */
  public boolean stop(Duration timeout) {
    long deadlineNs = System.nanoTime() + timeout.toNanos();
    ConnectionWatch watch = context.watch();
    health.stop();
    watch.announceStop();
    listener.close();
    while (watch.isBusy() && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
    boolean finished = !watch.isBusy();
    watch.closeIdle();
    watch.abortAll();
    while (watch.count() > 0 && System.nanoTime() - deadlineNs < LEAVE_NS) {
      LockSupport.parkNanos(POLL_NS);
    }
    watch.close();
    return finished;
  }
}
