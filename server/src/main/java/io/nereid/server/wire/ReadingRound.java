package io.nereid.server.wire;

import io.nereid.server.shared.FailureLog;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Connections of HTTP/1.1 that one thread reads: it goes round those that have sent something, and
 * serves their short requests itself. Where a request would keep the others waiting, that thread
 * becomes the connection's own, and a new one goes round ({@link #release}). So one thread at a
 * time goes round, and what only that one uses needs no lock. It is a virtual one; while there is
 * much to read a thread of the platform does that for it ({@link BusyReaders}).
 */
final class ReadingRound {

  /** A connection that a round can have. One thread at a time calls it. */
  interface Member {

    /** Its channel. */
    PlainChannel plain();

    /**
     * Serves the request that has come, by the thread that goes round; false: it is to be ended.
     */
    boolean serveInRound();

    /** Serves all that follows, by the thread that served it in the round and is its own now. */
    void goOn();

    /** Closes it, and gives back what it held. */
    void end();
  }

  /** After so many requests, other virtual threads have the carrier if they want it. */
  private static final int REQUESTS_AT_A_TIME = 16;

  /** How long nothing is read after a failure: others give back meanwhile what there was not. */
  private static final long PAUSE_NS = 5_000_000;

  private static final long AT_REST = 0;

  private final BusyReaders readers;
  private final Selector selector;
  private final FailureLog failures = new FailureLog("HTTP could not read connections");
  private final AtomicInteger members = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock(); // for whoever has another thread go round
  private volatile boolean closed;
  private volatile boolean unattended; // for want of memory: the watch tries again

  /** Connections that come, and those that somebody closed. */
  private final Queue<Member> news = new ConcurrentLinkedQueue<>();

  /** The number of the request that is served; whoever clears it may go round, or say who may. */
  private final AtomicLong work = new AtomicLong(AT_REST);

  private long seenWork; // of the watch

  // Of the thread that goes round, and then of the next one.
  private final ArrayDeque<Member> ready = new ArrayDeque<>();
  private final Consumer<SelectionKey> isReady = key -> ready.add((Member) key.attachment());
  private Member served;
  private long count;

  // How long it rested, for the watch.
  private volatile long restedNs;
  private volatile long restsSinceNs;
  private volatile boolean rests;
  private long seenRestNs;

  /** Where connections are to go from here; null: they stay. */
  private volatile Heir heir;

  /** Another round that takes every second connection, or all. */
  private record Heir(ReadingRound round, boolean all) {}

  /** Has a thread go round, once there are connections. */
  ReadingRound(BusyReaders readers) throws IOException {
    this.readers = readers;
    selector = Selector.open();
    sendRound();
  }

  /** How many connections it has. */
  int size() {
    return members.get();
  }

  private void sendRound() {
    try {
      Thread.ofVirtual().name("nrd-http-round").start(new Walk()::go);
      unattended = false;
    } catch (OutOfMemoryError | RejectedExecutionException e) {
      unattended = true;
    }
  }

  // ---- From other threads ----------------------------------------------------------------------

  /** Takes a connection whose next request has not come; false: it keeps its own thread. */
  boolean take(Member connection) {
    members.incrementAndGet();
    connection.plain().enter(this, connection);
    tell(connection);
    if (closed && news.remove(connection)) {
      forget(connection.plain());
      return false;
    }
    return true;
  }

  /** Has the thread that goes round see to a connection that came, or that was closed. */
  void tell(Member connection) {
    news.add(connection);
    selector.wakeup();
  }

  /** Some connections, or all of them, go over to another round. */
  void giveTo(ReadingRound another, boolean all) {
    heir = new Heir(another, all);
    selector.wakeup();
  }

  /** Ends with the connections that it has. */
  void close() {
    closed = true;
    selector.wakeup();
  }

  /**
   * A connection leaves: the thread that serves it is its own from now on, and another one goes
   * round. Called by the former, before it waits or takes its time.
   */
  void release(PlainChannel channel) {
    lock.lock();
    try {
      if (channel.isIn(this)) { // else the watch was first
        work.set(AT_REST);
        handOn(channel);
      }
    } finally {
      lock.unlock();
    }
  }

  private void handOn(PlainChannel channel) {
    try {
      forget(channel);
    } finally {
      sendRound();
    }
  }

  private void forget(PlainChannel channel) {
    if (channel.leave(this)) {
      members.decrementAndGet();
    }
  }

  // ---- By the watch ----------------------------------------------------------------------------

  /** Looks whether the thread that goes round is stuck at a request; at each tick. */
  void look() {
    long now = work.get();
    if (unattended || (now != AT_REST && now == seenWork)) {
      lock.lock();
      try {
        if (unattended) {
          sendRound();
        } else if (work.compareAndSet(now, AT_REST)) {
          handOn(served.plain());
        }
      } finally {
        lock.unlock();
      }
    }
    seenWork = now;
  }

