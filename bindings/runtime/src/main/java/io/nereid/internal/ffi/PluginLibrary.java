package io.nereid.internal.ffi;

import static io.nereid.internal.ffi.TensorSpecRecord.STRING;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * The library {@code libtritonserver.so}, which runs plug-ins that were made for Triton. It is
 * loaded once, when the first plug-in is needed, and stays until the process ends.
 */
public final class PluginLibrary {

  /** {@code NRT_ABI_VERSION} that this binding speaks. */
  private static final int ABI_VERSION = 3;

  private static volatile SymbolLookup symbols;
  private static volatile Path loadedFrom;

  /** Handles of the library's functions; initialised after {@link #load}. */
  static final class Functions {

    private static final MemoryLayout L = JAVA_LONG;

    static final MethodHandle START = find("nrt_start", FunctionDescriptor.of(JAVA_INT, L, L));
    static final MethodHandle SET_LOG_LEVEL =
        find("nrt_set_log_level", FunctionDescriptor.ofVoid(JAVA_INT, JAVA_INT));

    static final MethodHandle BACKEND_OPEN =
        find(
            "nrt_backend_open",
            FunctionDescriptor.of(JAVA_INT, STRING, STRING, STRING, L, JAVA_INT, L, L));
    static final MethodHandle BACKEND_TABLE =
        find("nrt_backend_table", FunctionDescriptor.ofVoid(L, L));
    static final MethodHandle BACKEND_INFO_READ =
        find("nrt_backend_info_read", FunctionDescriptor.ofVoid(L, L));
    static final MethodHandle BACKEND_CLOSE =
        find("nrt_backend_close", FunctionDescriptor.ofVoid(L, L));
    static final MethodHandle MODEL_READY =
        find("nrt_model_ready", FunctionDescriptor.of(JAVA_INT, L, L));

    static final MethodHandle MODEL_CONFIGURE =
        find("nrt_model_configure", FunctionDescriptor.of(JAVA_INT, L, STRING, L));
    static final MethodHandle MODEL_BATCHER =
        find("nrt_model_batcher", FunctionDescriptor.of(JAVA_INT, L, L, L));
    static final MethodHandle MODEL_GIVE_UP =
        find("nrt_model_give_up", FunctionDescriptor.ofVoid(L));

    static final MethodHandle CACHE_OPEN =
        find("nrt_cache_open", FunctionDescriptor.of(JAVA_INT, STRING, STRING, STRING, L, L, L));
    static final MethodHandle CACHE_CLOSE = find("nrt_cache_close", FunctionDescriptor.ofVoid(L));

    static final MethodHandle AGENT_OPEN =
        find("nrt_agent_open", FunctionDescriptor.of(JAVA_INT, STRING, STRING, L, L));
    static final MethodHandle AGENT_CLOSE = find("nrt_agent_close", FunctionDescriptor.ofVoid(L));
    static final MethodHandle AGENT_MODEL_OPEN =
        find(
            "nrt_agent_model_open",
            FunctionDescriptor.of(JAVA_INT, L, STRING, STRING, STRING, L, JAVA_INT, L, L));
    static final MethodHandle AGENT_MODEL_ACT =
        find("nrt_agent_model_act", FunctionDescriptor.of(JAVA_INT, L, JAVA_INT, L));
    static final MethodHandle AGENT_MODEL_LOCATION =
        find("nrt_agent_model_location", FunctionDescriptor.ofVoid(L, L, L));
    static final MethodHandle AGENT_MODEL_CLOSE =
        find("nrt_agent_model_close", FunctionDescriptor.ofVoid(L));

    static final MethodHandle METRICS_WRITE =
        find("nrt_metrics_write", FunctionDescriptor.ofVoid(L, L));
    static final MethodHandle HANDLES_WRITE =
        find("nrt_handles_write", FunctionDescriptor.ofVoid(L, L));

    private Functions() {}

    private static MethodHandle find(String name, FunctionDescriptor type) {
      return NativeCalls.downcall(symbols, loadedFrom, name, type);
    }
  }

  private PluginLibrary() {}

  /** Whether it was loaded before. */
  public static boolean isLoaded() {
    return symbols != null;
  }

