package io.nereid;

import static io.nereid.internal.ffi.RequestLayout.TENSOR_DATA;
import static io.nereid.internal.ffi.RequestLayout.TENSOR_FLAGS;
import static io.nereid.internal.ffi.RequestLayout.TENSOR_SELECTED;
import static io.nereid.internal.ffi.RequestLayout.TENSOR_SLAB;

import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.RequestCalls;
import io.nereid.internal.ffi.RequestLayout;
import io.nereid.internal.request.Slot;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Gives a request's input its memory. The caller has the slot to itself. */
final class InputBinder {

  private static final long RETRY_NS = TimeUnit.MICROSECONDS.toNanos(200);

  private static final Object GLOBAL_SCOPE = Arena.global().scope();

  /**
   * The class of automatic arenas' scopes. There is no other way to tell memory that stays as long
   * as it is reachable from memory that somebody can close; null when this platform's closeable
   * scopes are of the same class, so that nothing is taken for automatic by mistake.
   */
  private static final Class<?> AUTOMATIC_SCOPE = automaticScope();

  private InputBinder() {}

  private static Class<?> automaticScope() {
    Class<?> automatic = Arena.ofAuto().scope().getClass();
    try (Arena confined = Arena.ofConfined();
        Arena shared = Arena.ofShared()) {
      boolean distinct =
          automatic != confined.scope().getClass() && automatic != shared.scope().getClass();
      return distinct ? automatic : null;
    }
  }

  /**
   * Gives input {@code index}, described at {@code input}, the memory or the content of a tensor.
   */
  static void bind(
      LoadedModel model, Slot slot, int index, long input, Tensor tensor, boolean callers) {
    MemorySegment segment = tensor.segment();
    if (callers && isPermanent(segment)) {
      slot.borrow(index, segment);
      Memory.writeLong(input + TENSOR_DATA, segment.address());
      Memory.writeInt(input + TENSOR_FLAGS, TENSOR_SELECTED);
      return;
    }
    allocate(model, slot, index, tensor.byteSize());
    try {
      Memory.write(Memory.readLong(input + TENSOR_DATA), segment, tensor.byteSize());
    } catch (RuntimeException e) {
      // The segment cannot be read, by this thread or any more: leave the input as not given.
      Memory.writeInt(input + TENSOR_FLAGS, 0);
      throw e;
    }
  }

  private static boolean isPermanent(MemorySegment segment) {
    if (!segment.isNative() || segment.address() == 0) {
      return false;
    }
    MemorySegment.Scope scope = segment.scope();
    return scope.equals(GLOBAL_SCOPE) || scope.getClass() == AUTOMATIC_SCOPE;
  }

  /** Gives an input memory from the pool; waits for it when the request has a deadline. */
  static void allocate(LoadedModel model, Slot slot, int index, long byteSize) {
    while (true) {
      int status = RequestCalls.inputAlloc(slot.record(), index);
      if (status == StatusCode.OK.number()) {
        return;
      }
      NereidException failure =
          new NereidException(StatusCode.ofNumber(status), RequestLayout.message(slot.record()));
      if (failure.code() != StatusCode.RESOURCE_EXHAUSTED
          || slot.deadlineNs() == 0
          || byteSize > model.runtime().poolByteLimit()) {
        throw failure;
      }
      if (System.nanoTime() - slot.deadlineNs() >= 0) {
        throw new NereidException(
            StatusCode.DEADLINE_EXCEEDED, "no memory for an input before the deadline", failure);
      }
      if (Thread.currentThread().isInterrupted()) {
        throw new NereidException(
            StatusCode.CANCELLED, "interrupted while waiting for memory for an input", failure);
      }
      LockSupport.parkNanos(RETRY_NS);
    }
  }

  /** Makes an input refer to a buffer, of which the caller retained a reference for it. */
  static void adopt(long input, long data, long slab) {
    Memory.writeLong(input + TENSOR_DATA, data);
    Memory.writeLong(input + TENSOR_SLAB, slab);
    Memory.writeInt(input + TENSOR_FLAGS, TENSOR_SELECTED);
  }
}
