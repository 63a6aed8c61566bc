package io.nereid.internal.request;

import io.nereid.internal.ffi.RequestRecord;
import io.nereid.model.SequenceId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntPredicate;

/** The part that one request has in a sequence. */
final class SequencePart {

  private final SequenceId id;

  /** True if the request that is sent next starts the sequence; null: its sender decides. */
  private final AtomicBoolean startDue;

  private boolean starts; // because startDue said so

  /** Cancels the request that was moved; null: it was not moved. */
  private IntPredicate cancelThere;

  SequencePart(SequenceId id, AtomicBoolean startDue) {
    this.id = id;
    this.startDue = startDue;
  }

  SequenceId id() {
    return id;
  }

  /** Called before the request is sent: starts the sequence if that is due. */
  void begin(RequestRecord record) {
    if (startDue != null && startDue.compareAndSet(true, false)) {
      starts = true;
      record.mark(RequestRecord.SEQUENCE_START, true);
    }
  }

  /**
   * Called if the request was not sent, or failed: if it was to start the sequence, the next one
   * does.
   */
  void failed(RequestRecord record) {
    if (starts) {
      starts = false;
      record.mark(RequestRecord.SEQUENCE_START, false);
      startDue.set(true);
    }
  }

  /** Passes the part on to a request that is sent in the place of this one. */
  SequencePart passOn() {
    SequencePart next = new SequencePart(id, startDue);
    next.starts = starts;
    starts = false;
    return next;
  }

  /** Notes that the request is sent from another slot, where {@code cancel} gives up on it. */
  void moved(IntPredicate cancel) {
    cancelThere = cancel;
  }

  boolean isMoved() {
    return cancelThere != null;
  }

  /** Gives up on the request in the slot that it was moved to. */
  boolean cancel(int bit) {
    return cancelThere.test(bit);
  }

  /** Adds the sequence to the values of a response. */
  Map<String, Object> addTo(Map<String, Object> values, RequestRecord record) {
    Map<String, Object> all = new LinkedHashMap<>(values);
    all.put("sequence_id", id.name().isEmpty() ? (Object) id.number() : id.name());
    all.put("sequence_start", record.isMarked(RequestRecord.SEQUENCE_START));
    all.put("sequence_end", record.isMarked(RequestRecord.SEQUENCE_END));
    return all;
  }
}
