package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * An {@code nrt_cache}: a response cache that is a plug-in. It outlives the runtime that uses it.
 */
public final class PluginCacheHandle {

  private final long address;

  private PluginCacheHandle(long address) {
    this.address = address;
  }

  /**
   * Loads a cache's library, and lets a runtime keep its responses there.
   *
   * @param config its settings, in JSON
   */
  public static PluginCacheHandle use(
      RuntimeHandle runtime, String name, String library, String config) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      MemorySegment table = arena.allocate(RuntimeHandle.CACHE);
      long error = ErrorRecord.allocate(arena);
      int status;
      try {
        status =
            (int)
                PluginLibrary.Functions.CACHE_OPEN.invokeExact(
                    PluginLibrary.string(arena, name),
                    PluginLibrary.string(arena, library),
                    PluginLibrary.string(arena, config),
                    out.address(),
                    table.address(),
                    error);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
      ErrorRecord.check(status, error);
      PluginCacheHandle cache = new PluginCacheHandle(out.get(JAVA_LONG, 0));
      try {
        runtime.useCache(table.address());
      } catch (RuntimeException e) {
        cache.close();
        throw e;
      }
      return cache;
    }
  }

  /** Lets it end; its runtime is gone. */
  public void close() {
    try {
      PluginLibrary.Functions.CACHE_CLOSE.invokeExact(address);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }
}
