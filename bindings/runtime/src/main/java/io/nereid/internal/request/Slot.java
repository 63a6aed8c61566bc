package io.nereid.internal.request;

import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.RequestCalls;
import io.nereid.internal.ffi.RequestLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * One request record of the core with everything Java knows about its present use. Slots are
 * reused; the handles that users see are fresh objects that name a slot and a generation.
 *
 * <p>All ownership is in one word, changed by compare-and-set only: bits that say who still needs
 * the record, a count of short holds by threads that are inside a native call on it, and the
 * generation. Whoever takes the last of them away recycles the slot, so a record can be neither
 * freed nor reused under a thread that works on it, whatever the callers do in whatever order.
 */
public final class Slot {

  /** The request's handle is open: inputs belong to it. */
  public static final int REQUEST = 1;

  /** The core has the record. */
  public static final int IN_FLIGHT = 2;

  /** The response's handle is open: outputs belong to it. */
  public static final int RESPONSE = 4;

  /** The record was handed to the core in this generation; says nothing about who needs it. */
  static final int SUBMITTED = 8;

  /** A thread is filling in the request: the inputs are its own for that time. */
  static final int EDITING = 16;

  private static final long HOLD = 1L << 8;
  private static final int GENERATION_SHIFT = 24;
  private static final long LOW_MASK = (1L << GENERATION_SHIFT) - 1;
  private static final long HOLDS_MASK = LOW_MASK & -HOLD;
  private static final long NEEDED_MASK = REQUEST | IN_FLIGHT | RESPONSE | EDITING | HOLDS_MASK;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Slot.class, "state", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Link of the free list: id + 1 of the next slot, 0 at the end. */
  int next;

  private final int id;
  private final long record;
  private final SlotPool pool;

  private volatile long state;

  // Of the present generation. Written by the request's handle before submission, read by others
  // after they saw a later state.
  private Thread waiter;
  private Runnable completion;
  private volatile ResponseReceiver receiver;
  private String requestId;
  private Map<String, Object> parameters;
  private MemorySegment[] borrowed;
  private List<Runnable> afterwards; // null: there is nothing to be done
  private long deadlineNs;
  private int requiredInputsGiven;

  /** Where the request was made; null: that is not recorded. */
  private volatile Origin origin;

  /** What segments of it were given to whom; null: not in the checked mode. */
  private final Loans loans = Diagnostics.CHECKED ? new Loans() : null;

  /** What a backend threw while it executed the request. Written before completion. */
  private Throwable failure;

  Slot(int id, long record, SlotPool pool) {
    this.id = id;
    this.record = record;
    this.pool = pool;
  }

  int id() {
    return id;
  }

  /** Address of the {@code nrd_request}. */
  public long record() {
    return record;
  }

  /** The generation that is being used now. */
  public long generation() {
    return state >>> GENERATION_SHIFT;
  }

  // ---- Ownership -------------------------------------------------------------------------------

  /** Begins a use by a request's handle. Only for a slot that was just taken from its pool. */
  void open() {
    STATE.setVolatile(this, (state & ~LOW_MASK) | REQUEST);
  }

  /** Whether {@code bit} is set in {@code generation}. */
  public boolean has(long generation, int bit) {
    long now = state;
    return now >>> GENERATION_SHIFT == generation && (now & bit) != 0;
  }

  /** Keeps the record from being recycled until {@link #exit}; throws unless {@code bit} is set. */
  public void enter(long generation, int bit) {
    if (!tryEnter(generation, bit)) {
      throw closed(bit);
    }
  }

  /** As {@link #enter}; false instead of an exception. */
  public boolean tryEnter(long generation, int bit) {
    long now;
    do {
      now = state;
      if (now >>> GENERATION_SHIFT != generation || (now & bit) == 0) {
        return false;
      }
    } while (!STATE.compareAndSet(this, now, now + HOLD));
    return true;
  }

  /** Ends what {@link #enter} began. */
  public void exit() {
    long after = (long) STATE.getAndAdd(this, -HOLD) - HOLD;
    recycleIfUnneeded(after);
  }

  /** Makes the calling thread the only one that fills in the request, until {@link #endEdit}. */
  public void beginEdit(long generation) {
    long now;
    do {
      now = state;
      checkEditable(now, generation);
    } while (!STATE.compareAndSet(this, now, now | EDITING));
  }

