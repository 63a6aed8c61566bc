package io.nereid.perf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** One thread that waits for replies on any number of connections. */
final class HttpLoop implements AutoCloseable {

  /** Large replies come in few reads, and what was read is still in the processor's cache. */
  private static final int READ_BYTES = 256 << 10;

  private final Selector selector;
  private final Tally tally = new Tally();
  private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
  private final Queue<HttpSlot> arriving = new ConcurrentLinkedQueue<>();
  private final Thread thread;
  private volatile boolean closed;

  HttpLoop(int index) throws IOException {
    selector = Selector.open();
    thread = Thread.ofPlatform().name("nrd-perf-" + index).daemon().start(this::run);
  }

  Tally tally() {
    return tally;
  }

  /** Where replies are read into, by the thread of the loop only. */
  ByteBuffer in() {
    return in;
  }

  boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  /** Takes over a connected slot. */
  void attach(HttpSlot slot) {
    arriving.add(slot);
    selector.wakeup();
  }

  void wakeUp() {
    selector.wakeup();
  }

  private void run() {
    while (!closed) {
      try {
        selector.select(this::serve);
        for (HttpSlot slot = arriving.poll(); slot != null; slot = arriving.poll()) {
          slot.register(selector);
        }
      } catch (IOException e) {
        throw new UncheckedIOException("the selector failed", e);
      }
    }
  }

  private void serve(SelectionKey key) {
    HttpSlot slot = (HttpSlot) key.attachment();
    try {
      slot.serve(key.readyOps());
    } catch (CancelledKeyException e) {
      return; // closed meanwhile
    }
  }

  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    try {
      thread.join();
      selector.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      return; // nothing is lost
    }
  }
}
