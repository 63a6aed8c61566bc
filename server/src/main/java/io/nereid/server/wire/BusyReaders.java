package io.nereid.server.wire;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Threads of the platform for connections that read all the time, as many as there are processors.
 * The kernel wakes such a thread when there is something to read; a virtual thread is woken by one
 * that polls, and through a carrier, which was a quarter of the processor time of large messages. A
 * connection that falls silent makes place for another, and keeps its thread until it reads again.
 * Called on the connections' own threads.
 */
final class BusyReaders {

  private static final int MOST_PLACES = Runtime.getRuntime().availableProcessors();

  /** Threads at a time whose connections are silent. */
  private static final int MOST_SILENT = 8 * MOST_PLACES;

  private final String threadName;

  // Guarded by this.
  private final Set<ReadingPace> places = new HashSet<>();
  private int silent;

  /** For threads of that name. */
  BusyReaders(String threadName) {
    this.threadName = threadName;
  }

  /**
   * Has a thread of the platform do some work, and waits for it; false: there is none free. What
   * the work throws is thrown here.
   *
   * @param pace of the connection that does it
   */
  boolean run(ReadingPace pace, Runnable work) {
    if (!enter(pace)) {
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
      leave(pace);
    }
  }

  private synchronized boolean enter(ReadingPace pace) {
    if (places.size() == MOST_PLACES && !makePlace(System.nanoTime())) {
      return false;
    }
    return places.add(pace);
  }

  private boolean makePlace(long nowNs) {
    Optional<ReadingPace> resting = places.stream().filter(pace -> pace.isResting(nowNs)).findAny();
    if (resting.isEmpty() || silent == MOST_SILENT) {
      return false;
    }
    places.remove(resting.get());
    silent++;
    return true;
  }

  private synchronized void leave(ReadingPace pace) {
    if (!places.remove(pace)) {
      silent--;
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
