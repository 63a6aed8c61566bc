package io.nereid.server.http.seam;

import io.nereid.server.shared.FailureLog;
import io.nereid.server.shared.ReserveDescriptor;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * A listening socket whose {@code accept} fails only when it is closed: a lack of descriptors or
 * memory costs one connection and a pause. Connections that still wait when it is closed end
 * without a reset. Helidon's listener thread accepts, and the thread that stops the server closes.
 */
final class SurvivingListener extends ServerSocketChannel {

  /** The pause in accepting after a failure, in which descriptors or memory may become free. */
  private static final long PAUSE_NS = 50_000_000;

  private final ServerSocketChannel socket;
  private final Selector selector;
  private final ReserveDescriptor reserve = new ReserveDescriptor();
  private final FailureLog failures = new FailureLog("HTTP could not accept a connection");
  private volatile Runnable ended = () -> {};
  private volatile Runnable refused = () -> {};

  SurvivingListener(SelectorProvider provider, ServerSocketChannel socket, Selector selector)
      throws IOException {
    super(provider);
    this.socket = socket;
    this.selector = selector;
    socket.configureBlocking(false);
    socket.register(selector, SelectionKey.OP_ACCEPT);
  }

  /**
   * Has others told.
   *
   * @param closed runs when the socket turns out to be closed though this channel was not
   * @param lost runs when a connection is closed because it could not be accepted
   */
  void tell(Runnable closed, Runnable lost) {
    ended = closed;
    refused = lost;
  }

  @Override
  public SocketChannel accept() throws IOException {
    while (isOpen()) {
      try {
        SocketChannel connection = socket.accept();
        if (connection != null) {
          return connection;
        }
        selector.select();
        selector.selectedKeys().clear();
      } catch (IOException | RuntimeException | Error e) {
        survive(e);
      }
    }
    throw new AsynchronousCloseException();
  }

  private void survive(Throwable failure) throws IOException {
    if (!isOpen()) {
      return;
    }
    if (!socket.isOpen()) {
      ended.run();
      throw new AsynchronousCloseException();
    }
    try {
      try {
        refuseOne();
      } finally {
        failures.log(failure);
      }
    } catch (IOException | RuntimeException | Error e) {
      // There is nothing left for this either.
    }
    LockSupport.parkNanos(PAUSE_NS);
  }

  /** Closes the connection that waits longest, with the descriptor that is kept for this. */
  private void refuseOne() throws IOException {
    reserve.release();
    try {
      SocketChannel connection = socket.accept();
      if (connection != null) {
        connection.close();
        refused.run();
      }
    } finally {
      reserve.hold();
    }
  }

  /** Closes connections that were not accepted, so that clients see an end and no reset. */
  @Override
  protected void implCloseSelectableChannel() throws IOException {
    try {
      for (SocketChannel one = socket.accept(); one != null; one = socket.accept()) {
        try (SocketChannel waiting = one) {
          waiting.configureBlocking(false);
          waiting.shutdownOutput();
          waiting.read(ByteBuffer.allocate(8 << 10)); // unread input would make it a reset
        }
      }
    } catch (IOException e) {
      // The client has left, or no descriptor is left: the other connections end with the socket.
    } finally {
      socket.close();
      selector.close(); // wakes the accepting thread
      reserve.close();
    }
  }

  @Override
  protected void implConfigureBlocking(boolean block) {
    // Accepting pauses either way.
  }

  @Override
  public ServerSocketChannel bind(SocketAddress address, int backlog) throws IOException {
    socket.bind(address, backlog);
    return this;
  }

  @Override
  public <T> ServerSocketChannel setOption(SocketOption<T> option, T value) throws IOException {
    socket.setOption(option, value);
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> option) throws IOException {
    return socket.getOption(option);
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return socket.supportedOptions();
  }

  @Override
  public ServerSocket socket() {
    return socket.socket();
  }

  @Override
  public SocketAddress getLocalAddress() throws IOException {
    return socket.getLocalAddress();
  }
}
