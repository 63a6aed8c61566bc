package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.types.NereidException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * An {@code nrt_cache}: a response cache that is a plug-in. It outlives the runtime that uses it.
 */
public final class PluginCacheHandle {

  /** The core's function; looked up when the first cache is opened. */
  private static final MethodHandle RUNTIME_USE_CACHE =
      NativeCalls.downcall(
          "nrd_runtime_use_cache",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

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
    try (Arena memory = Arena.ofConfined()) {
      long table = memory.allocate(RuntimeHandle.CACHE).address();
      PluginCacheHandle cache =
          new PluginCacheHandle(
              NativeCalls.make((arena, out, error) ->
                  (int)
                      PluginLibrary.Functions.CACHE_OPEN.invokeExact(
                          PluginLibrary.string(arena, name),
                          PluginLibrary.string(arena, library),
                          PluginLibrary.string(arena, config),
                          out,
                          table,
                          error)));
      try {
        NativeCalls.check(
            error -> (int) RUNTIME_USE_CACHE.invokeExact(runtime.address(), table, error));
      } catch (NereidException e) {
        cache.close();
        throw e;
      }
      return cache;
    }
  }

  /** Lets it end; its runtime is gone. */
  public void close() {
    NativeCalls.run(() -> {
      PluginLibrary.Functions.CACHE_CLOSE.invokeExact(address);
    });
  }
}
