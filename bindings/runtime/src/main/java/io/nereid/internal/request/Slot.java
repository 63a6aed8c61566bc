package io.nereid.internal.request;

import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.request.Diagnostics.Origin;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Serves one request after the other: a record of the core with Java's state of its use. Users see
 * fresh handles, which name a slot and a generation.
 *
 * <p>All ownership is in one word, changed by compare-and-set only: bits for those who still need
 * the record, a count of short holds by threads inside a native call on it, and the generation. The
 * thread that removes the last bit or hold recycles the slot, so a record is neither freed nor
 * reused under a thread that works on it, whatever the order of calls.
 */
public final class Slot {

  /** The request's handle is open: inputs belong to it. */
  public static final int REQUEST = 1;

  /** The core has the record. */
  public static final int IN_FLIGHT = 2;

  /** The response's handle is open: outputs belong to it. */
  public static final int RESPONSE = 4;

  /** The record was handed to the core in this generation; the bit does not keep the record. */
  private static final int SUBMITTED = 8;

  /** A thread is filling in the request: the inputs belong to that thread meanwhile. */
  private static final int EDITING = 16;

  private static final long HOLD = 1L << 8;
  private static final int GENERATION_SHIFT = 24;
  private static final long LOW_MASK = (1L << GENERATION_SHIFT) - 1;
  private static final long HOLDS_MASK = LOW_MASK & -HOLD;
  private static final long NEEDED_MASK = REQUEST | IN_FLIGHT | RESPONSE | EDITING | HOLDS_MASK;

  /** Link of the free list: id + 1 of the next slot, 0 at the end. */
  int next;

  final int id;
  private final RequestRecord record;
  private final SlotPool pool;
  private final RequestContent content;

  private final AtomicLong state = new AtomicLong();

  // Fields of the generation: written before submission, read by threads that saw a later state.
  private Thread waiter;
  private Runnable completion;
  private volatile ResponseReceiver receiver;
  private final RequestRecording recording;

  /** The place where the request was made; null: places are not recorded. */
  volatile Origin origin;

  /** The loans of segments to the holders of the handles; null: not in the checked mode. */
  private final LentMemory.Loans loans = Diagnostics.CHECKED ? new LentMemory.Loans() : null;

  Slot(int id, RequestRecord record, SlotPool pool) {
    this.id = id;
    this.record = record;
    this.pool = pool;
    content = new RequestContent(record, pool.signature(), pool.poolByteLimit());
    recording =
        new RequestRecording(pool.signature(), pool.memory(), pool.observer(), record, content);
  }

  /** The record, for a caller that holds the slot in one of the ways below. */
  public RequestRecord record() {
    return record;
  }

  /** The content that the sender puts into the request. */
  public RequestContent content() {
    return content;
  }

  /** The requests to the same load of a model. */
  public SlotPool pool() {
    return pool;
  }

  /** The generation that is being used now. */
  public long generation() {
    return state.get() >>> GENERATION_SHIFT;
  }

  // ---- Ownership -------------------------------------------------------------------------------

  /** Begins a use by a request's handle. The slot was just taken from its pool. */
  void open() {
    state.set((state.get() & ~LOW_MASK) | REQUEST);
  }

  /** Throws unless {@code bit} is set in {@code generation}. */
  public void check(long generation, int bit) {
    long now = state.get();
    if (now >>> GENERATION_SHIFT != generation || (now & bit) == 0) {
      throw closed(bit);
    }
  }

  /** Keeps the record from being recycled until {@link #exit}; throws unless {@code bit} is set. */
  public void enter(long generation, int bit) {
    if (!tryEnter(generation, bit)) {
      throw closed(bit);
    }
  }

  /** Does the same as {@link #enter}, but returns false instead of throwing. */
  private boolean tryEnter(long generation, int bit) {
    long now;
    do {
      now = state.get();
      if (now >>> GENERATION_SHIFT != generation || (now & bit) == 0) {
        return false;
      }
    } while (!state.compareAndSet(now, now + HOLD));
    return true;
  }

