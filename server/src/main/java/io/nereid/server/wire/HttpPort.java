package io.nereid.server.wire;

import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.TlsSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * A listening socket and the connections that came through it, encrypted or not. It speaks HTTP/1.1
 * and HTTP/2, with handlers above the wire that answer requests one by one; or HTTP/2 alone, with
 * whoever hears what happens to streams.
 */
public final class HttpPort {

  private static final String HTTP_1 = "http/1.1";

  /** What is agreed on by ALPN for HTTP/2. */
  static final String HTTP_2 = "h2";

  private static final long POLL_NS = 2_000_000;

  /** How long connections that are given up may take to notice. */
  private static final long LEAVE_NS = 1_000_000_000;

  private final ConnectionWatch watch;
  private final Function<ClientChannel, PortConnection> connections;
  private final String[] protocols; // offered by ALPN, the best first
  private final TlsSettings tls; // null: bytes travel as they are
  private final Listener listener;

  private HttpPort(
      String name,
      InetAddress address,
      int port,
      Optional<ServerTlsOptions> tls,
      ConnectionWatch watch,
      Function<ClientChannel, PortConnection> connections,
      Runnable ended,
      String... protocols) {
    this.watch = watch;
    this.connections = connections;
    this.protocols = protocols;
    this.tls = tls.map(TlsSettings::open).orElse(null);
    listener = Listener.open(name, address, port, this::take, ended);
  }

  /**
   * Listens; returns when connections are accepted.
   *
   * @param name what the port is called in the log
   * @param tls how connections are encrypted; empty: they are not
   * @param context what its connections share, whose watch it closes in the end
   * @param ended is run when it listens no more although nobody stopped it
   */
  public static HttpPort open(
      String name,
      InetAddress address,
      int port,
      Optional<ServerTlsOptions> tls,
      WireContext context,
      Runnable ended) {
    return open(
        name,
        address,
        port,
        tls,
        context.watch(),
        channel -> new HttpConnection(context, channel),
        ended,
        HTTP_2,
        HTTP_1);
  }

  /**
   * The same for connections that speak HTTP/2, and whose streams are served by their events.
   *
   * @param servers makes what serves a connection
   */
  public static HttpPort openForEvents(
      String name,
      InetAddress address,
      int port,
      Optional<ServerTlsOptions> tls,
      EventContext context,
      Function<EventConnection, ConnectionEvents> servers,
      Runnable ended) {
    return open(
        name,
        address,
        port,
        tls,
        context.watch(),
        channel -> new EventConnection(context, channel, servers),
        ended,
        HTTP_2);
  }

  private static HttpPort open(
      String name,
      InetAddress address,
      int port,
      Optional<ServerTlsOptions> tls,
      ConnectionWatch watch,
      Function<ClientChannel, PortConnection> connections,
      Runnable ended,
      String... protocols) {
    try {
      return new HttpPort(name, address, port, tls, watch, connections, ended, protocols);
    } catch (RuntimeException | Error e) {
      watch.close();
      throw e;
    }
  }

  /** On the listener's thread. */
  private void take(SocketChannel socket) throws IOException {
    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
    socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    PortConnection connection = connections.apply(channel(socket));
    boolean started = false;
    try {
      if (connection.admit()) {
        Thread.ofVirtual().name(connection.threadName()).start(connection);
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
        : new TlsChannel(new PlainChannel(socket), () -> tls.newEngine(protocols));
  }

  /** Where it listens. */
  public int number() {
    return listener.port();
  }

  /** How many connections are open. */
  public int connectionCount() {
    return watch.count();
  }

  /** Accepts nothing more, and tells clients so; requests that have begun go on. */
  public void refuse() {
    watch.announceStop();
    listener.close();
  }

  /**
   * Accepts nothing more, lets requests that have begun finish, and closes all connections.
   *
   * @param timeout when requests that are still under way are given up
   * @return whether all of them finished
   */
  public boolean stop(Duration timeout) {
    long deadlineNs = System.nanoTime() + timeout.toNanos();
    refuse();
    while (watch.isBusy() && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
    boolean finished = !watch.isBusy();
    watch.closeIdle();
    watch.abortAll();
    while (watch.count() > 0 && System.nanoTime() - deadlineNs < LEAVE_NS) {
      LockSupport.parkNanos(POLL_NS);
    }
    watch.closeAll();
    watch.close();
    return finished;
  }
}
