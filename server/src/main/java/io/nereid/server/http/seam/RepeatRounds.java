package io.nereid.server.http.seam;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Serves requests that repeat the last one of their connection, bypassing Helidon. The thread of a
 * round waits for several connections whose own threads sleep in their readers. It serves a request
 * whose head equals, byte for byte, the last one that Helidon parsed and routed on that connection,
 * and leaves all others to the sleeping thread. If a request has to wait or takes long, its thread
 * leaves the round to a new thread, and gives the connection back to its own thread after the
 * answer. There are half as many rounds as processors.
 */
final class RepeatRounds {

  private static final Logger LOGGER = System.getLogger(RepeatRounds.class.getName());

  /**
   * A connection as a round sees it. Only the round's thread calls it, except for {@link #wake}.
   */
  interface Member {

    /** Lets the round read from now on. */
    void enter(Round round, Selector selector);

    /** True if the round may serve the connection, whose own thread sleeps on. */
    boolean beginServing();

    /** Serves a repeat; false: the bytes are for the connection's own thread. */
    boolean serveRepeat(byte[] bytes);

    /** Ends serving a request; true: the round may serve another one. */
    boolean endServing();

    /** Ends the round's reading. */
    void leave();

    /** Wakes the connection's own thread, unless a round's thread is about to. */
    void wake();
  }

  /** The time of one request after which another thread takes over its round. */
  private static final long LONG_NS = 2_000_000;

  private final Round[] rounds =
      new Round[Math.max(1, Runtime.getRuntime().availableProcessors() / 2)];
  private final AtomicInteger next = new AtomicInteger();
  private volatile boolean closed;

  /** Takes a connection whose thread is about to sleep; false: there is no round. */
  boolean take(Member reader) {
    Round round = round(Math.floorMod(next.getAndIncrement(), rounds.length));
    return round != null && round.take(reader);
  }

  private synchronized Round round(int index) {
    try {
      if (rounds[index] == null && !closed) {
        rounds[index] = new Round();
      }
      return rounds[index];
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "no round", e);
      return null; // no descriptor is left, so connections keep their threads
    }
  }

  /** Replaces the threads of rounds that have served one request for long. */
  synchronized void look() {
    for (Round round : rounds) {
      if (round != null) {
        round.look();
      }
    }
  }

  synchronized void close() {
    closed = true;
    for (Round round : rounds) {
      if (round != null) {
        round.selector.wakeup();
      }
    }
  }

  /** Some connections, and the thread that waits for them. */
  final class Round {

    private final Selector selector = Selector.open();
    private final Queue<Member> arrivals = new ConcurrentLinkedQueue<>();

    @GuardedBy("this")
    private Thread owner;

    @GuardedBy("this")
    private Member served; // served by the owner; null: none

    @GuardedBy("this")
    private long sinceNs;

    Round() throws IOException {
      start();
    }

    private synchronized void start() {
      owner = Thread.ofPlatform().daemon().name("nrd-http-round").start(this::run);
    }

    private boolean take(Member reader) {
      arrivals.add(reader);
      selector.wakeup();
      return true;
    }

    private void run() {
      byte[] bytes = new byte[KeptHead.MOST_BYTES];
      try {
        while (isOwner() && !closed) {
          for (Member reader = arrivals.poll(); reader != null; reader = arrivals.poll()) {
            reader.enter(this, selector);
          }
          selector.select();
          SelectionKey[] ready = selector.selectedKeys().toArray(SelectionKey[]::new);
          selector.selectedKeys().clear();
          for (SelectionKey key : ready) {
            if (!serve((Member) key.attachment(), bytes)) {
              return;
            }
          }
        }
      } catch (IOException | RuntimeException | Error e) {
        LOGGER.log(Level.ERROR, "a round failed", e);
        if (isOwner() && !closed) {
          start(); // another thread goes on with the connections
        }
      } finally {
        if (closed) {
          closeSelector();
        }
      }
    }

    private void closeSelector() {
      try {
        selector.close();
      } catch (IOException e) {
        // The descriptor stays open.
      }
    }

    private synchronized boolean isOwner() {
      return owner == Thread.currentThread();
    }

    /** Serves a connection's bytes; true: this thread still owns the round. */
    private boolean serve(Member reader, byte[] bytes) {
      if (!reader.beginServing()) {
        return true; // the connection was closed
      }
      synchronized (this) {
        served = reader;
        sinceNs = System.nanoTime();
      }
      boolean stays = reader.serveRepeat(bytes);
      boolean stillOwner;
      synchronized (this) {
        stillOwner = isOwner();
        served = stillOwner ? null : served;
      }
      stays &= reader.endServing() && stillOwner;
      if (!stays) {
        if (stillOwner) {
          reader.leave();
        }
        reader.wake();
      }
      return stillOwner;
    }

    /**
     * Called when the owner's request is about to wait, or has taken long: another thread takes the
     * round.
     */
    synchronized void stepAside(Member reader) {
      if (served == reader && owner != null) {
        served = null;
        reader.leave();
        start();
      }
    }

    private synchronized void look() {
      if (served != null && System.nanoTime() - sinceNs > LONG_NS) {
        stepAside(served);
      }
    }
  }
}