  /** Ends what {@link #enter} began. */
  public void exit() {
    recycleIfUnneeded(state.addAndGet(-HOLD));
  }

  /** Makes the calling thread the only one that fills in the request, until {@link #endEdit}. */
  public void beginEdit(long generation) {
    begin(generation, EDITING);
  }

  /** Ends what {@link #beginEdit} began. */
  public void endEdit() {
    recycleIfUnneeded(state.addAndGet((content.isMoved() ? SUBMITTED : 0) - EDITING));
  }

  private void begin(long generation, long bits) {
    long now;
    do {
      now = state.get();
      checkEditable(now, generation);
    } while (!state.compareAndSet(now, now + bits));
  }

  private static void checkEditable(long now, long generation) {
    if (now >>> GENERATION_SHIFT != generation || (now & REQUEST) == 0) {
      throw closed(REQUEST);
    }
    if ((now & SUBMITTED) != 0) {
      throw new IllegalStateException("the request was submitted already; make a new one");
    }
    if ((now & EDITING) != 0) {
      throw new IllegalStateException("another thread is filling in the request");
    }
  }

  /** The exception for a handle whose {@code bit} is gone. */
  static IllegalStateException closed(int bit) {
    return new IllegalStateException(
        bit == RESPONSE ? "the response was closed" : "the request was closed");
  }

  /** Closes a handle, unless it was closed before, and gives back the memory that it owned. */
  public void close(long generation, int bit) {
    long now;
    long after;
    boolean drop;
    do {
      now = state.get();
      if (now >>> GENERATION_SHIFT != generation || (now & bit) == 0) {
        return;
      }
      after = now & ~bit;
      // If a thread holds the record, it may be reading the memory, so recycling drops it. If the
      // core has the record, it reads the inputs, so completion drops them.
      drop =
          (after & NEEDED_MASK) != 0
              && (now & HOLDS_MASK) == 0
              && (bit == RESPONSE || (now & (IN_FLIGHT | EDITING)) == 0);
      if (drop) {
        after += HOLD;
      }
    } while (!state.compareAndSet(now, after));
    try {
      if (Diagnostics.CHECKED) {
        loans.takeBack(generation, bit == REQUEST);
      }
    } finally {
      settle(bit, drop, after);
    }
  }

  /** {@code memory} for the holder of a handle: in the checked mode, until that is closed. */
  public MemorySegment lend(long generation, int bit, MemorySegment memory) {
    if (!Diagnostics.CHECKED) {
      return memory;
    }
    synchronized (loans) { // closing takes back the loans made before, and waits for this lock
      enter(generation, bit);
      try {
        return loans.lend(generation, bit == REQUEST, memory);
      } finally {
        exit();
      }
    }
  }

  /** Drops memory after a change of the state to {@code after}, which holds the record. */
  private void settle(int bit, boolean drop, long after) {
    if (!drop) {
      recycleIfUnneeded(after);
      return;
    }
    if (bit == REQUEST) {
      record.dropInputs();
      content.dropParameters();
    } else {
      record.dropOutputs();
    }
    exit();
  }

  private void recycleIfUnneeded(long after) {
    if ((after & NEEDED_MASK) != 0) {
      return;
    }
    record.reset();
    waiter = null;
    completion = null;
    if (receiver != null) {
      receiver = null; // a volatile write costs time
    }
    content.clear();
    state.set((generation() + 1) << GENERATION_SHIFT);
    pool.recycle(this);
  }

  // ---- Submission and completion ---------------------------------------------------------------

