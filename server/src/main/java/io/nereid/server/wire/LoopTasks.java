package io.nereid.server.wire;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongUnaryOperator;

/**
 * What other threads want done on a connection's loop, and when that is to look after what takes
 * its time. Any thread adds; the loop alone runs.
 */
final class LoopTasks {

  private static final Logger LOGGER = System.getLogger(LoopTasks.class.getName());

  /** When it is looked again, if that failed. */
  private static final long LOOK_AGAIN_NS = 1_000_000_000;

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private volatile long runCount;
  private long seenRuns; // by the watch
  private volatile long nextLookNs = System.nanoTime();

  void add(Runnable task) {
    tasks.add(task);
  }

  boolean isEmpty() {
    return tasks.isEmpty();
  }

  /** Runs at most so many; what fails keeps no other one from being run. */
  void run(int most) {
    for (int i = 0; i < most; i++) {
      Runnable task = tasks.poll();
      if (task == null) {
        return;
      }
      runCount++; // by the loop alone
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOGGER.log(Level.ERROR, "what was to be done for a connection failed", e);
      }
    }
  }

  /** Whether some wait, and none was run since the watch asked last. */
  boolean isStuck() {
    long runs = runCount;
    boolean isStuck = !tasks.isEmpty() && runs == seenRuns;
    seenRuns = runs;
    return isStuck;
  }

  /** Looks after what takes its time; that gives when it is to be done next. */
  void look(LongUnaryOperator look) {
    long nextNs = System.nanoTime() + LOOK_AGAIN_NS;
    try {
      nextNs = look.applyAsLong(System.nanoTime());
    } finally {
      lookAt(nextNs);
    }
  }

  /** The loop has something to look after at that time. */
  void lookAt(long timeNs) {
    if (timeNs - nextLookNs < 0) {
      nextLookNs = timeNs;
    }
  }

  /** Whether it is time to look; the next time is said then. */
  boolean isTimeToLook() {
    long nowNs = System.nanoTime();
    if (nowNs - nextLookNs < 0) {
      return false;
    }
    nextLookNs = nowNs + Long.MAX_VALUE / 2;
    return true;
  }
}
