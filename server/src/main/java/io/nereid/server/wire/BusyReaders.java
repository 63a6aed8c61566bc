package io.nereid.server.wire;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/**
 * Threads of the platform for connections that read all the time, as long as these are few. The
 * kernel wakes such a thread when there is something to read; a virtual thread is woken by one that
 * polls, and through a carrier, which was a quarter of the processor time of large messages. With
 * many, there is always something to read: threads would gain nothing, and whoever has none would
 * wait behind them. Called on the connections' own threads.
 */
final class BusyReaders {

  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

  /** Connections at a time that are few. */
  private static final int FEW = 4 * PROCESSORS;

  /** Threads at a time: a connection that falls silent keeps its own until it reads again. */
  private static final int MOST_THREADS = 3 * FEW;

  private final String threadName;
  private final Semaphore threads = new Semaphore(MOST_THREADS);

  /** Guarded by itself: of connections that are busy, one more than are few at most. */
  private final Set<ReadingPace> busy = new HashSet<>();

  /** For threads of that name. */
  BusyReaders(String threadName) {
    this.threadName = threadName;
  }

  /** Whether a connection that is busy is one of few. */
  boolean areFew(ReadingPace pace, long nowNs) {
    synchronized (busy) {
      busy.removeIf(other -> !other.isBusy(nowNs));
      if (busy.size() <= FEW) {
        busy.add(pace);
      }
      return busy.size() <= FEW;
    }
  }

  /**
   * Has a thread of the platform do some work, and waits for it. If there is none the connection is
   * not taken for one that is busy for a while. What the work throws is thrown here.
   */
  void run(ReadingPace pace, Runnable work) {
    if (!threads.tryAcquire()) {
      pace.restart();
      return;
    }
    CompletableFuture<Void> done = new CompletableFuture<>();
    try {
      Thread.ofPlatform().daemon().name(threadName).start(() -> run(work, done));
    } catch (OutOfMemoryError e) { // of the system, or of the heap
      pace.restart();
      done.complete(null);
    }
    try {
      done.join();
    } finally {
      threads.release();
    }
  }

  private static void run(Runnable work, CompletableFuture<Void> done) {
    try {
      work.run();
      done.complete(null);
    } catch (Throwable t) { // the connection fails of it
      done.completeExceptionally(t);
    }
  }
}
