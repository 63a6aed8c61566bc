package io.nereid.server.wire;

import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The threads of a connection that carries many requests at a time, its seats, of which one at a
 * time reads. That one serves short requests itself, and has another one read before it waits for
 * anything but the client. So a seat is spare whenever it serves one. Everything is called with the
 * connection's lock, where nothing else is said.
 */
final class ReadingTurns<S extends ReadingTurns.Seat> {

  /** One of the threads, which waits for its turn without the lock. */
  abstract static class Seat implements Runnable {

    private volatile Thread thread; // null: it was not even begun
    private volatile boolean dismissed;

    /** Has its thread see what there is to do. */
    final void call() {
      LockSupport.unpark(thread);
    }

    final void dismiss() {
      dismissed = true;
      call();
    }

    /** Begins with the calling thread, which is its own from now on. */
    final void begin() {
      thread = Thread.currentThread();
    }

    /** Waits until there is something to do; false: there never will be. */
    final boolean awaitTurn(ReadingTurns<?> turns) {
      while (turns.reader != this && !hasWork() && !dismissed) {
        LockSupport.park(this);
        Thread.interrupted(); // was meant for the last request, if it came late
      }
      return !dismissed;
    }

    /** Whether it has something to do but to read. */
    abstract boolean hasWork();
  }

  private final WireContext context;
  private final ReentrantLock lock;
  private final Supplier<S> newSeat;
  private final Condition left;
  private final S first;
  private final ArrayDeque<S> idle = new ArrayDeque<>(); // the last is used next
  private int count = 1;
  private boolean ended;

  /** Written with the lock; a seat waits without it to be the one. Null: nothing more is read. */
  private volatile Seat reader;

  /** A number for what the reading seat is at; 0: it waits for the client, or has yet to come. */
  private volatile long work;

  private long workCount;
  private long seenWork; // of the watch

  /** With one seat, which reads first; {@link #runFirst} has the connection's thread be it. */
  ReadingTurns(WireContext context, ReentrantLock lock, Supplier<S> newSeat) {
    this.context = context;
    this.lock = lock;
    this.newSeat = newSeat;
    left = lock.newCondition();
    first = newSeat.get();
    reader = first;
  }

  /** Runs the first seat, without the lock; returns when that is not needed any more. */
  void runFirst() {
    first.run();
  }

  /** Whether a seat is the one that reads; also without the lock. */
  boolean isReading(Seat seat) {
    return reader == seat;
  }

  /** Whether a seat has nothing to do; false: there is no memory for one. */
  boolean haveSpare() {
    return !idle.isEmpty() || addSpare();
  }

  private boolean addSpare() {
    if (!context.heap().takeForConnection(WireContext.STREAM_BYTES)) {
      return false;
    }
    boolean started = false;
    try {
      S seat = newSeat.get();
      idle.add(seat);
      Thread.ofVirtual().name("nrd-http-stream").start(seat);
      started = true;
      count++;
    } finally {
      if (!started) {
        idle.clear();
        context.heap().giveBackOfConnection(WireContext.STREAM_BYTES);
      }
    }
    return true;
  }

  /** Takes the spare seat, to give it something to do. */
  S takeSpare() {
    return idle.removeLast();
  }

  /** Has another seat read if this one does: it is about to wait, or to take its time. */
  void handOn(Seat seat) {
    if (reader == seat) {
      reader = idle.removeLast();
      work = 0; // and it cannot seem stuck before it has come
      reader.call();
    }
  }

  /** The same without the lock. */
  void stepAside(Seat seat) {
    if (reader == seat) {
      lock.lock();
      handOn(seat);
      lock.unlock();
    }
  }

  /** A seat that does not read has nothing to do. */
  void rest(S seat) {
    if (ended) {
      seat.dismiss();
    } else {
      idle.add(seat);
    }
  }

  /** Lets go of what is more than this of seats that have nothing to do. */
  void keepIdle(int most) {
    while (idle.size() > most) {
      idle.removeFirst().dismiss();
    }
  }

  /** Nothing more is read. */
  void endReading() {
    ended = true;
    reader = null;
    keepIdle(0);
  }

  /** A seat's thread ends. */
  void left(S seat) {
    if (seat != first) {
      context.heap().giveBackOfConnection(WireContext.STREAM_BYTES);
    }
    count--;
    left.signalAll();
  }

  /** Waits until all threads have ended. */
  void awaitAll() {
    while (count > 0) {
      left.awaitUninterruptibly();
    }
  }

  // ---- Where the reading seat is stuck ---------------------------------------------------------

  /** The reading seat begins with something that is short. */
  void atWork() {
    work = ++workCount;
  }

  /** The reading seat waits for the client. */
  void atRest() {
    work = 0;
  }

  /** Whether there is a reading seat that does not wait for the client. */
  boolean isReaderAtWork() {
    return reader != null && work != 0;
  }

  /** Says whether the seat that reads is at what it was last time; by the watch, without lock. */
  boolean seemsStuck() {
    long now = work;
    boolean stuck = now != 0 && now == seenWork;
    seenWork = now;
    return stuck;
  }

  /** Has another seat read if the one that seemed stuck is still at the same; by the watch. */
  void handOnStuck() {
    if (reader != null && work == seenWork && haveSpare()) {
      handOn(reader);
    }
  }
}
