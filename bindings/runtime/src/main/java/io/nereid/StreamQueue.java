package io.nereid;

import static io.nereid.internal.ffi.RequestLayout.TENSOR_DATA;

import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.RequestCalls;
import io.nereid.internal.ffi.RequestLayout;
import io.nereid.internal.model.LoadedModel;
import io.nereid.internal.request.ResponseReceiver;
import io.nereid.internal.request.Slot;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What is between the backend that sends responses and the thread that reads them. It holds the
 * request's slot until nothing in it or in this queue is needed any more.
 *
 * <p>The core is never called with the lock held, but to give memory back: cancelling can wait for
 * a completion on another thread, which takes this lock.
 */
final class StreamQueue implements ResponseReceiver {

  /** How many responses a backend may be ahead of the reader. */
  static final int CAPACITY = 8;

  private final LoadedModel model;
  private final Slot slot;
  private final long generation;
  private final long deadlineNs;

  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by the lock, as is everything below. Reader and backend take turns to wait for it.
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<StreamedResponse> responses = new ArrayDeque<>();

  private boolean completed; // the core gave the record back
  private boolean holding = true; // the slot
  private boolean closed;
  private boolean cancelled; // by the sender, who may read on
  private NereidException failure; // what the reader gets when the queue is empty

  /** For a slot that is about to be submitted; submission holds the slot for this queue. */
  StreamQueue(LoadedModel model, Slot slot, long generation) {
    this.model = model;
    this.slot = slot;
    this.generation = generation;
    deadlineNs = slot.deadlineNs();
  }

  // ---- The reader ------------------------------------------------------------------------------

  /** See {@link ResponseStream#next}. */
  InferResponse next() {
    NereidException reason;
    lock.lock();
    try {
      do {
        if (closed) {
          throw new IllegalStateException("the stream was closed");
        }
        boolean ended = completed || failure != null;
        if (!ended && Thread.currentThread().isInterrupted()) {
          reason = Completion.interrupted(model);
        } else if (ended || !responses.isEmpty()) {
          return take();
        } else {
          reason = awaitResponse();
        }
      } while (reason == null);
      failure = reason;
      dropResponses();
    } finally {
      lock.unlock();
    }
    cancelRequest();
    throw reason;
  }

  /** Waits until something changes; returns why there is nothing to wait for, else null. */
  private NereidException awaitResponse() {
    try {
      if (deadlineNs == 0) {
        changed.await();
        return null;
      }
      long leftNs = deadlineNs - System.nanoTime() + Completion.DEADLINE_GRACE_NS;
      if (leftNs <= 0) {
        return Completion.expired(model);
      }
      changed.awaitNanos(leftNs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return null;
  }

  private InferResponse take() {
    StreamedResponse response = responses.peek();
    if (response != null) {
      response.deliver();
      responses.remove();
      changed.signalAll();
      settle();
      return response;
    }
    if (failure != null) {
      throw failure;
    }
    return holding ? takeLast() : null;
  }

  /** The response that completed the request; null when it has none. */
  private InferResponse takeLast() {
    holding = false;
    boolean succeeded = RequestLayout.status(slot.record()) == StatusCode.OK.number();
    if (succeeded && model.spec().decoupled() && !hasOutputs()) {
      slot.exit();
      return null;
    }
    try {
      return Completion.finish(model, slot, generation);
    } catch (NereidException e) {
      failure = e;
      throw e;
    }
  }

  private boolean hasOutputs() {
    for (int i = 0; i < model.signature().outputs().size(); i++) {
      if (Memory.readLong(RequestLayout.output(slot.record(), i) + TENSOR_DATA) != 0) {
        return true;
      }
    }
    return false;
  }

  /** See {@link ResponseStream#close}. */
  void close() {
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
      cancelRequest();
    }
  }

  private void dropResponses() {
    responses.forEach(StreamedResponse::release);
    responses.clear();
    changed.signalAll();
    settle();
  }

  /** Lets go of the slot when nobody will fetch what is in it. */
  private void settle() {
    if (holding && completed && (closed || failure != null) && responses.isEmpty()) {
      holding = false;
      RequestCalls.dropOutputs(slot.record());
      slot.exit();
    }
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

  // ---- The backend, and others that the core calls for -----------------------------------------

  @Override
  public void respond(long outputs, int count) {
    boolean cancel = false;
    lock.lock();
    try {
      awaitRoom();
      if (closed || failure != null) {
        return; // the core drops the response
      }
      if (model.slots().leftNs() <= 0) {
        failure = unloaded();
        cancel = true;
      } else {
        StreamedResponse response = new StreamedResponse(model, slot, outputs, count);
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
      cancelRequest();
    }
  }

  /**
   * Waits until the reader has caught up. Also ends when the request is as good as over: the
   * response goes to the reader all the same, since the backend may not notice before it is done.
   */
  private void awaitRoom() {
    boolean interrupted = false;
    while (responses.size() >= CAPACITY && !closed && !cancelled && failure == null) {
      long leftNs = Math.min(deadlineLeftNs(), model.slots().leftNs());
      if (leftNs <= 0) {
        break;
      }
      try {
        changed.awaitNanos(leftNs);
      } catch (InterruptedException e) {
        interrupted = true; // the thread is the backend's: not for this queue
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
        "model '" + model.spec().name() + "' was unloaded before the request had ended");
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
