package io.nereid.internal.request;

import io.nereid.internal.ffi.RequestRecord;
import io.nereid.model.SequenceId;
import java.util.function.BiFunction;

/**
 * Prepares requests of sequences for being sent. While a model is replaced, sequences that run stay
 * with the load on which they started, and a request for one may have been made for the other load:
 * then it is moved.
 */
public final class SequenceMove {

  private SequenceMove() {}

  /**
   * Returns the slot to send a request from: its own, or a fresh one that closes with it. The
   * thread that sends a request of a sequence calls this.
   */
  public static Slot prepare(Slot slot, long generation) {
    slot.beginEdit(generation);
    try {
      SequencePart part = slot.content().sequence();
      part.begin(slot.record());
      Slot there = find(slot, part.id());
      if (there == null) {
        return slot;
      }
      move(slot, there);
      return there;
    } catch (Throwable t) {
      slot.content().notSent();
      throw t;
    } finally {
      slot.endEdit(); // a request that was moved counts as submitted from here on
    }
  }

  /** A slot of the load that has the sequence; null: that is the slot's own load, or it is gone. */
  private static Slot find(Slot slot, SequenceId id) {
    BiFunction<SequenceId, Boolean, SlotPool> route = slot.pool().route();
    if (route == null) {
      return null;
    }
    SlotPool pool = route.apply(id, slot.record().isMarked(RequestRecord.SEQUENCE_START));
    return pool == null || pool == slot.pool() ? null : pool.acquire();
  }

  private static void move(Slot from, Slot to) {
    long there = to.generation();
    try {
      to.content().takeOver(from.content());
    } catch (Throwable t) {
      to.close(there, Slot.REQUEST);
      throw t;
    }
    to.origin(from.origin);
    from.content().afterwards(() -> to.close(there, Slot.REQUEST));
    from.content().sequence().moved(bit -> to.cancel(there, bit));
  }
}
