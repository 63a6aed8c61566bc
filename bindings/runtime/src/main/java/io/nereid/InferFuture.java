package io.nereid;

import io.nereid.internal.ffi.RequestCalls;
import io.nereid.internal.model.LoadedModel;
import io.nereid.internal.request.Slot;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The future of one request; it holds the record until {@link #finish} has taken the result out.
 */
final class InferFuture extends CompletableFuture<InferResponse> implements Runnable {

  private final LoadedModel model;
  private final Slot slot;
  private final long generation;
  private Future<?> expiry;

  InferFuture(LoadedModel model, Slot slot, long generation) {
    this.model = model;
    this.slot = slot;
    this.generation = generation;
  }

  /** Fails this future when the deadline passes first; 0: never. Before the request is sent. */
  void expireAt(long deadlineNs) {
    if (deadlineNs != 0) {
      long delayNs = deadlineNs - System.nanoTime() + Completion.DEADLINE_GRACE_NS;
      expiry = model.runtime().deadlines().schedule(this::expire, delayNs, TimeUnit.NANOSECONDS);
    }
  }

  void cancelExpiry() {
    if (expiry != null) {
      expiry.cancel(false);
    }
  }

  /** On the timer's thread, which must not run what depends on this future. */
  private void expire() {
    Thread.startVirtualThread(() -> {
      if (completeExceptionally(Completion.expired(model))) {
        cancelRequest();
      }
    });
  }

  /** On a thread of the core: what depends on this future is not run there. */
  @Override
  public void run() {
    model.slots().dispatch(this::finish);
  }

  /** Takes the result out of the record, which the core has given back. */
  void finish() {
    cancelExpiry();
    InferResponse response;
    try {
      response = Completion.finish(model, slot, generation);
    } catch (Throwable t) {
      completeExceptionally(t);
      return;
    }
    if (!complete(response)) {
      response.close(); // cancelled, or completed by somebody else
    }
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    boolean cancelled = super.cancel(mayInterruptIfRunning);
    if (cancelled) {
      cancelRequest();
    }
    return cancelled;
  }

  private void cancelRequest() {
    if (slot.tryEnter(generation, Slot.IN_FLIGHT)) {
      try {
        RequestCalls.cancel(slot.record());
      } finally {
        slot.exit();
      }
    }
  }

  /** Stages that depend on this one do not cancel the request. */
  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new CompletableFuture<>();
  }
}
