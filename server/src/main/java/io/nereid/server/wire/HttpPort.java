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

/**
 * A port that speaks HTTP/1.1 and HTTP/2, encrypted or not: a listening socket and the connections
 * that came through it. What is above the wire are the handlers, one for each connection.
 */
public final class HttpPort {

  private static final String HTTP_1 = "http/1.1";

  private static final long POLL_NS = 2_000_000;

  /** How long connections that are given up may take to notice. */
  private static final long LEAVE_NS = 1_000_000_000;

  private final WireContext context;
  private final TlsSettings tls; // null: bytes travel as they are
  private final Listener listener;

  private HttpPort(
      String name,
      InetAddress address,
      int port,
      Optional<ServerTlsOptions> tls,
      WireContext context,
      Runnable ended) {
    this.context = context;
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
    try {
      return new HttpPort(name, address, port, tls, context, ended);
    } catch (RuntimeException | Error e) {
      context.watch().close();
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
        : new TlsChannel(
            new PlainChannel(socket), () -> tls.newEngine(HttpConnection.HTTP_2, HTTP_1));
  }

  /** Where it listens. */
  public int number() {
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
