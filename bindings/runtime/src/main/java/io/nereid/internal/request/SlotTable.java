package io.nereid.internal.request;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** All slots of a runtime by id, which is also the tag that the core gives back on completion. */
public final class SlotTable {

  private static final int CHUNK_SHIFT = 8;
  private static final int CHUNK_SIZE = 1 << CHUNK_SHIFT;

  private final Executor completions;

  // Chunks are only added. Guarded by this for writing.
  private volatile AtomicReferenceArray<Slot>[] chunks = chunks(0);
  private final ArrayDeque<Integer> freeIds = new ArrayDeque<>();

  /** Makes an empty table; {@code completions} runs what completes futures. */
  public SlotTable(Executor completions) {
    this.completions = completions;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static AtomicReferenceArray<Slot>[] chunks(int count) {
    return new AtomicReferenceArray[count];
  }

  /** The slot with this id, or null. */
  public Slot slot(int id) {
    return chunks[id >>> CHUNK_SHIFT].get(id & (CHUNK_SIZE - 1));
  }

  /** The request of this tag is complete. */
  public void complete(long tag) {
    slot((int) tag).completeAndWake();
  }

  /** The request of this tag has a response besides its last; without a receiver it is dropped. */
  public void respond(long tag, long outputs, int count) {
    // The core has the record meanwhile, so the slot cannot have moved on to another request.
    ResponseReceiver receiver = slot((int) tag).receiver();
    if (receiver != null) {
      receiver.respond(outputs, count);
    }
  }

  void dispatch(Runnable completion) {
    completions.execute(completion);
  }

  synchronized Slot add(long record, SlotPool pool) {
    if (freeIds.isEmpty()) {
      addChunk();
    }
    int id = freeIds.pop();
    Slot slot = new Slot(id, record, pool);
    chunks[id >>> CHUNK_SHIFT].set(id & (CHUNK_SIZE - 1), slot);
    return slot;
  }

  synchronized void remove(int id) {
    chunks[id >>> CHUNK_SHIFT].set(id & (CHUNK_SIZE - 1), null);
    freeIds.push(id);
  }

  private void addChunk() {
    int count = chunks.length;
    AtomicReferenceArray<Slot>[] grown = Arrays.copyOf(chunks, count + 1);
    grown[count] = new AtomicReferenceArray<>(CHUNK_SIZE);
    for (int i = 0; i < CHUNK_SIZE; i++) {
      freeIds.add(count * CHUNK_SIZE + i);
    }
    chunks = grown;
  }
}
