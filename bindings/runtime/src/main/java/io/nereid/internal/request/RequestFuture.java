package io.nereid.internal.request;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * The future of one request; it holds the slot until {@link #finish} has taken the result out.
 *
 * @param <R> what users get as the response, which they close
 */
public final class RequestFuture<R> extends CompletableFuture<R> implements Runnable {

  /** Makes the handle of a response that is open in this generation of the slot. */
  public interface Opener<R> {
    R open(Slot slot, long generation);
  }

  private final Slot slot;
  private final long generation;
  private final Opener<R> opener;
  private Future<?> expiry;

  /**
   * The future of a request that is not submitted yet.
   *
   * @param opener makes the handle of the response
   */
  public RequestFuture(Slot slot, long generation, Opener<R> opener) {
    this.slot = slot;
    this.generation = generation;
    this.opener = opener;
  }

  /** Submits the request; this fails when its deadline passes first. */
  public void submit() {
    try {
      long deadlineNs = slot.content().deadlineNs();
      if (deadlineNs != 0) {
        expiry = slot.pool().afterDeadline(deadlineNs, this::expire);
      }
      if (slot.submit(generation, this, null, false)) {
        finish();
      }
    } catch (Throwable t) {
      cancelExpiry();
      throw t;
    }
  }

  private void cancelExpiry() {
    if (expiry != null) {
      expiry.cancel(false);
    }
  }

  /**
   * Makes another thread fail the future, because the timer's thread must not run code that depends
   * on it.
   */
  private void expire() {
    slot.pool()
        .dispatch(() -> {
          if (completeExceptionally(slot.pool().signature().expired())) {
            slot.cancel(generation, Slot.IN_FLIGHT);
          }
        });
  }

  /** Called on a thread of the core: code that depends on this future does not run there. */
  @Override
  public void run() {
    slot.pool().dispatch(this::finish);
  }

  /** Takes the result out of the slot, after the core has given the record back. */
  private void finish() {
    cancelExpiry();
    R response;
    try {
      slot.toResponse();
      response = opener.open(slot, generation);
    } catch (Throwable t) {
      completeExceptionally(t);
      return;
    }
    if (!complete(response)) {
      slot.close(generation, Slot.RESPONSE); // cancelled, or completed by other code
    }
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    boolean cancelled = super.cancel(mayInterruptIfRunning);
    if (cancelled) {
      slot.cancel(generation, Slot.IN_FLIGHT);
    }
    return cancelled;
  }

  /** Stages that depend on this one do not cancel the request. */
  @Override
  public <U> CompletableFuture<U> newIncompleteFuture() {
    return new CompletableFuture<>();
  }
}
