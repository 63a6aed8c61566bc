package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Loads the core, once per process, until the process ends. Checks that the library's version and
 * structs are those of this binding.
 */
public final class NativeLibrary {

  /** The {@code NRD_ABI_VERSION} that this binding speaks. */
  static final int ABI_VERSION = 9;

  /** The program of isolated models, in place of the file of a library. */
  private static final Path CHILD = Path.of("nereid-child");

  /** A struct as this binding declares it; {@code id} is its {@code NRD_STRUCT_*}. */
  record Struct(int id, String name, StructLayout layout) {}

  /**
   * Every struct that both sides declare. Layouts can be made only when native access is allowed.
   */
  static List<Struct> structs() {
    return List.of(
        new Struct(0, "nrd_error", ErrorRecord.LAYOUT),
        new Struct(1, "nrd_tensor", TensorRecord.LAYOUT),
        new Struct(2, "nrd_request", RequestRecord.LAYOUT),
        new Struct(3, "nrd_batch", BatchRecord.LAYOUT),
        new Struct(4, "nrd_backend", BackendRecord.LAYOUT),
        new Struct(5, "nrd_tensor_spec", TensorSpecRecord.LAYOUT),
        new Struct(6, "nrd_queue_policy", ModelOptionsRecord.QUEUE_POLICY),
        new Struct(7, "nrd_parameter", ModelOptionsRecord.PARAMETER),
        new Struct(8, "nrd_model_options", ModelOptionsRecord.LAYOUT),
        new Struct(9, "nrd_runtime_options", RuntimeHandle.OPTIONS),
        new Struct(10, "nrd_pool_stats", StatisticsRecord.POOL),
        new Struct(11, "nrd_cache_stats", StatisticsRecord.CACHE),
        new Struct(12, "nrd_model_stats", StatisticsRecord.MODEL),
        new Struct(13, "nrd_batch_stats", StatisticsRecord.BATCH),
        new Struct(14, "nrd_handle_counts", StatisticsRecord.HANDLE_COUNTS),
        new Struct(15, "nrd_string", Memory.STRING),
        new Struct(16, "nrd_link", ModelOptionsRecord.LINK),
        new Struct(17, "nrd_step", ModelOptionsRecord.STEP),
        new Struct(18, "nrd_memory_stats", StatisticsRecord.MEMORY),
        new Struct(19, "nrd_control", SequenceOptionsRecord.CONTROL),
        new Struct(20, "nrd_state", SequenceOptionsRecord.STATE),
        new Struct(21, "nrd_sequence_options", SequenceOptionsRecord.SEQUENCES),
        new Struct(22, "nrd_combined_input", ModelOptionsRecord.COMBINED_INPUT),
        new Struct(23, "nrd_scattered_output", ModelOptionsRecord.SCATTERED_OUTPUT),
        new Struct(24, "nrd_resource", LimitRecord.COUNT),
        new Struct(25, "nrd_instance_options", InstanceRecord.LAYOUT),
        new Struct(26, "nrd_batcher", ModelOptionsRecord.BATCHER),
        new Struct(27, "nrd_sequence_stats", StatisticsRecord.SEQUENCES),
        new Struct(28, "nrd_resource_stats", LimitRecord.RESOURCE),
        new Struct(29, "nrd_instance_stats", LimitRecord.INSTANCE),
        new Struct(30, "nrd_value", RequestRecord.VALUE),
        new Struct(31, "nrd_receiver", RequestRecord.RECEIVER),
        new Struct(32, "nrd_cache", RuntimeHandle.CACHE),
        new Struct(33, "nrd_cost_point", ObjectiveRecord.COST),
        new Struct(34, "nrd_objective", ObjectiveRecord.OBJECTIVE),
        new Struct(35, "nrd_objective_stats", ObjectiveRecord.STATISTICS),
        new Struct(36, "nrd_isolation_stats", IsolationRecord.LAYOUT));
  }

  private NativeLibrary() {}

  /** Throws unless Java lets this module call native code. */
  @SuppressWarnings("restricted")
  public static void checkAccess() {
    try {
      MemorySegment.NULL.reinterpret(1);
    } catch (IllegalCallerException e) {
      Module module = NativeLibrary.class.getModule();
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "Java does not let Nereid call native code: start it with --enable-native-access="
              + (module.isNamed() ? module.getName() : "ALL-UNNAMED"),
          e);
    }
  }

  /** True if the core was loaded before; throws if native access is not allowed. */
  public static boolean isLoaded() {
    if (CHILD.equals(NativeCalls.loadedFrom)) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "the process of an isolated model runs that model's backend alone: it can open no"
              + " runtime");
    }
    return NativeCalls.symbols != null;
  }

  /** Loads the library at {@code path} and checks that it fits this binding. */
  @SuppressWarnings("restricted")
  public static synchronized void load(Path path) {
    if (NativeCalls.symbols != null) {
      if (!path.equals(NativeCalls.loadedFrom)) {
        throw new NereidException(
            StatusCode.FAILED_PRECONDITION,
            "the native library was already loaded from %s, not from %s"
                .formatted(NativeCalls.loadedFrom, path));
      }
      return;
    }
    SymbolLookup lookup;
    try {
      lookup = SymbolLookup.libraryLookup(path, Arena.global());
    } catch (IllegalArgumentException e) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          ("cannot load the native library %s: expected one for %s and a system with "
                  + "glibc 2.35 or newer; where that is older, or is musl, as Alpine has, run "
                  + "the program in a container with glibc")
              .formatted(path, System.getProperty("os.arch")),
          e);
    }
    List<String> differences = differences(lookup);
    if (!differences.isEmpty()) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "the native library " + path + " does not fit: " + String.join("; ", differences));
    }
    NativeCalls.loadedFrom = path;
    NativeCalls.symbols = lookup;
  }

  /** Takes the functions of the program that started this JVM, in place of a library's. */
  static synchronized void use(SymbolLookup program) {
    List<String> differences = differences(program);
    if (!differences.isEmpty()) {
      throw new NereidException(
          StatusCode.FAILED_PRECONDITION,
          "the program " + CHILD + " does not fit: " + String.join("; ", differences));
    }
    NativeCalls.loadedFrom = CHILD;
    NativeCalls.symbols = program;
  }

  /**
   * Differences between the library behind {@code lookup} and this binding; empty when they agree.
   */
  @SuppressWarnings("restricted")
  static List<String> differences(SymbolLookup lookup) {
    Linker linker = Linker.nativeLinker();
    var version = lookup.find("nrd_abi_version");
    var structSize = lookup.find("nrd_abi_struct_size");
    if (version.isEmpty() || structSize.isEmpty()) {
      return List.of("it exports no nrd_abi_version, so it is not Nereid's library");
    }
    MethodHandle versionHandle =
        linker.downcallHandle(version.get(), FunctionDescriptor.of(JAVA_INT));
    MethodHandle sizeHandle =
        linker.downcallHandle(structSize.get(), FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    List<String> differences = new ArrayList<>();
    try {
      int found = (int) versionHandle.invokeExact();
      if (found != ABI_VERSION) {
        return List.of("its ABI version is " + found + ", this binding needs " + ABI_VERSION);
      }
      for (Struct struct : structs()) {
        int size = (int) sizeHandle.invokeExact(struct.id());
        if (size != struct.layout().byteSize()) {
          differences.add(
              "%s has %s bytes there, %s in this binding"
                  .formatted(struct.name(), size, struct.layout().byteSize()));
        }
      }
    } catch (Throwable t) {
      throw NativeCalls.unexpected(t);
    }
    return differences;
  }
}
