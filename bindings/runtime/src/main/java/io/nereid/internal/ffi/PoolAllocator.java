package io.nereid.internal.ffi;

/**
 * The functions that allocate the pool's memory: C functions as in {@code nrd_runtime_options}, by
 * address.
 *
 * @param context given to both functions
 * @param allocate an {@code nrd_allocate_fn}; 0: the core's own allocator
 * @param deallocate an {@code nrd_deallocate_fn}
 */
public record PoolAllocator(long context, long allocate, long deallocate) {

  /** The core's own allocator. */
  public static final PoolAllocator DEFAULT = new PoolAllocator(0, 0, 0);
}
