package io.nereid.triton;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.ffi.NativeCalls;
import io.nereid.internal.ffi.RuntimeHandle;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The library {@code libtritonserver.so}, which runs plug-ins that were made for Triton. It is
 * loaded once, when the first plug-in is needed, and stays until the process ends.
 */
final class PluginLibrary {

  /** {@code NRT_ABI_VERSION} that this binding speaks. */
  private static final int ABI_VERSION = 3;

  /** A pointer to bytes of separate length. */
  static final AddressLayout BYTES =
      NativeCalls.pointer(MemoryLayout.sequenceLayout(Long.MAX_VALUE, JAVA_BYTE));

  /** The {@code nrd_string}. */
  static final StructLayout STRING =
      MemoryLayout.structLayout(BYTES.withName("data"), JAVA_LONG.withName("size"));

  private static volatile SymbolLookup symbols;
  private static volatile Path loadedFrom;

  /** Handles of the library's functions; initialised after {@link #load}. */
  static final class Functions {

    private static final MemoryLayout I = JAVA_INT;
    private static final MemoryLayout L = JAVA_LONG;

    static final MethodHandle START = status("nrt_start", L, L);
    static final MethodHandle SET_LOG_LEVEL = nothing("nrt_set_log_level", I, I);

    static final MethodHandle BACKEND_OPEN =
        status("nrt_backend_open", STRING, STRING, STRING, L, I, L, L);
    static final MethodHandle BACKEND_TABLE = nothing("nrt_backend_table", L, L);
    static final MethodHandle BACKEND_INFO_READ = nothing("nrt_backend_info_read", L, L);
    static final MethodHandle BACKEND_CLOSE = nothing("nrt_backend_close", L, L);
    static final MethodHandle MODEL_READY = status("nrt_model_ready", L, L);

    static final MethodHandle MODEL_CONFIGURE = status("nrt_model_configure", L, STRING, L);
    static final MethodHandle MODEL_BATCHER = status("nrt_model_batcher", L, L, L);
    static final MethodHandle MODEL_GIVE_UP = nothing("nrt_model_give_up", L);

    static final MethodHandle CACHE_OPEN =
        status("nrt_cache_open", STRING, STRING, STRING, L, L, L);
    static final MethodHandle CACHE_CLOSE = nothing("nrt_cache_close", L);

    static final MethodHandle AGENT_OPEN = status("nrt_agent_open", STRING, STRING, L, L);
    static final MethodHandle AGENT_CLOSE = nothing("nrt_agent_close", L);
    static final MethodHandle AGENT_MODEL_OPEN =
        status("nrt_agent_model_open", L, STRING, STRING, STRING, L, I, L, L);
    static final MethodHandle AGENT_MODEL_ACT = status("nrt_agent_model_act", L, I, L);
    static final MethodHandle AGENT_MODEL_LOCATION = nothing("nrt_agent_model_location", L, L, L);
    static final MethodHandle AGENT_MODEL_CLOSE = nothing("nrt_agent_model_close", L);

    static final MethodHandle METRICS_WRITE = nothing("nrt_metrics_write", L, L);
    static final MethodHandle HANDLES_WRITE = nothing("nrt_handles_write", L, L);

    private Functions() {}

    private static MethodHandle status(String name, MemoryLayout... parameters) {
      FunctionDescriptor type = FunctionDescriptor.of(JAVA_INT, parameters);
      return NativeCalls.downcall(symbols, loadedFrom, name, type);
    }

    private static MethodHandle nothing(String name, MemoryLayout... parameters) {
      FunctionDescriptor type = FunctionDescriptor.ofVoid(parameters);
      return NativeCalls.downcall(symbols, loadedFrom, name, type);
    }
  }

  private PluginLibrary() {}

