package io.nereid.server.http;

import io.helidon.webserver.WebServer;
import io.nereid.server.shared.Listening;
import io.nereid.server.shared.ServerHealth;
import io.nereid.server.shared.ServerState;
import io.nereid.server.tls.TlsSettings;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The HTTP frontend: a listening socket and the connections that came through it. */
public final class HttpServer {

  /** Helidon tells a lot at its start. Held here: loggers are kept weakly. */
  private static final Logger HELIDON_LOG = Logger.getLogger("io.helidon");

  private static final long POLL_NS = 2_000_000;

  private final ServerHealth health;
  private final ConnectionWatch watch;
  private final WebServer server;

  private HttpServer(ServerHealth health, ConnectionWatch watch, WebServer server) {
    this.health = health;
    this.watch = watch;
    this.server = server;
  }

  /** Listens; returns when connections are accepted. */
  public static HttpServer start(ServerState state, HttpOptions options) {
    HELIDON_LOG.setLevel(Level.OFF); // a port that is taken is its stack trace; ours is a line
    TlsSettings tls = options.tls().map(TlsSettings::open).orElse(null);
    ConnectionWatch watch = new ConnectionWatch();
    HttpContext context =
        new HttpContext(
            state,
            options.limits(),
            watch,
            options.access(),
            HeapBudget.ofThisProcess(),
            options.forwarding());
    AcceptedChannels channels = new AcceptedChannels();
    WebServer server =
        WebServer.builder()
            .address(options.address())
            .port(options.port())
            .connectionOptions(channels)
            .addConnectionSelector(new ConnectionSelector(context, channels, tls))
            .protocolsDiscoverServices(false)
            .shutdownHook(false)
            .shutdownGracePeriod(options.exitTimeout().plusSeconds(1))
            .build();
    try {
      Listening.start(server, options.address(), options.port());
    } catch (RuntimeException e) {
      watch.close();
      throw e;
    }
    HELIDON_LOG.setLevel(Level.WARNING);
    return new HttpServer(state.health(), watch, server);
  }

  /** Where it listens. */
  public int port() {
    return server.port();
  }

  /** How many connections are open. */
  public int connectionCount() {
    return watch.count();
  }

  /**
   * Accepts nothing more, lets requests that have begun finish, and closes all connections.
   *
   * @param timeout when requests that are still under way are given up
   * @return whether all of them finished
   */
  public boolean stop(Duration timeout) {
    long deadlineNs = System.nanoTime() + timeout.toNanos();
    health.stop();
    watch.announceStop();
    Thread stopping = Thread.ofPlatform().name("nrd-http-stop").start(server::stop);
    while (watch.isBusy() && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
    boolean finished = !watch.isBusy();
    watch.closeIdle();
    watch.abortAll();
    try {
      stopping.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    watch.close();
    return finished;
  }
}
