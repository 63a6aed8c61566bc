package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.model.ResourceCount;
import io.nereid.statistics.CacheStatistics;
import io.nereid.statistics.PoolStatistics;
import io.nereid.statistics.ResourceStatistics;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;

/** An {@code nrd_runtime}. Its owner keeps it alive while others call, and releases it once. */
public final class RuntimeHandle {

  /**
   * The settings that a runtime is made with.
   *
   * @param poolByteLimit cap on the pool's memory; 0: the core's default
   * @param cacheByteLimit size of the response cache; 0: none
   * @param stageHistograms whether models keep distributions of the times of stages
   * @param poisonFreed whether memory that was given back is overwritten
   */
  public record Settings(
      long poolByteLimit, long cacheByteLimit, boolean stageHistograms, boolean poisonFreed) {}

  private static final int STAGE_HISTOGRAMS = 1; // NRD_RUNTIME_STAGE_HISTOGRAMS
  private static final int POISON_FREED = 2; // NRD_RUNTIME_POISON_FREED

  static final StructLayout OPTIONS =
      Memory.struct(
          "int struct_size, flags; long pool_byte_limit, pool_chunk_bytes, cache_byte_limit, "
              + "allocator_context, allocate, deallocate, complete_context, complete, "
              + "respond_context, respond, log_context, log");

  /** {@code nrd_cache}: a response cache in place of the core's. */
  public static final StructLayout CACHE = Memory.struct("long context, lookup, insert");

  private final long address;

  private RuntimeHandle(long address) {
    this.address = address;
  }

  /** The address of the {@code nrd_runtime}. */
  public long address() {
    return address;
  }

  /** Makes a runtime that tells the receiver with this number of its requests. */
  public static RuntimeHandle create(Settings settings, PoolAllocator allocator, long receiver) {
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment options = Memory.sized(scratch, OPTIONS);
      int flags = settings.stageHistograms() ? STAGE_HISTOGRAMS : 0;
      flags |= settings.poisonFreed() ? POISON_FREED : 0;
      options.set(JAVA_INT, Memory.offset(OPTIONS, "flags"), flags);
      set(options, "pool_byte_limit", settings.poolByteLimit());
      set(options, "cache_byte_limit", settings.cacheByteLimit());
      set(options, "allocator_context", allocator.context());
      set(options, "allocate", allocator.allocate());
      set(options, "deallocate", allocator.deallocate());
      set(options, "complete_context", receiver);
      set(options, "complete", RequestUpcalls.COMPLETE);
      set(options, "respond_context", receiver);
      set(options, "respond", RequestUpcalls.RESPOND);
      set(options, "log", CoreLog.Upcall.LOG);
      long record = options.address();
      return new RuntimeHandle(
          NativeCalls.make(
              (arena, out, error) -> (int) Handles.RUNTIME_CREATE.invokeExact(record, out, error)));
    }
  }

  private static void set(MemorySegment options, String field, long value) {
    options.set(JAVA_LONG, Memory.offset(OPTIONS, field), value);
  }

  /**
   * Offers all memory of the pool, from now on, to functions that page-lock it.
   *
   * @param context given to both functions
   * @param lock an {@code nrd_lock_pages_fn} from {@link NativeCalls#upcall}
   * @param unlock its counterpart
   */
  public void lockPages(long context, long lock, long unlock) {
    NativeCalls.check(error ->
        (int) Handles.RUNTIME_LOCK_PAGES.invokeExact(address, context, lock, unlock, error));
  }

  /** Lets an {@code nrd_cache}, which outlives the runtime, keep responses from now on. */
  public void useCache(MemorySegment cache) {
    MethodHandle use = NativeCalls.status("nrd_runtime_use_cache", JAVA_LONG, JAVA_LONG, JAVA_LONG);
    NativeCalls.check(error -> (int) use.invokeExact(address, cache.address(), error));
  }

  /** Sets the amounts of some resources, once, before models are loaded. */
  public void limit(List<ResourceCount> resources) {
    try (Arena scratch = Arena.ofConfined()) {
      long array = LimitRecord.write(scratch, resources);
      NativeCalls.check(error ->
          (int)
              Handles.OfLimits.RUNTIME_LIMIT.invokeExact(address, array, resources.size(), error));
    }
  }

  /** The resources that instances need now. */
  public List<ResourceStatistics> resourceStatistics() {
    return LimitRecord.resources(address);
  }

  /** The state of the memory pool. */
  public PoolStatistics poolStatistics() {
    return StatisticsRecord.pool(address);
  }

  /** The state of the response cache. */
  public CacheStatistics cacheStatistics() {
    return StatisticsRecord.cache(address);
  }

  /** Releases the runtime with all its memory, after all models were released. */
  public void release() {
    NativeCalls.check(error -> (int) Handles.RUNTIME_RELEASE.invokeExact(address, error));
  }
}
