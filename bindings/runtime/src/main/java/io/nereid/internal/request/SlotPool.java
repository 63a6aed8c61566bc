package io.nereid.internal.request;

import io.nereid.internal.ffi.RequestCalls;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The slots of one loaded model. Free ones are on a lock-free stack; its head is a slot's id with a
 * tag that changes with every operation, so that a slot which left and came back is noticed.
 */
public final class SlotPool {

  private static final VarHandle HEAD;

  static {
    try {
      HEAD = MethodHandles.lookup().findVarHandle(SlotPool.class, "head", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final long ID_MASK = 0xFFFF_FFFFL;

  private final SlotTable table;
  private final LongSupplier newRecord;
  private final int inputCount;
  private final Runnable whenEmpty;

  /** Every slot there is, free or not. Guarded by itself. */
  private final Set<Slot> all = new HashSet<>();

  /** Open responses that outlive their records. Guarded by {@link #all}. */
  private final Set<Revocable> responses = new HashSet<>();

  private volatile long head;
  private volatile boolean retired;
  private long deadlineNs; // of requests that exist; written before retired
  private volatile boolean sealed;

  /**
   * Makes an empty pool.
   *
   * @param newRecord gets a record from the core; not called any more after {@link #retire}
   * @param whenEmpty called when the pool is sealed, its last record went back and the last
   *     response that outlived its record; may come twice
   */
  public SlotPool(SlotTable table, int inputCount, LongSupplier newRecord, Runnable whenEmpty) {
    this.table = table;
    this.inputCount = inputCount;
    this.newRecord = newRecord;
    this.whenEmpty = whenEmpty;
  }

  int inputCount() {
    return inputCount;
  }

  /** Runs what may run users' code, on a thread for that. */
  public void dispatch(Runnable completion) {
    table.dispatch(completion);
  }

  /** An open slot for a new request; null when the pool was retired. */
  public Slot acquire() {
    if (retired) {
      return null;
    }
    Slot slot = pop();
    if (slot == null) {
      slot = grow();
      if (slot == null) {
        return null;
      }
    }
    slot.open();
    // Either this sees that the pool was retired, or retire's scan sees the open slot.
    if (retired) {
      slot.close(slot.generation(), Slot.REQUEST);
      return null;
    }
    return slot;
  }

  private Slot grow() {
    synchronized (all) {
      if (retired) {
        return null;
      }
      Slot slot = table.add(newRecord.getAsLong(), this);
      all.add(slot);
      return slot;
    }
  }

  private Slot pop() {
    while (true) {
      long now = head;
      int link = (int) now;
      if (link == 0) {
        return null;
      }
      Slot slot = table.slot(link - 1);
      if (slot == null) {
        continue; // it left the table after head was read, so head has changed
      }
      if (HEAD.compareAndSet(this, now, tagged(now, slot.next))) {
        return slot;
      }
    }
  }

  private static long tagged(long before, int link) {
    return (((before >>> 32) + 1) << 32) | (link & ID_MASK);
  }

  void recycle(Slot slot) {
    if (sealed) {
      release(slot);
      return;
    }
    long now;
    do {
      now = head;
      slot.next = (int) now;
    } while (!HEAD.compareAndSet(this, now, tagged(now, slot.id() + 1)));
    if (sealed) {
      releaseFree();
    }
  }

  /**
   * No more requests from now on; those that exist go on, until {@code deadlineNs} those whose end
   * is not in sight.
   */
  public void retire(long deadlineNs) {
    synchronized (all) {
      if (retired) {
        return;
      }
      this.deadlineNs = deadlineNs;
      retired = true;
    }
    snapshot().forEach(Slot::retired);
  }

  /** How long requests still may go on; the largest number while the pool is not retired. */
  public long leftNs() {
    return retired ? deadlineNs - System.nanoTime() : Long.MAX_VALUE;
  }

  /** Counts a response that owns its memory, until it is removed. Called while its slot is held. */
  public void add(Revocable response) {
    synchronized (all) {
      responses.add(response);
    }
  }

  /** The response has given its memory back. */
  public void remove(Revocable response) {
    boolean last;
    synchronized (all) {
      responses.remove(response);
      last = sealed && isEmpty();
    }
    if (last) {
      whenEmpty.run();
    }
  }

  /** Whether there are requests that were made but not answered. */
  public boolean hasUnanswered() {
    return snapshot().stream().anyMatch(Slot::isUnanswered);
  }

  /** How many slots are in use by a request, a response, or the core, and responses without one. */
  public int inUse() {
    int used = (int) snapshot().stream().filter(Slot::isNeeded).count();
    synchronized (all) {
      return used + responses.size();
    }
  }

  /** What is in use and remembers where it was made. */
  public List<Opened> opened() {
    List<Opened> opened = new ArrayList<>();
    snapshot().forEach(slot -> slot.addOpened(opened));
    synchronized (all) {
      for (Revocable response : responses) {
        if (response.origin() != null) {
          opened.add(new Opened(Slot.RESPONSE, response.origin()));
        }
      }
    }
    return opened;
  }

  /** From now on records go back to the core as soon as nobody needs them. Retires, too. */
  public void seal() {
    retire(System.nanoTime());
    sealed = true;
    releaseFree();
    if (isEmpty()) {
      whenEmpty.run();
    }
  }

  /** Closes all handles in the users' stead. */
  public void revokeAll() {
    snapshot().forEach(Slot::revoke);
    List<Revocable> open;
    synchronized (all) {
      open = new ArrayList<>(responses);
    }
    open.forEach(Revocable::revoke);
  }

  private void releaseFree() {
    for (Slot slot = pop(); slot != null; slot = pop()) {
      release(slot);
    }
  }

  private void release(Slot slot) {
    RequestCalls.release(slot.record());
    table.remove(slot.id());
    boolean last;
    synchronized (all) {
      all.remove(slot);
      last = isEmpty();
    }
    if (last) {
      whenEmpty.run();
    }
  }

  private boolean isEmpty() {
    synchronized (all) {
      return all.isEmpty() && responses.isEmpty();
    }
  }

  private List<Slot> snapshot() {
    synchronized (all) {
      return new ArrayList<>(all);
    }
  }
}
