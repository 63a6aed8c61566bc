package io.nereid.internal.model;

import io.nereid.internal.Checks;
import io.nereid.internal.ffi.ModelHandle;
import io.nereid.model.ModelSpec;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The threads on which loads leave: they wait in native code, where a virtual thread would keep its
 * carrier, and longer than a caller does if a backend hangs. Any thread may call.
 */
final class Departures {

  private static final Logger LOGGER = System.getLogger("io.nereid");

  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The time that executions may take beyond the deadline before the caller goes on. */
  private static final long LEAVE_NS = TimeUnit.SECONDS.toNanos(1);

  private static final Executor THREADS =
      work -> Thread.ofPlatform().daemon().name("nrd-lifecycle").start(work);

  private final AtomicInteger underWay = new AtomicInteger();

  /** Runs work that takes as long as a model does: not on a virtual thread. */
  static void run(Runnable work) {
    if (Thread.currentThread().isVirtual()) {
      Checks.join(CompletableFuture.runAsync(work, THREADS));
    } else {
      work.run();
    }
  }

  /** Starts to finish loads, on a thread of its own, or on this one if the system has no other. */
  void start(Runnable departure) {
    underWay.incrementAndGet();
    Runnable counted =
        () -> {
          try {
            departure.run();
          } finally {
            underWay.decrementAndGet();
          }
        };
    try {
      THREADS.execute(counted);
    } catch (OutOfMemoryError e) {
      counted.run();
    }
  }

  /**
   * Finishes loads, and returns them when they are gone, or none when the departure says that
   * requests still execute at the deadline: then {@code late} takes the loads once they are gone.
   */
  <T> List<T> depart(Function<Runnable, List<T>> departure, Consumer<List<T>> late) {
    CompletableFuture<List<T>> gone = new CompletableFuture<>();
    start(() -> {
      try {
        List<T> all = departure.apply(() -> gone.complete(List.of()));
        if (!gone.complete(all)) {
          late.accept(all);
        }
      } catch (RuntimeException | Error e) {
        if (!gone.completeExceptionally(e)) {
          LOGGER.log(Level.ERROR, "unloading failed", e);
        }
      }
    });
    return Checks.join(gone);
  }

  /** Waits until no load is about to finish. */
  void await() {
    while (underWay.get() > 0) {
      LockSupport.parkNanos(POLL_NS);
    }
  }

  /**
   * Waits for executions beyond the deadline, without end; {@code overdue} is told if they last.
   */
  static void awaitExecutions(ModelSpec spec, ModelHandle ending, Runnable overdue) {
    if (!ending.drain(System.nanoTime() + LEAVE_NS)) {
      LOGGER.log(
          Level.WARNING,
          "model ''{0}'' version {1} still executes requests at its deadline; its memory stays"
              + " until they end",
          spec.name(),
          Long.toString(spec.version()));
      overdue.run();
      ending.drain(Long.MAX_VALUE);
    }
  }
}