  /** Loads the library at a path, once; the core was loaded before. */
  @SuppressWarnings("restricted")
  public static synchronized void load(Path path) {
    if (symbols != null) {
      return;
    }
    SymbolLookup lookup;
    try {
      lookup = SymbolLookup.libraryLookup(path, Arena.global());
    } catch (IllegalArgumentException e) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION, "cannot load the library for plug-ins, " + path, e);
    }
    int version = version(lookup);
    if (version != ABI_VERSION) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "the library for plug-ins, "
              + path
              + ", has ABI version "
              + version
              + ", this binding needs "
              + ABI_VERSION);
    }
    loadedFrom = path;
    symbols = lookup;
  }

  @SuppressWarnings("restricted")
  private static int version(SymbolLookup lookup) {
    var function = lookup.find("nrt_abi_version");
    if (function.isEmpty()) {
      return 0; // it is another libtritonserver.so
    }
    try {
      return (int)
          Linker.nativeLinker()
              .downcallHandle(function.get(), FunctionDescriptor.of(JAVA_INT))
              .invokeExact();
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /**
   * Makes a runtime the one whose models plug-ins find.
   *
   * @param checked whether handles of plug-ins are looked up before each use
   * @param gpus whether there is memory of GPUs
   */
  public static void start(RuntimeHandle runtime, boolean checked, boolean gpus) {
    try (Arena arena = Arena.ofConfined()) {
      long error = ErrorRecord.allocate(arena);
      long host = PluginUpcalls.record(arena, runtime.address(), checked, gpus);
      int status;
      try {
        status = (int) Functions.START.invokeExact(host, error);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
      ErrorRecord.check(status, error);
    }
  }

  /** The least important level that plug-ins log, as numbers of {@code nrd_log_fn}. */
  public static void logLevel(int level, int verbosity) {
    try {
      Functions.SET_LOG_LEVEL.invokeExact(level, verbosity);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** Throws what the first instance says that is not ready, of the load with this number. */
  public static void checkReady(long load) {
    try (Arena arena = Arena.ofConfined()) {
      long error = ErrorRecord.allocate(arena);
      int status;
      try {
        status = (int) Functions.MODEL_READY.invokeExact(load, error);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
      ErrorRecord.check(status, error);
    }
  }

  /** Gives the backend of the load with this number the configuration with all defaults. */
  public static void configure(long load, String config) {
    try (Arena arena = Arena.ofConfined()) {
      long error = ErrorRecord.allocate(arena);
      int status;
      try {
        status = (int) Functions.MODEL_CONFIGURE.invokeExact(load, string(arena, config), error);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
      ErrorRecord.check(status, error);
    }
  }

  /**
   * Lets the backend of the load with this number say which requests go together, where it does;
   * after its source was opened.
   *
   * @param memory that of the options
   */
  public static void batcher(Arena memory, long load, ModelOptionsRecord options) {
    try (Arena arena = Arena.ofConfined()) {
      long error = ErrorRecord.allocate(arena);
      long table = memory.allocate(ModelOptionsRecord.BATCHER).address();
      int status;
      try {
        status = (int) Functions.MODEL_BATCHER.invokeExact(load, table, error);
      } catch (Throwable t) {
        throw NativeCalls.unexpected(t);
      }
      if (status != StatusCode.NOT_FOUND.number()) {
        ErrorRecord.check(status, error);
        options.useBatcher(table);
      }
    }
  }

  /**
   * Fails what the backend of the load with this number still has, after draining took too long.
   */
  public static void giveUp(long load) {
    try {
      Functions.MODEL_GIVE_UP.invokeExact(load);
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
  }

  /** The metrics that plug-ins made, in the text format of Prometheus. */
  public static String metrics() {
    return PluginUpcalls.taken((taker, take) -> {
      Functions.METRICS_WRITE.invokeExact(taker, take);
    });
  }

  /** What plug-ins hold of the server, a line for each kind; empty: nothing. */
  public static String handles() {
    return PluginUpcalls.taken((taker, take) -> {
      Functions.HANDLES_WRITE.invokeExact(taker, take);
    });
  }

  /** A string as it is passed to a function. */
  static MemorySegment string(Arena arena, String text) {
    MemorySegment string = arena.allocate(STRING);
    TensorSpecRecord.string(arena, string, 0, text);
    return string;
  }
}
