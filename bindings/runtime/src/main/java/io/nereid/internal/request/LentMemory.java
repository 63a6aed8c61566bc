package io.nereid.internal.request;

import io.nereid.internal.ffi.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * In the checked mode: the memory of the pool as one owner lends it. Segments of it fail when the
 * owner has taken it back. Used by any threads; the owner says whether it is open.
 */
public final class LentMemory {

  private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(100);

  /** How long a thread may take to leave a native call that it is in with a segment. */
  private static final long LEAVE_NS = TimeUnit.SECONDS.toNanos(1);

  private final Arena arena = Arena.ofShared();
  private final MemorySegment whole = Memory.whole(arena);

  /** The whole memory by address, with the rights that {@code rights} gives. */
  public MemorySegment as(MemorySegment rights) {
    return rights.isReadOnly() ? whole.asReadOnly() : whole;
  }

  /** Lets all segments fail from now on. Waits for threads in native calls with one. */
  public void takeBack() {
    long deadlineNs = System.nanoTime() + LEAVE_NS;
    while (true) {
      try {
        arena.close();
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
}
