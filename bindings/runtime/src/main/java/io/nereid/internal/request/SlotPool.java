package io.nereid.internal.request;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.ffi.PoolMemory;
import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.request.Diagnostics.Origin;
import io.nereid.model.RequestObserver;
import io.nereid.model.SequenceId;
import io.nereid.statistics.OpenHandle;
import io.nereid.types.NereidException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * The requests to one load of a model, with everything that they have in common, and their slots.
 * Any thread may call any method.
 *
 * <p>Free slots are on a lock-free stack; its head is a slot's id with a tag that changes with
 * every operation, so that a slot that was taken and put back meanwhile is noticed.
 */
public final class SlotPool {

  /** A response that owns its memory and is open. */
  interface OpenResponse {

    /** Closes it in the user's stead; does nothing when it is closed. */
    void revoke();

    /** The place where the response's request was made; null: places are not recorded. */
    Origin origin();
  }

  /**
   * The core itself answers requests whose deadline passes while they wait. A request is known to
   * be executing only if no answer came for this long after its deadline.
   */
  static final long DEADLINE_GRACE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long ID_MASK = 0xFFFF_FFFFL;

  private final SlotTable table;
  private final Signature signature;
  private final int tensorDevice;
  private final Supplier<RequestRecord> newRecord;

  /** Every slot, free or not. */
  @GuardedBy("all")
  private final Set<Slot> all = new HashSet<>();

  /** Open responses that outlive their records. */
  @GuardedBy("all")
  private final Set<OpenResponse> responses = new HashSet<>();

  /**
   * The route for requests of sequences; null: they stay in this pool. Written before the first
   * request.
   */
  private BiFunction<SequenceId, Boolean, SlotPool> route;

  // Written before the first request.
  private boolean observed = true;
  private boolean aside;

  private final AtomicLong head = new AtomicLong();
  private volatile boolean retired;
  private long deadlineNs; // the deadline of existing requests; written before retired
  private volatile boolean sealed;

  /**
   * Makes an empty pool, which its runtime knows until it is sealed and empty.
   *
   * @param tensorDevice the GPU on which inputs and outputs may lie; -1: they may lie on none
   * @param newRecord gets a record from the core; not called any more after {@link #retire}
   */
  public SlotPool(
      SlotTable table, Signature signature, int tensorDevice, Supplier<RequestRecord> newRecord) {
    this.table = table;
    this.signature = signature;
    this.tensorDevice = tensorDevice;
    this.newRecord = newRecord;
    table.add(this);
  }

  /** Inputs and outputs of the model. */
  public Signature signature() {
    return signature;
  }

  /** The GPU on which inputs and outputs may lie; -1: they may lie on none. */
  public int tensorDevice() {
    return tensorDevice;
  }

  /** The route for requests of sequences that were made here; null: they stay. */
  BiFunction<SequenceId, Boolean, SlotPool> route() {
    return route;
  }

  /**
   * Sets the route for requests of sequences that are made here, before the pool is published.
   *
   * @param route by the sequence and whether the request starts it; null: no load takes it
   */
  public void route(BiFunction<SequenceId, Boolean, SlotPool> route) {
    this.route = route;
  }

  /** The memory that inputs and outputs come from; the same object for all models of a runtime. */
  public PoolMemory memory() {
    return table.memory();
  }

  long poolByteLimit() {
    return table.poolByteLimit();
  }

  /** Hides the pool's requests from observers; called before the pool is published. */
  public void hide() {
    observed = false;
  }

  /** The current observer of requests; null: this pool's requests are hidden. */
  AtomicReference<RequestObserver> observer() {
    return observed ? table.observer() : null;
  }

  /**
   * Has other threads submit the requests, since a plug-in is asked for their answers first; called
   * before the pool is published.
   */
  public void submitAside() {
    aside = true;
  }

  /** Hands a slot's record to the core; returns a status, or {@link RequestRecord#PENDING}. */
  int submit(Slot slot) {
    return aside ? table.submitAside(slot) : slot.record().submit();
  }

  /** Runs a completion, which may run users' code, on a thread for that. */
  void dispatch(Runnable completion) {
    table.dispatch(completion);
  }

  /** Runs this some time after the deadline of an asynchronous request; it does not block. */
  Future<?> afterDeadline(long deadlineNs, Runnable action) {
    return table.schedule(action, deadlineNs - System.nanoTime() + DEADLINE_GRACE_NS);
  }

  /** Waits until the core gives the record back; if it gives up, releases the record and throws. */
  public void await(Slot slot) {
    long deadlineNs = slot.content().deadlineNs();
    while (slot.inFlight()) {
      if (Thread.currentThread().isInterrupted()) {
        throw abandoned(slot, signature.interrupted());
      }
      if (deadlineNs == 0) {
        LockSupport.park(slot);
        continue;
      }
      long leftNs = deadlineNs - System.nanoTime() + DEADLINE_GRACE_NS;
      if (leftNs <= 0) {
        throw abandoned(slot, signature.expired());
      }
      LockSupport.parkNanos(slot, leftNs);
    }
  }

