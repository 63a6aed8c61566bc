package io.nereid.internal.request;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.ffi.RequestUpcalls.Outputs;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * The queue between the backend that sends responses and the thread that reads them. It holds the
 * request's slot until the slot and this queue are not needed any more.
 *
 * <p>The core is never called with the lock held, except to give memory back: cancelling can wait
 * for a completion on another thread, which takes this lock.
 */
public final class StreamQueue implements ResponseReceiver {

  /**
   * The number of responses that a backend may be ahead of the reader; for an ensemble, the number
   * that may be under way.
   */
  public static final int CAPACITY = 8;

  private final Slot slot;
  private final long generation;
  private final long deadlineNs;

  private final ReentrantLock lock = new ReentrantLock();

  // Reader and backend take turns to wait for it.
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private final ArrayDeque<StreamedResponse> responses = new ArrayDeque<>();

  @GuardedBy("lock")
  private boolean completed; // the core gave the record back

  @GuardedBy("lock")
  private boolean holding = true; // the slot

  @GuardedBy("lock")
  private boolean closed;

  @GuardedBy("lock")
  private boolean cancelled; // cancelled by the sender, who may go on reading

  @GuardedBy("lock")
  private NereidException failure; // thrown to the reader when the queue is empty

  /**
   * Makes a queue for a request that is not submitted yet; submission holds the slot for this
   * queue.
   */
  public StreamQueue(Slot slot, long generation) {
    this.slot = slot;
    this.generation = generation;
    deadlineNs = slot.content().deadlineNs();
  }

  // ---- The reader ------------------------------------------------------------------------------

  /** Submits the request; throws when it is refused at once. */
  public void submit() {
    if (slot.submit(generation, null, this, true)) {
      if (slot.record().status() != StatusCode.OK.number()) {
        slot.toResponse(); // throws why
      }
      completed();
    }
  }

  /**
   * The next response; null when there are no more.
   *
   * @param earlier makes the handle of a response before the last
   * @param last makes the handle of the response that completed the request
   */
  public <R> R next(Function<StreamedResponse, R> earlier, RequestFuture.Opener<R> last) {
    NereidException reason;
    lock.lock();
    try {
      do {
        if (closed) {
          throw new IllegalStateException("the stream was closed");
        }
        boolean ended = completed || failure != null;
        if (!ended && Thread.currentThread().isInterrupted()) {
          reason = slot.pool().signature().interrupted();
        } else if (ended || !responses.isEmpty()) {
          return take(earlier, last);
        } else {
          reason = awaitResponse();
        }
      } while (reason == null);
      failure = reason;
      dropResponses();
    } finally {
      lock.unlock();
    }
    slot.cancel(generation, Slot.IN_FLIGHT);
    throw reason;
  }

  /**
   * Waits until something changes; returns the reason if there is nothing to wait for, else null.
   */
  @GuardedBy("lock")
  private NereidException awaitResponse() {
    try {
      if (deadlineNs == 0) {
        changed.await();
        return null;
      }
      long leftNs = deadlineNs - System.nanoTime() + SlotPool.DEADLINE_GRACE_NS;
      if (leftNs <= 0) {
        return slot.pool().signature().expired();
      }
      changed.awaitNanos(leftNs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return null;
  }

  @GuardedBy("lock")
  private <R> R take(Function<StreamedResponse, R> earlier, RequestFuture.Opener<R> last) {
    StreamedResponse response = responses.peek();
    if (response != null) {
      response.deliver();
      responses.remove();
      changed.signalAll();
      settle();
      return earlier.apply(response);
    }
    if (failure != null) {
      throw failure;
    }
    return holding ? takeLast(last) : null;
  }

  /** The response that completed the request; null when it has none. */
  @GuardedBy("lock")
  private <R> R takeLast(RequestFuture.Opener<R> last) {
    holding = false;
    boolean succeeded = slot.record().status() == StatusCode.OK.number();
    if (succeeded && slot.pool().signature().spec().decoupled() && !hasOutputs()) {
      slot.exit();
      return null;
    }
    try {
      slot.toResponse();
      return last.open(slot, generation);
    } catch (NereidException e) {
      failure = e;
      throw e;
    }
  }

  private boolean hasOutputs() {
    for (int i = 0; i < slot.record().outputCount(); i++) {
      if (slot.record().output(i).isThere()) {
        return true;
      }
    }
    return false;
  }

  /** Cancels the request if it has not ended, and drops the responses that were not taken. */
  public void close() {
    boolean inFlight;
    lock.lock();
    try {
      closed = true;
      dropResponses();
      inFlight = !completed;
    } finally {
      lock.unlock();
    }
    if (inFlight) {
      slot.cancel(generation, Slot.IN_FLIGHT);
    }
  }

  @GuardedBy("lock")
  private void dropResponses() {
    responses.forEach(StreamedResponse::release);
    responses.clear();
    changed.signalAll();
    settle();
  }

  /** Releases the slot once nobody will fetch its response. */
  @GuardedBy("lock")
  private void settle() {
    if (holding && completed && (closed || failure != null) && responses.isEmpty()) {
      holding = false;
      slot.record().dropOutputs();
      slot.exit();
    }
  }

  // ---- The backend, and other callers from the core --------------------------------------------

  @Override
  public void respond(Outputs outputs) {
    boolean cancel = false;
    lock.lock();
    try {
      if (!ofEnsemble()) {
        waitForReader();
      }
      if (closed || failure != null) {
        return; // the core drops the response
      }
      if (slot.pool().leftNs() <= 0) {
        failure = unloaded();
        cancel = true;
      } else {
        StreamedResponse response = new StreamedResponse(slot, outputs);
        responses.add(response);
        response.takeBuffers(outputs);
      }
    } catch (Throwable t) {
      // Out of memory. A stream that lacks a response must not look complete.
      failure = new NereidException(StatusCode.INTERNAL, "a response could not be delivered", t);
      cancel = true;
    } finally {
      changed.signalAll();
      lock.unlock();
    }
    if (cancel) {
      slot.cancel(generation, Slot.IN_FLIGHT);
    }
  }

  /**
   * True for an ensemble: its responses come on shared threads, and are made only when there is
   * room.
   */
  private boolean ofEnsemble() {
    return slot.pool().signature().spec().ensemble().isPresent();
  }

  @Override
  public void awaitRoom() {
    lock.lock();
    try {
      waitForReader();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the reader has caught up. The wait also ends when the request is cancelled or
   * closed; the response still goes to the reader, since the backend may notice only at its end.
   */
  @GuardedBy("lock")
  private void waitForReader() {
    boolean interrupted = false;
    while (responses.size() >= CAPACITY && !closed && !cancelled && failure == null) {
      long leftNs = Math.min(deadlineLeftNs(), slot.pool().leftNs());
      if (leftNs <= 0) {
        break;
      }
      try {
        changed.awaitNanos(leftNs);
      } catch (InterruptedException e) {
        interrupted = true; // the interrupt is meant for the backend, whose thread this is
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private long deadlineLeftNs() {
    return deadlineNs == 0 ? Long.MAX_VALUE : deadlineNs - System.nanoTime();
  }

  private NereidException unloaded() {
    return new NereidException(
        StatusCode.UNAVAILABLE,
        "model '"
            + slot.pool().signature().spec().name()
            + "' was unloaded before the request had ended");
  }

  @Override
  public void completed() {
    lock.lock();
    try {
      completed = true;
      settle();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void cancelled() {
    lock.lock();
    try {
      cancelled = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void retired() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void revoke() {
    close();
  }
}
