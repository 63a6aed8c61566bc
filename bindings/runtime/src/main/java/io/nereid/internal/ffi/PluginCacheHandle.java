package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
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
        status = (int) RUNTIME_USE_CACHE.invokeExact(runtime.address(), table.address(), error);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
      if (status != StatusCode.OK.number()) {
        cache.close();
        throw ErrorRecord.exception(status, error);
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
