package io.nereid;

import io.nereid.internal.ffi.RequestCalls;
import io.nereid.internal.ffi.RequestLayout;
import io.nereid.internal.model.LoadedModel;
import io.nereid.internal.request.Slot;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The end of a request, as its sender sees it. */
final class Completion {

  /** {@code NRD_PENDING}. */
  static final int PENDING = -1;

  /**
   * The core itself answers requests whose deadline passes while they wait. Only when no answer
   * came for this long after a deadline is the request known to be executing.
   */
  static final long DEADLINE_GRACE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private Completion() {}

  /** Waits until the core gives the record back; when it gives up, throws and lets go of it. */
  static void await(LoadedModel model, Slot slot) {
    long deadlineNs = slot.deadlineNs();
    while (slot.inFlight()) {
      if (Thread.currentThread().isInterrupted()) {
        abandon(slot);
        throw interrupted(model);
      }
      if (deadlineNs == 0) {
        LockSupport.park(slot);
      } else {
        long leftNs = deadlineNs - System.nanoTime() + DEADLINE_GRACE_NS;
        if (leftNs <= 0) {
          abandon(slot);
          throw expired(model);
        }
        LockSupport.parkNanos(slot, leftNs);
      }
    }
  }

  /** The record is recycled once the core is done with it and the request is closed. */
  private static void abandon(Slot slot) {
    RequestCalls.cancel(slot.record());
    slot.exit();
  }

  static NereidException interrupted(LoadedModel model) {
    return new NereidException(
        StatusCode.CANCELLED, "interrupted while waiting for model '" + model.spec().name() + "'");
  }

  static NereidException expired(LoadedModel model) {
    return new NereidException(
        StatusCode.DEADLINE_EXCEEDED,
        "the deadline passed while model '" + model.spec().name() + "' was executing the request");
  }

  /** The response of a record that the core gave back; an exception when the request failed. */
  static InferResponse finish(LoadedModel model, Slot slot, long generation) {
    int status = RequestLayout.status(slot.record());
    if (status == StatusCode.OK.number()) {
      slot.toResponse();
      return new RecordResponse(model, slot, generation);
    }
    throw failure(slot);
  }

  /** Why the request of a record that the core gave back failed; lets go of the record. */
  static NereidException failure(Slot slot) {
    try {
      int status = RequestLayout.status(slot.record());
      NereidException failure =
          new NereidException(StatusCode.ofNumber(status), RequestLayout.message(slot.record()));
      if (slot.failure() != null) {
        failure.initCause(slot.failure());
      }
      return failure;
    } finally {
      slot.exit();
    }
  }
}
