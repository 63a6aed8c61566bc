package io.nereid.triton;

import io.nereid.internal.ffi.NativeCalls;
import io.nereid.internal.ffi.RuntimeHandle;
import io.nereid.types.NereidException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * An {@code nrt_cache}: a response cache that is a plug-in. It outlives the runtime that uses it.
 */
final class PluginCacheHandle {

  private final long address;

  private PluginCacheHandle(long address) {
    this.address = address;
  }

  /**
   * Loads a cache's library, and makes it a runtime's response cache.
   *
   * @param config its settings, in JSON
   */
  static PluginCacheHandle use(RuntimeHandle runtime, String name, String library, String config) {
    try (Arena memory = Arena.ofConfined()) {
      MemorySegment table = memory.allocate(RuntimeHandle.CACHE);
      PluginCacheHandle cache =
          new PluginCacheHandle(
              NativeCalls.make((arena, out, error) ->
                  (int)
                      PluginLibrary.Functions.CACHE_OPEN.invokeExact(
                          PluginLibrary.string(arena, name),
                          PluginLibrary.string(arena, library),
                          PluginLibrary.string(arena, config),
                          out,
                          table.address(),
                          error)));
      try {
        runtime.useCache(table);
      } catch (NereidException e) {
        cache.close();
        throw e;
      }
      return cache;
    }
  }

  /** Finalises the cache, after its runtime was released. */
  void close() {
    NativeCalls.run(() -> {
      PluginLibrary.Functions.CACHE_CLOSE.invokeExact(address);
    });
  }
}
