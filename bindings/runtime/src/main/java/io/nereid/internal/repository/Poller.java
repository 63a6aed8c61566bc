package io.nereid.internal.repository;

import io.nereid.internal.Checks;
import io.nereid.internal.ffi.CoreLog;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The thread {@code nrd-poll}, which looks for changes in the repositories. */
public final class Poller implements AutoCloseable {

  private final CountDownLatch stopped = new CountDownLatch(1);
  private final Thread thread;

  /** Starts to poll; the first time when one interval has passed. */
  public Poller(Runnable poll, Duration interval) {
    thread =
        Thread.ofPlatform()
            .daemon()
            .name("nrd-poll")
            .start(() -> run(poll, Checks.nanos(interval)));
  }

  private void run(Runnable poll, long intervalNs) {
    while (!isStoppedWithin(intervalNs)) {
      try {
        poll.run();
      } catch (RuntimeException | Error e) { // the failure may be gone in the next round
        if (stopped.getCount() > 0) {
          CoreLog.LOGGER.log(Level.WARNING, "looking for changed models failed", e);
        }
      }
    }
  }

  private boolean isStoppedWithin(long intervalNs) {
    try {
      return stopped.await(intervalNs, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      return true;
    }
  }

  /** Waits for a poll that is under way. */
  @Override
  public void close() {
    stopped.countDown();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
