package io.nereid.server.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A listener whose system has nothing to give. */
class ListenerTest {

  private static final int PATIENCE_SECONDS = 20;

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final BlockingQueue<SocketChannel> accepted = new LinkedBlockingQueue<>();
  private final CountDownLatch ended = new CountDownLatch(1);

  /** A real one, which fails as it is told to. */
  private final class Channel extends ServerSocketChannel {
    private final ServerSocketChannel real;

    Channel() throws IOException {
      super(SelectorProvider.provider());
      real = ServerSocketChannel.open();
      real.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @Override
    public SocketChannel accept() throws IOException {
      Throwable failure = failures.poll();
      switch (failure) {
        case null -> {
          return real.accept();
        }
        case IOException e -> throw e;
        case Error e -> throw e;
        default -> throw new IllegalStateException(failure);
      }
    }

    @Override
    public ServerSocket socket() {
      return real.socket();
    }

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) {
      throw new UnsupportedOperationException();
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) {
      throw new UnsupportedOperationException();
    }

    @Override
    public <T> T getOption(SocketOption<T> name) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
      return Set.of();
    }

    @Override
    public SocketAddress getLocalAddress() throws IOException {
      return real.getLocalAddress();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
      real.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
      real.configureBlocking(block);
    }
  }

  private Socket connect(Listener listener) throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), listener.port());
  }

  private SocketChannel next() throws InterruptedException {
    return accepted.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void whatFailsIsSurvived() throws Exception {
    for (int i = 0; i < 3; i++) {
      failures.add(new IOException("Too many open files"));
      failures.add(new OutOfMemoryError("as if"));
      failures.add(new StackOverflowError());
    }
    try (Listener listener = new Listener("test", new Channel(), accepted::add, ended::countDown)) {
      while (!failures.isEmpty()) {
        Thread.onSpinWait();
      }
      // Clients are sent away as long as descriptors are thought to be missing.
      for (SocketChannel connection = null; connection == null; ) {
        try (Socket client = connect(listener)) {
          client.setSoTimeout(PATIENCE_SECONDS * 1000);
          connection = accepted.poll(1, TimeUnit.SECONDS);
          assertTrue(connection != null || client.getInputStream().read() < 0, "it hangs");
        }
      }
    }
    assertEquals(1, ended.getCount(), "it was closed, and said that it ended by itself");
  }

  @Test
  void aConnectionThatCannotBeTakenIsClosed() throws Exception {
    Queue<Throwable> first = new ConcurrentLinkedQueue<>();
    first.add(new OutOfMemoryError("as if"));
    Listener.Taker taker =
        connection -> {
          if (first.poll() instanceof Error e) {
            throw e;
          }
          accepted.add(connection);
        };
    try (Listener listener =
            Listener.open("test", InetAddress.getLoopbackAddress(), 0, taker, ended::countDown);
        Socket unlucky = connect(listener);
        Socket lucky = connect(listener);
        SocketChannel connection = next()) {
      unlucky.setSoTimeout(PATIENCE_SECONDS * 1000);
      assertEquals(-1, unlucky.getInputStream().read());
      assertEquals(lucky.getLocalSocketAddress(), connection.getRemoteAddress());
    }
  }

  @Test
  void anEndThatNobodyAskedForIsTold() throws Exception {
    Channel channel = new Channel();
    try (Listener listener = new Listener("test", channel, accepted::add, ended::countDown)) {
      assertTrue(listener.port() > 0);
      channel.close();
      assertTrue(ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
    }
    assertFalse(channel.isOpen());
  }
}
