package io.nereid;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Runs parts of a test on threads and brings their failures back to it. */
final class Failures {

  /** A part of a test. */
  @FunctionalInterface
  interface Part {
    void run() throws Exception;
  }

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  Thread startVirtual(Part part) {
    return Thread.ofVirtual().start(guarded(part));
  }

  Thread startPlatform(Part part) {
    return Thread.ofPlatform().start(guarded(part));
  }

  private Runnable guarded(Part part) {
    return () -> {
      try {
        part.run();
      } catch (Throwable t) {
        failures.add(t);
      }
    };
  }

  boolean any() {
    return !failures.isEmpty();
  }

  void join(Thread... threads) throws InterruptedException {
    for (Thread thread : threads) {
      if (!thread.join(RuntimeTest.PATIENCE)) {
        AssertionError hanging = new AssertionError("a thread hangs: " + thread);
        hanging.setStackTrace(thread.getStackTrace());
        throw hanging;
      }
    }
    Throwable first = failures.poll();
    if (first != null) {
      throw new AssertionError(failures.size() + 1 + " parts failed, the first: " + first, first);
    }
  }
}
