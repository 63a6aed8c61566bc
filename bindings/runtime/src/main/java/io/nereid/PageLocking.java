package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.ErrorRecord;
import io.nereid.internal.ffi.NativeLibrary;
import io.nereid.internal.ffi.RuntimeCalls;
import io.nereid.types.NereidException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Page-locks the pool of one runtime, from when it is first said that GPUs use it: what has to do
 * with no GPU pays for none. Memory that cannot be locked is used as it is, with one warning.
 */
public final class PageLocking {

  private static final int LOCKED = 0;
  private static final int NOT_LOCKED = 1;

  /** Addresses of an {@code nrd_lock_pages_fn} and its counterpart, made when first needed. */
  private static final class Upcalls {
    static final long LOCK =
        upcall("lock", int.class, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    static final long UNLOCK =
        upcall("unlock", void.class, FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG));

    private static long upcall(String name, Class<?> result, FunctionDescriptor type) {
      try {
        return NativeLibrary.upcall(
            MethodHandles.lookup()
                .findStatic(
                    PageLocking.class,
                    name,
                    MethodType.methodType(result, long.class, long.class, long.class)),
            type);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }
  }

  private final NativeRuntime runtime;
  private final PageKeeper keeper;

  /** Why a piece of memory was not locked, the first time; null: all were. */
  private final AtomicReference<String> failure = new AtomicReference<>();

  private boolean begun;

  /** Known before the core calls for the first time, and fixed. */
  private volatile int device;

  PageLocking(NativeRuntime runtime, PageKeeper keeper) {
    this.runtime = runtime;
    this.keeper = keeper;
  }

  /**
   * GPUs use the pool's memory from now on. Only the first call does anything.
   *
   * @param firstDevice number of the GPU that is used anyway: others get no context because of this
   */
  public synchronized void begin(int firstDevice) {
    if (begun) {
      return;
    }
    begun = true;
    device = firstDevice;
    if (!runtime.options().pageLockPool()) {
      return;
    }
    runtime.use(handle -> {
      try (Arena scratch = Arena.ofConfined()) {
        long error = ErrorRecord.allocate(scratch);
        ErrorRecord.check(
            RuntimeCalls.lockPages(handle, runtime.number(), Upcalls.LOCK, Upcalls.UNLOCK, error),
            error);
        return null;
      }
    });
  }

  /** What is the case, in words; empty: no GPU uses the pool. */
  synchronized Optional<String> text() {
    if (!begun) {
      return Optional.empty();
    }
    if (!runtime.options().pageLockPool()) {
      return Optional.of("plain memory, as its page locking is off");
    }
    String reason = failure.get();
    return Optional.of(
        reason == null ? "page-locked for GPUs" : "not all page-locked for GPUs: " + reason);
  }

  // ---- Called by the core ----------------------------------------------------------------------

  static int lock(long number, long memory, long byteSize) {
    PageLocking locking = null;
    try {
      locking = NativeRuntime.find(number).pageLocking();
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
      PageLocking locking = NativeRuntime.find(number).pageLocking();
      locking.keeper.unlock(locking.device, memory, byteSize);
    } catch (Throwable t) {
      RuntimeUpcalls.logQuietly("memory of the pool could not be unlocked", t);
    }
  }

  private void failed(Throwable t) {
    try {
      String reason = t instanceof NereidException ? t.getMessage() : t.toString();
      if (failure.compareAndSet(null, reason)) {
        RuntimeUpcalls.LOGGER.log(
            Level.WARNING,
            "memory of the pool is not page-locked, so that copies to and from GPUs take longer: "
                + reason);
      }
    } catch (Throwable second) {
      // There is nowhere left to report it.
    }
  }
}
