package io.nereid.internal.request;

import io.nereid.internal.ffi.RequestRecord;
import io.nereid.model.SequenceId;
import java.util.concurrent.atomic.AtomicBoolean;

/** The part that one request has in a sequence, and where it went for that. */
public final class SequencePart {

  private final SequenceId id;

  /** Whether the request that is sent next starts the sequence; null: its sender says that. */
  private final AtomicBoolean startDue;

  private boolean starts; // because startDue said so

  // Where the request was moved. Written before it counts as submitted.
  private Slot movedTo; // null: it was not
  private long movedGeneration;

  SequencePart(SequenceId id, AtomicBoolean startDue) {
    this.id = id;
    this.startDue = startDue;
  }

  /**
   * Prepares a request of a sequence for being sent. While a model is replaced, sequences that run
   * stay with the load on which they started, and a request for one may have been made for the
   * other load: then it is moved.
   *
   * @return where it is to be sent from; a fresh one, which closes with the request, or its own
   */
  public static Slot route(Slot slot, long generation) {
    slot.beginEdit(generation);
    try {
      SequencePart part = slot.content().sequence();
      part.begin(slot.record());
      Slot there = part.find(slot);
      if (there == null) {
        return slot;
      }
      part.move(slot, there);
      return there;
    } finally {
      slot.endEdit(); // where it was moved, it counts as submitted from here on
    }
  }

  /** Starts the sequence where that is due. */
  private void begin(RequestRecord record) {
    if (startDue != null && startDue.compareAndSet(true, false)) {
      starts = true;
      record.mark(RequestRecord.SEQUENCE_START, true);
    }
  }

  /** A slot of the load where the sequence is; null: that is the slot's own, or gone. */
  private Slot find(Slot slot) {
    SequenceRoute route = slot.pool().route();
    if (route == null) {
      return null;
    }
    SlotPool pool = route.find(id, slot.record().isMarked(RequestRecord.SEQUENCE_START));
    return pool == null || pool == slot.pool() ? null : pool.acquire();
  }

  private void move(Slot from, Slot to) {
    long there = to.generation();
    try {
      to.content().takeOver(from.content());
    } catch (Throwable t) {
      to.close(there, Slot.REQUEST);
      throw t;
    }
    to.origin(from.origin);
    to.content().sequence().starts = starts;
    starts = false;
    from.content().afterwards(() -> to.close(there, Slot.REQUEST));
    movedGeneration = there;
    movedTo = to;
  }

  /** Whether the request is sent from another slot, and {@link #cancel} is what cancels it. */
  boolean isMoved() {
    return movedTo != null;
  }

  /** Gives up on the request where it went. */
  boolean cancel(int bit) {
    return movedTo.cancel(movedGeneration, bit);
  }

  /** It was not sent, or failed: where it was to start its sequence, the next one has to. */
  void failed(RequestRecord record) {
    if (starts) {
      starts = false;
      record.mark(RequestRecord.SEQUENCE_START, false);
      startDue.set(true);
    }
  }

  /** The same part, of a request to another load. */
  void applyTo(RequestContent content) {
    content.sequence(id, startDue);
  }
}
