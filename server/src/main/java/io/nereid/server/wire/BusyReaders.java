package io.nereid.server.wire;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/**
 * Threads of the platform for connections that read all the time, as many as there are processors.
 * The kernel wakes such a thread when there is something to read; a virtual thread is woken by one
 * that polls, and through a carrier, which was a quarter of the processor time of large messages.
 * Called on the connections' own threads.
 */
public final class BusyReaders {

  private final String threadName;
  private final Semaphore free = new Semaphore(Runtime.getRuntime().availableProcessors());

  /** For threads of that name. */
  public BusyReaders(String threadName) {
    this.threadName = threadName;
  }

  /**
   * Has a thread of the platform do some work, and waits for it; false: there is none free. What
   * the work throws is thrown here.
   */
  boolean run(Runnable work) {
    if (!free.tryAcquire()) {
      return false;
    }
    try {
      CompletableFuture<Void> done = new CompletableFuture<>();
      Thread.ofPlatform().daemon().name(threadName).start(() -> run(work, done));
      done.join();
      return true;
    } catch (OutOfMemoryError e) {
      return false; // it was not started
    } finally {
      free.release();
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