  /** Ends what {@link #beginEdit} began. */
  public void endEdit() {
    long after = (long) STATE.getAndAdd(this, (long) -EDITING) - EDITING;
    recycleIfUnneeded(after);
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
  public static IllegalStateException closed(int bit) {
    return new IllegalStateException(
        bit == RESPONSE ? "the response was closed" : "the request was closed");
  }

  /** Closes a handle; false when it was closed before. What it owned is given back. */
  public boolean close(long generation, int bit) {
    long now;
    long after;
    boolean drop;
    do {
      now = state;
      if (now >>> GENERATION_SHIFT != generation || (now & bit) == 0) {
        return false;
      }
      after = now & ~bit;
      // Who holds the record may be looking at what it owns: then that goes when it is recycled.
      // The core reads the inputs until it is done: completion drops them in that case.
      drop =
          (after & NEEDED_MASK) != 0
              && (now & HOLDS_MASK) == 0
              && (bit == RESPONSE || (now & (IN_FLIGHT | EDITING)) == 0);
      if (drop) {
        after += HOLD;
      }
    } while (!STATE.compareAndSet(this, now, after));
    try {
      if (Diagnostics.CHECKED) {
        loans.takeBack(generation, bit);
      }
    } finally {
      if (drop) {
        dropAndExit(bit);
      } else {
        recycleIfUnneeded(after);
      }
    }
    return true;
  }

  /** {@code memory} for the holder of a handle: in the checked mode, until that is closed. */
  public MemorySegment lend(long generation, int bit, MemorySegment memory) {
    return Diagnostics.CHECKED ? loans.lend(this, generation, bit, memory) : memory;
  }

  /** Takes all handles away, because the runtime closes. */
  void revoke() {
    long generation = generation();
    ResponseReceiver receiver = this.receiver;
    if (receiver != null) {
      receiver.revoke();
    }
    close(generation, REQUEST);
    close(generation, RESPONSE);
  }

  /** Whether anything still needs the record. */
  boolean isNeeded() {
    return (state & NEEDED_MASK) != 0;
  }

  /**
   * Whether there is a request that was not submitted yet or not answered yet. Between the two it
   * is not known from here whether the core has seen it.
   */
  boolean isUnanswered() {
    long now = state;
    return (now & (REQUEST | SUBMITTED)) == REQUEST || (now & IN_FLIGHT) != 0;
  }

  /** Adds what of it is in use and remembers where it was made. */
  void addOpened(List<Opened> opened) {
    long now = state;
    Origin origin = this.origin;
    if ((now & NEEDED_MASK) == 0 || origin == null) {
      return;
    }
    if ((now & (REQUEST | RESPONSE)) == 0) {
      opened.add(new Opened(0, origin));
    }
    for (int bit : new int[] {REQUEST, RESPONSE}) {
      if ((now & bit) != 0) {
        opened.add(new Opened(bit, origin));
      }
    }
  }

  private void dropAndExit(int bit) {
    if (bit == REQUEST) {
      RequestCalls.dropInputs(record);
    } else {
      RequestCalls.dropOutputs(record);
    }
    exit();
  }

  private void recycleIfUnneeded(long after) {
    if ((after & NEEDED_MASK) == 0) {
      recycle();
    }
  }

  private void recycle() {
    RequestCalls.reset(record);
    waiter = null;
    completion = null;
    if (receiver != null) {
      receiver = null; // it is volatile, and writing it is not free
    }
    requestId = null;
    parameters = null;
    failure = null;
    deadlineNs = 0;
    requiredInputsGiven = 0;
    if (borrowed != null) {
      Arrays.fill(borrowed, null);
    }
    if (afterwards != null) {
      runAfterwards();
    }
    STATE.setVolatile(this, ((state >>> GENERATION_SHIFT) + 1) << GENERATION_SHIFT);
    pool.recycle(this);
  }

  // ---- Submission and completion ---------------------------------------------------------------

  /** Hands the record over to the core, once per generation, and holds it as by enter. */
  public void beginSubmit(long generation) {
    long now;
    do {
      now = state;
      checkEditable(now, generation);
    } while (!STATE.compareAndSet(this, now, (now | IN_FLIGHT | SUBMITTED) + HOLD));
    Memory.writeLong(record + RequestLayout.REQUEST_TAG, id);
  }

  /** Takes back what beginSubmit did, when the core was not called. */
  public void undoSubmit() {
    receiver = null;
    completion = null;
    long now;
    long after;
    do {
      now = state;
      after = (now & ~(IN_FLIGHT | SUBMITTED)) - HOLD;
    } while (!STATE.compareAndSet(this, now, after));
    recycleIfUnneeded(after);
  }

  /** Whether the core still has the record. */
  public boolean inFlight() {
    return (state & IN_FLIGHT) != 0;
  }

  /**
   * The record is the caller's again: it was answered by submit itself, or completed later. Inputs
   * of a request that was closed meanwhile are dropped here.
   */
  public void complete() {
    long now;
    long after;
    boolean drop;
    do {
      now = state;
      after = now & ~IN_FLIGHT;
      drop = (now & REQUEST) == 0 && (after & NEEDED_MASK) != 0;
      if (drop) {
        after += HOLD;
      }
    } while (!STATE.compareAndSet(this, now, after));
    if (drop) {
      dropAndExit(REQUEST);
    } else {
      recycleIfUnneeded(after);
    }
  }

  /** Completes and tells whoever waits. On a thread of the core: what it runs does not block. */
  void completeAndWake() {
    // All are read before the state changes: afterwards the slot may serve another request.
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

  /** Turns the hold of a successful submission into an open response. */
  public void toResponse() {
    STATE.getAndAdd(this, RESPONSE - HOLD);
  }

  // ---- The present use -------------------------------------------------------------------------

  /** The thread that completion wakes. */
  public void waiter(Thread thread) {
    waiter = thread;
  }

  /** What completion runs, on the thread that completes, instead of waking a thread. */
  public void completion(Runnable completion) {
    this.completion = completion;
  }

  /** Who gets the answers when there can be several, instead of a thread that is woken; or null. */
  public ResponseReceiver receiver() {
    return receiver;
  }

  public void receiver(ResponseReceiver value) {
    receiver = value;
  }

  /** The pool does not give it out again: what blocks for long is told. */
  void retired() {
    ResponseReceiver receiver = this.receiver;
    if (receiver != null) {
      receiver.retired();
    }
  }

  /** The user's id of the request, or null. */
  public String requestId() {
    return requestId;
  }

  public void requestId(String value) {
    requestId = value;
  }

  /** The user's parameters, or null. */
  public Map<String, Object> parameters() {
    return parameters;
  }

  public void parameters(Map<String, Object> values) {
    parameters = values;
  }

  /** Where the request was made; null: that is not recorded. */
  public Origin origin() {
    return origin;
  }

  public void origin(Origin value) {
    origin = value;
  }

  /** What a backend threw while it executed the request, or null. */
  public Throwable failure() {
    return failure;
  }

  public void failure(Throwable value) {
    failure = value;
  }

  /** Absolute deadline; 0: none. */
  public long deadlineNs() {
    return deadlineNs;
  }

  public void deadlineNs(long value) {
    deadlineNs = value;
  }

  /** How many of the inputs that the model requires have been given. */
  public int requiredInputsGiven() {
    return requiredInputsGiven;
  }

  public void addRequiredInput() {
    requiredInputsGiven++;
  }

  /** Keeps memory of the user's reachable while the core may read it. */
  public void borrow(int input, MemorySegment segment) {
    if (borrowed == null) {
      borrowed = new MemorySegment[pool.inputCount()];
    }
    borrowed[input] = segment;
  }

  /** Has something done, which throws nothing, when nobody reads the record's inputs any more. */
  public void afterwards(Runnable action) {
    if (afterwards == null) {
      afterwards = new ArrayList<>(2);
    }
    afterwards.add(action);
  }

  private void runAfterwards() {
    afterwards.forEach(Runnable::run);
    afterwards = null;
  }

  /** The user's memory that is input {@code input}, or null. */
  public MemorySegment borrowed(int input) {
    return borrowed == null || input >= borrowed.length ? null : borrowed[input];
  }
}
