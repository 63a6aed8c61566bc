package io.nereid.internal.request;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.ffi.PoolMemory;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The pool's memory, lent by one owner in the checked mode. Its segments fail once the owner has
 * taken them back. Any thread may use it; the owner decides whether it is open.
 */
public final class LentMemory {

  private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(100);

  /** The time that a thread may take to leave a native call that it is in with a segment. */
  private static final long LEAVE_NS = TimeUnit.SECONDS.toNanos(1);

  private final PoolMemory memory = new PoolMemory();

  /** Returns all memory by address, read-only if {@code rights} is. */
  public MemorySegment as(MemorySegment rights) {
    return rights.isReadOnly() ? memory.readOnly() : memory.writable();
  }

  /** Lets all segments fail from now on. Waits for threads in native calls with one. */
  public void takeBack() {
    long deadlineNs = System.nanoTime() + LEAVE_NS;
    while (true) {
      try {
        memory.close();
        return;
      } catch (IllegalStateException e) {
        if (System.nanoTime() - deadlineNs >= 0) {
          throw new IllegalStateException(
              "a thread is inside a native call with a segment of what is being closed", e);
        }
        LockSupport.parkNanos(POLL_NS);
      }
    }
  }

  /**
   * The loans of a slot's handles, each until the handle is closed: that of the request, and that
   * of the response. Any thread may call.
   */
  static final class Loans {

    private record Loan(long generation, LentMemory memory) {}

    // The loans of the request and the response, each while it is open, or is just being closed.
    @GuardedBy("this")
    private Loan request;

    @GuardedBy("this")
    private Loan response;

    /** Returns {@code memory} for the holder of a handle that the caller keeps open. */
    synchronized MemorySegment lend(long generation, boolean toRequest, MemorySegment memory) {
      Loan loan = toRequest ? request : response;
      if (loan == null || loan.generation != generation) {
        takeBack(loan);
        loan = new Loan(generation, new LentMemory());
        set(toRequest, loan);
      }
      return loan.memory.as(memory);
    }

    /**
     * Ends the loan of a closed handle. The slot may serve another generation by now, whose loan
     * stays.
     */
    synchronized void takeBack(long generation, boolean ofRequest) {
      Loan loan = ofRequest ? request : response;
      if (loan != null && loan.generation == generation) {
        set(ofRequest, null);
        takeBack(loan);
      }
    }

    private static void takeBack(Loan loan) {
      if (loan != null) {
        loan.memory.takeBack();
      }
    }

    @GuardedBy("this")
    private void set(boolean ofRequest, Loan loan) {
      if (ofRequest) {
        request = loan;
      } else {
        response = loan;
      }
    }
  }
}
