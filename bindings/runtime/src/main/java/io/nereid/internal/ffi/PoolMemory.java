package io.nereid.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The memory of a pool as segments, by address, until it is closed: then they fail instead of
 * faulting. For any threads; only what belongs to an open request, response or batch may be
 * touched.
 */
public final class PoolMemory {

  private final Arena arena = Arena.ofShared();
  private final MemorySegment writable = Memory.whole(arena);
  private final MemorySegment readOnly = writable.asReadOnly();

  /** For those who fill it in. */
  public MemorySegment writable() {
    return writable;
  }

  /** For those who read it. */
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
