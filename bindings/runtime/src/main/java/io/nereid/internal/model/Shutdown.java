package io.nereid.internal.model;

import io.nereid.internal.ffi.CoreLog;
import io.nereid.model.ModelState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends the models of a runtime, on the threads that close it. A shutdown has no state of its own.
 */
public final class Shutdown {

  private static final long SEQUENCES_POLL_NS = 1_000_000;

  private final ModelTable models;
  private final ModelLifecycle lifecycle;

  public Shutdown(ModelTable models, ModelLifecycle lifecycle) {
    this.models = models;
    this.lifecycle = lifecycle;
  }

  /** Waits until all sequences that have started have ended; false: the deadline came first. */
  public boolean awaitSequences(long deadlineNs) {
    boolean open = lifecycle.hasOpenSequences();
    while (open && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(SEQUENCES_POLL_NS);
      open = lifecycle.hasOpenSequences();
    }
    return !open;
  }

  /** Models without sequences are unloaded first: they do not wait for the others. */
  public void unloadModels(long deadlineNs) {
    boolean waits = lifecycle.finishSequences();
    List<ModelEntry> all = models.all();
    all.stream()
        .filter(entry -> entry.current() == null || !entry.current().hasSequences())
        .forEach(entry -> unload(entry, deadlineNs));
    if (waits) {
      awaitSequences(deadlineNs);
    }
    all.forEach(entry -> unload(entry, deadlineNs));
    lifecycle.awaitDepartures();
  }

  private void unload(ModelEntry entry, long deadlineNs) {
    try {
      lifecycle.unload(entry, deadlineNs);
    } catch (RuntimeException | Error e) { // the other models must still be unloaded
      CoreLog.LOGGER.log(Level.ERROR, "unloading " + entry + " failed", e);
    }
  }

  /**
   * The exception for a caller that gives up on models that do not come back from an execution, or
   * from loading.
   */
  public NereidException stuck() {
    List<String> stuck =
        models.all().stream()
            .filter(model ->
                model.state() == ModelState.DRAINING || model.state() == ModelState.LOADING)
            .map(model -> "'" + model.name() + "' version " + model.version())
            .toList();
    return new NereidException(
        StatusCode.DEADLINE_EXCEEDED,
        "model "
            + String.join(", ", stuck)
            + " is still executing or being loaded; the memory of Nereid stays until it comes"
            + " back");
  }

  /** Waits for a thread, also when interrupted; true if it ended. */
  public static boolean join(Thread thread, long deadlineNs) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          long leftNs = Math.max(0, deadlineNs - System.nanoTime());
          return thread.join(Duration.ofNanos(leftNs));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