  /**
   * Abandons a request and returns {@code reason}: the record is recycled once the core is done
   * with it and the request is closed.
   */
  private static NereidException abandoned(Slot slot, NereidException reason) {
    slot.record().cancel();
    slot.exit();
    return reason;
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
    // Either this thread sees that the pool was retired, or the scan in retire sees the open slot.
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
      Slot slot = table.add(newRecord.get(), this);
      all.add(slot);
      return slot;
    }
  }

  private Slot pop() {
    while (true) {
      long now = head.get();
      int link = (int) now;
      if (link == 0) {
        return null;
      }
      Slot slot = table.slot(link - 1);
      if (slot == null) {
        continue; // the slot left the table after head was read, so head has changed
      }
      if (head.compareAndSet(now, tagged(now, slot.next))) {
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
      now = head.get();
      slot.next = (int) now;
    } while (!head.compareAndSet(now, tagged(now, slot.id + 1)));
    if (sealed) {
      releaseFree();
    }
  }

  /** Takes no new requests; streams and unsent requests go on until {@code deadlineNs}. */
  public void retire(long deadlineNs) {
    synchronized (all) {
      if (retired) {
        return;
      }
      this.deadlineNs = deadlineNs;
      retired = true;
    }
    for (Slot slot : snapshot()) {
      ResponseReceiver receiver = slot.receiver();
      if (receiver != null) {
        receiver.retired();
      }
    }
  }

  /** The time that requests may still take; the largest number while the pool is not retired. */
  long leftNs() {
    return retired ? deadlineNs - System.nanoTime() : Long.MAX_VALUE;
  }

  /** Counts a response that owns its memory, until it is removed. Called while its slot is held. */
  void add(OpenResponse response) {
    synchronized (all) {
      responses.add(response);
    }
  }

  /** Forgets a response that has given its memory back. */
  void remove(OpenResponse response) {
    boolean last;
    synchronized (all) {
      responses.remove(response);
      last = sealed && isEmpty();
    }
    if (last) {
      table.remove(this);
    }
  }

  /** True if there are requests that were made but not answered. */
  public boolean hasUnanswered() {
    return snapshot().stream().anyMatch(Slot::isUnanswered);
  }

  /**
   * The number of slots that a request, a response or the core uses, and of responses without a
   * slot.
   */
  int inUse() {
    int used = (int) snapshot().stream().filter(Slot::isNeeded).count();
    synchronized (all) {
      return used + responses.size();
    }
  }

  /** Adds the slots and responses in use whose places of origin are recorded. */
  void addOpened(List<OpenHandle> opened) {
    for (Slot slot : snapshot()) {
      Origin origin = slot.origin;
      int open = slot.openHandles();
      if (origin == null || !slot.isNeeded()) {
        continue;
      }
      if (open == 0) {
        opened.add(opened(OpenHandle.Kind.UNFINISHED, origin));
      }
      if ((open & Slot.REQUEST) != 0) {
        opened.add(opened(OpenHandle.Kind.REQUEST, origin));
      }
      if ((open & Slot.RESPONSE) != 0) {
        opened.add(opened(OpenHandle.Kind.RESPONSE, origin));
      }
    }
    synchronized (all) {
      for (OpenResponse response : responses) {
        if (response.origin() != null) {
          opened.add(opened(OpenHandle.Kind.RESPONSE, response.origin()));
        }
      }
    }
  }

  private OpenHandle opened(OpenHandle.Kind kind, Origin origin) {
    return new OpenHandle(
        kind, signature.spec().name(), signature.spec().version(), origin.thread(), origin.stack());
  }

  /**
   * Retires the pool, and from now on gives records back to the core as soon as nobody needs them.
   */
  public void seal() {
    retire(System.nanoTime());
    sealed = true;
    releaseFree();
    if (isEmpty()) {
      table.remove(this);
    }
  }

  /** Closes all handles that users left open. */
  void revokeAll() {
    snapshot().forEach(Slot::revoke);
    List<OpenResponse> open;
    synchronized (all) {
      open = new ArrayList<>(responses);
    }
    open.forEach(OpenResponse::revoke);
  }

  private void releaseFree() {
    for (Slot slot = pop(); slot != null; slot = pop()) {
      release(slot);
    }
  }

  private void release(Slot slot) {
    slot.record().release();
    table.remove(slot.id);
    boolean last;
    synchronized (all) {
      all.remove(slot);
      last = isEmpty();
    }
    if (last) {
      table.remove(this);
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