  /**
   * Hands the record over to the core, once per generation, and holds it as by enter until {@link
   * #toResponse}.
   *
   * @param completion runs on the thread that completes the request; null: none
   * @param receiver gets all answers; null: a completion or this thread does
   * @return whether the request was answered at once, without telling the completion or receiver
   */
  public boolean submit(
      long generation, Runnable completion, ResponseReceiver receiver, boolean inline) {
    begin(generation, IN_FLIGHT + SUBMITTED + HOLD);
    record.tag(id);
    int status;
    try {
      content.checkInputs();
      if (!inline) {
        record.forbidInline();
      }
      this.completion = completion;
      if (receiver != null) {
        this.receiver = receiver;
      }
      waiter = Thread.currentThread();
      recording.begin();
      status = pool.submit(this);
    } catch (Throwable t) {
      recording.refused(t);
      content.notSent();
      this.receiver = null;
      this.completion = null;
      recycleIfUnneeded(state.addAndGet(-(IN_FLIGHT + SUBMITTED + HOLD)));
      throw t;
    }
    if (status == RequestRecord.PENDING) {
      return false;
    }
    complete();
    return true;
  }

  /** Takes the record back from the core, and drops the inputs of a request that was closed. */
  private void complete() {
    recording.end();
    content.answered();
    long now;
    long after;
    boolean drop;
    do {
      now = state.get();
      after = now & ~IN_FLIGHT;
      drop = (now & REQUEST) == 0 && (after & NEEDED_MASK) != 0;
      if (drop) {
        after += HOLD;
      }
    } while (!state.compareAndSet(now, after));
    settle(REQUEST, drop, after);
  }

  /** Completes, and wakes or tells the waiting code, which must not block the core's thread. */
  void completeAndWake() {
    // Read before the state changes: afterwards the slot may serve another request.
    Thread thread = waiter;
    Runnable completion = this.completion;
    ResponseReceiver receiver = this.receiver;
    complete();
    if (receiver != null) {
      receiver.completed();
    } else if (completion != null) {
      completion.run();
    } else {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Turns the hold of a submission, whose record the core gave back, into an open response. If the
   * request failed, releases the record and throws the failure.
   */
  public void toResponse() {
    if (record.status() == StatusCode.OK.number()) {
      state.addAndGet(RESPONSE - HOLD);
      return;
    }
    try {
      throw content.failure();
    } finally {
      exit();
    }
  }

  /** True if the core still has the record. */
  public boolean inFlight() {
    return (state.get() & IN_FLIGHT) != 0;
  }

  /** Gives up on the request if {@code bit} is still set; true when it will never execute. */
  public boolean cancel(long generation, int bit) {
    if (!tryEnter(generation, bit)) {
      return false;
    }
    try {
      if (content.isMoved()) {
        return content.sequence().cancel(bit);
      }
      boolean cancelled = record.cancel();
      ResponseReceiver receiver = this.receiver;
      if (bit == REQUEST && receiver != null) {
        receiver.cancelled();
      }
      return cancelled;
    } finally {
      exit();
    }
  }

  // ---- For the pool ----------------------------------------------------------------------------

  /** The receiver of the answers when there can be several; or null. */
  ResponseReceiver receiver() {
    return receiver;
  }

  /** Closes all handles, because the runtime closes. */
  void revoke() {
    long generation = generation();
    ResponseReceiver receiver = this.receiver;
    if (receiver != null) {
      receiver.revoke();
    }
    close(generation, REQUEST);
    close(generation, RESPONSE);
  }

  /** True if anything still needs the record. */
  boolean isNeeded() {
    return (state.get() & NEEDED_MASK) != 0;
  }

  /** The bits of {@link #REQUEST} and {@link #RESPONSE} whose handles are open. */
  int openHandles() {
    return (int) state.get() & (REQUEST | RESPONSE);
  }

  /** True if a request is not submitted or not answered yet; the core may have it or not. */
  boolean isUnanswered() {
    long now = state.get();
    return (now & (REQUEST | SUBMITTED)) == REQUEST || (now & IN_FLIGHT) != 0;
  }

  /** Sets the place where the request was made. */
  public void origin(Origin value) {
    origin = value;
  }
}
