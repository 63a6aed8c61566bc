package io.nereid.server.wire;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What other threads want done on a connection's loop, and when that is to look after what takes
 * its time. Any thread adds; the loop alone runs.
 */
final class LoopTasks {

  private static final Logger LOGGER = System.getLogger(LoopTasks.class.getName());

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
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
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOGGER.log(Level.ERROR, "what was to be done for a connection failed", e);
      }
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
