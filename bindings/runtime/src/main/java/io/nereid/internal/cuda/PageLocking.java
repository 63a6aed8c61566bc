package io.nereid.internal.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.ffi.NativeCalls;
import io.nereid.internal.ffi.Registry;
import io.nereid.internal.ffi.RuntimeHandle;
import io.nereid.types.NereidException;
import java.lang.System.Logger.Level;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandles;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Page-locks the pool of one runtime, once a GPU first uses it, so that programs without GPUs pay
 * nothing. Memory that cannot be locked is used as it is, with one warning.
 */
public final class PageLocking {

  private static final int LOCKED = 0;
  private static final int NOT_LOCKED = 1;

  /** The registry of the numbers by which the core names the page locking of each runtime. */
  private static final Registry<PageLocking> LOCKINGS = new Registry<>();

  /** Addresses of an {@code nrd_lock_pages_fn} and its counterpart, made when first needed. */
  private static final class Upcalls {
    static final long LOCK =
        NativeCalls.upcall(
            MethodHandles.lookup(),
            "lock",
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    static final long UNLOCK =
        NativeCalls.upcall(
            MethodHandles.lookup(),
            "unlock",
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG));

    static int lock(long number, long memory, long byteSize) {
      PageLocking locking = null;
      try {
        locking = LOCKINGS.find(number);
        locking.keeper.lock(locking.device, memory, byteSize);
        return LOCKED;
      } catch (Throwable t) {
        if (locking != null) {
          locking.failed(t);
        }
        return NOT_LOCKED;
      }
    }

    static void unlock(long number, long memory, long byteSize) {
      try {
        PageLocking locking = LOCKINGS.find(number);
        locking.keeper.unlock(locking.device, memory, byteSize);
      } catch (Throwable t) {
        CoreLog.logQuietly("memory of the pool could not be unlocked", t);
      }
    }
  }

  private final boolean enabled;
  private final PageKeeper keeper;

  /**
   * The reason why a piece of memory could not be locked, the first time; null: all were locked.
   */
  private final AtomicReference<String> failure = new AtomicReference<>();

  @GuardedBy("this")
  private boolean begun;

  @GuardedBy("this")
  private long number; // 0: locking has not begun

  /** Known before the core calls for the first time, and fixed. */
  private volatile int device;

  /** Prepares the page locking of a runtime; nothing is locked unless it is enabled. */
  public PageLocking(boolean enabled, PageKeeper keeper) {
    this.enabled = enabled;
    this.keeper = keeper;
  }

  /**
   * Begins locking, as GPUs use the runtime's memory from now on. Only the first call has an
   * effect.
   *
   * @param firstDevice number of a GPU that is in use anyway, so that no other gets a context
   */
  public synchronized void begin(RuntimeHandle runtime, int firstDevice) {
    if (begun) {
      return;
    }
    begun = true;
    device = firstDevice;
    if (enabled) {
      number = LOCKINGS.add(this);
      runtime.lockPages(number, Upcalls.LOCK, Upcalls.UNLOCK);
    }
  }

  /** Ends locking, after the runtime was released. */
  public synchronized void end() {
    LOCKINGS.remove(number);
  }

  /** The state of the pool's page locking, in words; empty: no GPU uses the pool. */
  public synchronized Optional<String> text() {
    if (!begun) {
      return Optional.empty();
    }
    if (!enabled) {
      return Optional.of("plain memory, as its page locking is off");
    }
    String reason = failure.get();
    return Optional.of(
        reason == null ? "page-locked for GPUs" : "not all page-locked for GPUs: " + reason);
  }

  private void failed(Throwable t) {
    try {
      String reason = t instanceof NereidException ? t.getMessage() : t.toString();
      if (failure.compareAndSet(null, reason)) {
        CoreLog.LOGGER.log(
            Level.WARNING,
            "memory of the pool is not page-locked, so that copies to and from GPUs take longer: "
                + reason);
      }
    } catch (Throwable second) {
      // There is nowhere left to report it.
    }
  }
}
