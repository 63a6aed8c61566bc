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

  /** What few connections want of the processors, in shares of {@link ReadingPace}. */
  private static final int FEW = ReadingPace.WHOLE * PROCESSORS;

  /** Threads at a time: a connection that falls silent keeps its own until it reads again. */
  private static final int MOST_THREADS = 3 * FEW;

  private final String threadName;
  private final Semaphore threads = new Semaphore(MOST_THREADS);

  /** Guarded by itself: of connections that are busy, hardly more than are few. */
  private final Set<ReadingPace> busy = new HashSet<>();

  /** For threads of that name. */
  BusyReaders(String threadName) {
    this.threadName = threadName;
  }

  /** Whether a connection that is busy is one of few. */
  boolean areFew(ReadingPace pace, long nowNs) {
    synchronized (busy) {
      busy.removeIf(other -> other.share(nowNs) == 0);
      if (wanted(nowNs) <= FEW) {
        busy.add(pace);
      }
      return wanted(nowNs) <= FEW;
    }
  }

  private int wanted(long nowNs) {
    int shares = 0;
    for (ReadingPace pace : busy) {
      shares += pace.share(nowNs);
    }
    return shares;
  }

  /**
   * Has a thread of the platform do some work, and waits for it. If there is none the connection is
   * not taken for one that is busy for a while. What the work throws is thrown here.
   */
  void run(ReadingPace pace, Runnable work) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    if (!threads.tryAcquire()) {
      pace.restart();
      return;
    }
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