  /** For how long of the time since the last call nothing was there to be done. */
  long takeRestNs(long nowNs) {
    long all = restedNs + (rests ? Math.max(0, nowNs - restsSinceNs) : 0);
    long since = Math.max(0, all - seenRestNs);
    seenRestNs = all;
    return since;
  }

  // ---- By the thread that goes round -----------------------------------------------------------

  /** How one thread goes round, until another one does. */
  private final class Walk {

    private final ReadingPace pace = new ReadingPace(readers);
    private boolean isOver; // another thread goes round now
    private Member own; // what this thread serves from then on; null: nothing

    private void go() {
      while (!isOver && !closed) {
        goOn(false);
        if (pace.wantsThread()) {
          readers.run(pace, () -> goOn(true));
        }
      }
      pace.restart(); // whoever goes round now may be as busy
      if (own != null) {
        own.goOn();
      } else if (!isOver) {
        end();
      }
    }

    /** Goes round as long as that is as busy. */
    private void goOn(boolean busy) {
      while (pace.wantsThread() == busy && !isOver && !closed) {
        try {
          if (ready.isEmpty()) {
            awaitClients();
          }
        } catch (IOException | RuntimeException | Error e) {
          survive(e);
        }
        while (!isOver && !ready.isEmpty()) {
          serve(ready.poll());
        }
      }
    }

    /** Serves a connection that has sent something. */
    private void serve(Member connection) {
      PlainChannel channel = connection.plain();
      if (!channel.isIn(ReadingRound.this)) {
        return;
      }
      long mine = ++count;
      served = connection;
      work.set(mine);
      boolean goesOn = serveNow(connection);
      if (!work.compareAndSet(mine, AT_REST)) {
        isOver = true;
        if (goesOn) {
          lock.lock(); // until the watch has made it this thread's
          lock.unlock();
          own = connection;
        }
        return;
      }
      if (mine % REQUESTS_AT_A_TIME == 0 && !pace.wantsThread()) {
        Thread.yield();
      }
      pace.read(0); // whatever it was, it was little
    }
  }

  private void survive(Throwable failure) {
    try {
      failures.log(failure);
    } catch (Throwable again) {
      // There is not even memory for this.
    }
    LockSupport.parkNanos(PAUSE_NS);
  }

  private void awaitClients() throws IOException {
    served = null;
    Thread.interrupted(); // was meant for the last request, if it came late
    // It takes note of a wakeup, too: so what that was for is looked at before there is a rest.
    selector.selectNow(isReady);
    if (ready.isEmpty() && news.isEmpty() && heir == null && !closed) {
      rest();
    }
    if (heir != null) {
      give();
    }
    for (Member next = news.poll(); next != null; next = news.poll()) {
      receive(next);
    }
  }

  private void rest() throws IOException {
    long sinceNs = System.nanoTime();
    restsSinceNs = sinceNs;
    rests = true;
    try {
      selector.select(isReady);
    } finally {
      rests = false;
      restedNs = restedNs + System.nanoTime() - sinceNs;
    }
  }

  private void receive(Member connection) {
    PlainChannel channel = connection.plain();
    if (!channel.isIn(this)) {
      return; // it has ended already, or left
    }
    boolean waits = false;
    try {
      channel.awaitIn(selector);
      waits = true;
    } catch (IOException | RuntimeException e) {
      // It was closed.
    } finally {
      if (!waits) {
        endOf(connection);
      }
    }
  }

  /** From now on every second connection, or every one, is another round's. */
  private void give() {
    Heir to = heir;
    heir = null;
    boolean gives = true;
    for (SelectionKey key : selector.keys()) {
      Member connection = (Member) key.attachment();
      if (gives && connection.plain().isIn(this)) {
        forget(connection.plain());
        if (!to.round().take(connection)) {
          connection.end();
        }
      }
      gives = to.all() || !gives;
    }
  }

  /** Whether the connection goes on. Nothing that goes wrong in it keeps others from being read. */
  private boolean serveNow(Member connection) {
    boolean goesOn = false;
    try {
      goesOn = connection.serveInRound();
    } catch (Throwable e) {
      // There was not even memory to say so.
    }
    if (!goesOn) {
      endOf(connection);
    }
    return goesOn;
  }

  private void endOf(Member connection) {
    forget(connection.plain());
    connection.end();
  }

  private void end() {
    for (SelectionKey key : selector.keys()) {
      endHere((Member) key.attachment());
    }
    for (Member next = news.poll(); next != null; next = news.poll()) {
      endHere(next);
    }
    try {
      selector.close();
    } catch (IOException e) {
      // It is of no use any more either way.
    }
  }

  private void endHere(Member connection) {
    if (connection.plain().isIn(this)) {
      endOf(connection);
    }
  }
}
