package io.nereid.server.wire;

import io.nereid.server.http.TestServer;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The thread that looks after connections, when looking itself goes wrong. */
class ConnectionWatchTest {

  private static final WireLimits HASTY =
      new WireLimits(1, 256, 1, 10, Duration.ofMillis(1), Duration.ofMillis(1));

  private final AtomicInteger ended = new AtomicInteger();
  private final AtomicInteger closed = new AtomicInteger();

  /** A connection that cannot be ended, for want of memory, or can. */
  private final class Channel implements ClientChannel {
    private final boolean exhausted;

    Channel(boolean exhausted) {
      this.exhausted = exhausted;
    }

    @Override
    public void shutdownInput() {
      if (exhausted) {
        throw new OutOfMemoryError("as if");
      }
      ended.incrementAndGet();
    }

    @Override
    public void close() {
      closed.incrementAndGet();
    }

    @Override
    public SocketChannel socket() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isEncrypted() {
      return false;
    }

    @Override
    public void open() {}

    @Override
    public int read(ByteBuffer to) {
      return -1;
    }

    @Override
    public int write(ByteBuffer from) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void configureBlocking(boolean blocking) {}

    @Override
    public void shutdownOutput() {}

    @Override
    public boolean isOpen() {
      return true;
    }
  }

  private ConnectionGuard idle(boolean exhausted) {
    Channel channel = new Channel(exhausted);
    ConnectionGuard guard = new ConnectionGuard(channel, HASTY);
    guard.idle();
    return guard;
  }

  @Test
  void oneConnectionWithoutMemoryDoesNotEndTheWatch() {
    try (ConnectionWatch watch = new ConnectionWatch("nrd-http")) {
      watch.add(idle(true));
      TestServer.await(() -> closed.get() == 1, "what cannot be ended is not closed");
      watch.add(idle(false));
      TestServer.await(() -> ended.get() == 1, "nobody looks after the others");
    }
  }
}