  /** Loads the library at a path, once; the core was loaded before. */
  static synchronized void load(Path path) {
    if (symbols != null) {
      return;
    }
    SymbolLookup lookup;
    try {
      lookup = NativeCalls.library(path);
    } catch (IllegalArgumentException e) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION, "cannot load the library for plug-ins, " + path, e);
    }
    MethodHandle function =
        NativeCalls.downcall(lookup, path, "nrt_abi_version", FunctionDescriptor.of(JAVA_INT));
    int[] version = new int[1];
    NativeCalls.run(() -> version[0] = (int) function.invokeExact());
    if (version[0] != ABI_VERSION) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "the library for plug-ins, %s, has ABI version %s, this binding needs %s"
              .formatted(path, version[0], ABI_VERSION));
    }
    loadedFrom = path;
    symbols = lookup;
  }

  /**
   * Makes plug-ins use a runtime.
   *
   * @param checked whether handles of plug-ins are looked up before each use
   * @param gpus whether memory of GPUs can be allocated
   */
  static void start(RuntimeHandle runtime, boolean checked, boolean gpus) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment host = PluginUpcalls.record(arena, runtime, checked, gpus);
      NativeCalls.check(error -> (int) Functions.START.invokeExact(host.address(), error));
    }
  }

  /** The least important level that plug-ins log, as numbers of {@code nrd_log_fn}. */
  static void logLevel(int level, int verbosity) {
    NativeCalls.run(() -> {
      Functions.SET_LOG_LEVEL.invokeExact(level, verbosity);
    });
  }

  /** Throws the error of the first instance of a load that is not ready. */
  static void checkReady(long load) {
    NativeCalls.check(error -> (int) Functions.MODEL_READY.invokeExact(load, error));
  }

  /** Gives the backend of the load with this number the configuration with all defaults. */
  static void configure(long load, String config) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = string(arena, config);
      NativeCalls.check(error -> (int) Functions.MODEL_CONFIGURE.invokeExact(load, text, error));
    }
  }

  /**
   * Adds the batcher of a load's backend, if it has one; called after its source was opened.
   *
   * @param memory the memory of the options
   */
  static void batcher(Arena memory, long load, ModelOptionsRecord options) {
    MemorySegment table = memory.allocate(ModelOptionsRecord.BATCHER);
    try {
      NativeCalls.check(
          error -> (int) Functions.MODEL_BATCHER.invokeExact(load, table.address(), error));
    } catch (NereidException e) {
      if (e.code() == StatusCode.NOT_FOUND) {
        return; // it has no batcher
      }
      throw e;
    }
    options.useBatcher(table);
  }

  /** Fails the requests that a load's backend still has, after draining took too long. */
  static void giveUp(long load) {
    NativeCalls.run(() -> {
      Functions.MODEL_GIVE_UP.invokeExact(load);
    });
  }

  /** The metrics that plug-ins made, in the text format of Prometheus. */
  static String metrics() {
    return PluginUpcalls.taken((taker, take) -> {
      Functions.METRICS_WRITE.invokeExact(taker, take);
    });
  }

  /**
   * Returns the counts of the server's objects that plug-ins hold, a line for each kind; empty:
   * none.
   */
  static String handles() {
    return PluginUpcalls.taken((taker, take) -> {
      Functions.HANDLES_WRITE.invokeExact(taker, take);
    });
  }

  /** Makes a string for passing to a function. */
  static MemorySegment string(Arena arena, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    MemorySegment string = arena.allocate(STRING);
    string.set(BYTES, 0, arena.allocateFrom(JAVA_BYTE, bytes));
    string.set(JAVA_LONG, BYTES.byteSize(), bytes.length);
    return string;
  }

  /** The text of a string that a plug-in passes. */
  static String text(MemorySegment string) {
    return text(string.get(BYTES, 0), string.get(JAVA_LONG, BYTES.byteSize()));
  }

  /** The text of this size in memory that a plug-in passes. */
  static String text(MemorySegment bytes, long size) {
    return new String(bytes.asSlice(0, size).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
  }
}
