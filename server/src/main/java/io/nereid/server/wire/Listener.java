package io.nereid.server.wire;

import io.nereid.server.shared.FailureLog;
import io.nereid.server.shared.ReserveDescriptor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.Channel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * A listening socket, and the thread that accepts connections from it. Whatever fails there, for
 * want of descriptors or of memory, costs one connection and a pause: only {@link #close} ends it.
 * The thread keeps the process alive until then.
 */
public final class Listener implements AutoCloseable {

  /** Takes over a connection. When it throws, the connection is closed for it. */
  public interface Taker {
    /** Called on the listener's thread, which must not wait. */
    void take(SocketChannel connection) throws IOException;
  }

  private static final Logger LOGGER = System.getLogger(Listener.class.getName());

  /** Connections that the system keeps while they wait to be accepted. */
  private static final int BACKLOG = 1024;

  /**
   * How long nothing is accepted after a failure: others give back meanwhile what there was not.
   */
  private static final long PAUSE_NS = 50_000_000;

  private final String protocol;
  private final ServerSocketChannel channel;
  private final Taker taker;
  private final Runnable ended;
  private final ReserveDescriptor reserve = new ReserveDescriptor();
  private final FailureLog failures;
  private final Thread thread;
  private volatile boolean closed;

  /** For a channel that listens, and which this takes over. */
  Listener(String protocol, ServerSocketChannel channel, Taker taker, Runnable ended) {
    this.protocol = protocol;
    this.channel = channel;
    this.taker = taker;
    this.ended = ended;
    failures = new FailureLog(protocol + " could not accept a connection");
    String name = "nrd-" + protocol.toLowerCase(Locale.ROOT) + "-accept";
    thread = Thread.ofPlatform().daemon(false).name(name).start(this::run);
  }

  /**
   * Listens.
   *
   * @param protocol what it is called in the log
   * @param ended is run if it ends although nobody closed it
   * @throws NereidException if the port is not to be had
   */
  public static Listener open(
      String protocol, InetAddress address, int port, Taker taker, Runnable ended) {
    ServerSocketChannel channel = null;
    try {
      channel = ServerSocketChannel.open();
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.bind(new InetSocketAddress(address, port), BACKLOG);
      return new Listener(protocol, channel, taker, ended);
    } catch (IOException | RuntimeException | Error e) {
      closeQuietly(channel);
      if (e instanceof Error error) {
        throw error;
      }
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "expected to listen at "
              + address.getHostAddress()
              + ":"
              + port
              + ", got nothing ("
              + e.getMessage()
              + "): is the port in use, or the address of another machine?");
    }
  }

  /** Where it listens. */
  public int port() {
    return channel.socket().getLocalPort();
  }

  private void run() {
    while (channel.isOpen()) {
      SocketChannel connection = null;
      try {
        connection = channel.accept();
        taker.take(connection);
      } catch (Throwable e) { // an Error too: the next connection may find what this one did not
        survive(connection, e);
      }
    }
    if (!closed) {
      LOGGER.log(Level.ERROR, protocol + " listens no more, although nobody stopped it");
      ended.run();
    }
  }

  private void survive(SocketChannel connection, Throwable failure) {
    closeQuietly(connection);
    if (!channel.isOpen() || (connection != null && failure instanceof IOException)) {
      return; // the end, or only this client is gone
    }
    try {
      if (connection == null && failure instanceof IOException) {
        refuseOne();
      }
      failures.log(failure);
    } catch (Throwable again) {
      // There is not even memory for this.
    }
    LockSupport.parkNanos(PAUSE_NS);
  }

  /** Closes the connection that waits longest, with the descriptor that is kept for this. */
  private void refuseOne() throws IOException {
    reserve.release();
    try {
      channel.configureBlocking(false);
      closeQuietly(channel.accept());
    } finally {
      channel.configureBlocking(true);
      reserve.hold();
    }
  }

  private static void closeQuietly(Channel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (Throwable e) {
      // It is of no use any more either way.
    }
  }

  /** Listens no more; returns when the thread has ended. */
  @Override
  public void close() {
    closed = true;
    closeQuietly(channel);
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    reserve.close();
  }
}
