package io.nereid.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The memory of a pool as segments, by address; once closed, they throw instead of faulting. Any
 * thread may use it; only memory of an open request, response or batch may be touched.
 */
public final class PoolMemory {

  private final Arena arena = Arena.ofShared();
  private final MemorySegment writable = Memory.whole(arena);
  private final MemorySegment readOnly = writable.asReadOnly();

  /** The memory for callers that fill it in. */
  public MemorySegment writable() {
    return writable;
  }

  /** The memory for callers that read it. */
  public MemorySegment readOnly() {
    return readOnly;
  }

  /**
   * Lets all segments fail from now on.
   *
   * @throws IllegalStateException when a thread is inside a native call with one of them
   */
  public void close() {
    arena.close();
  }
}
