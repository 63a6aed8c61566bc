package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;

/** Compares what this binding was written for with what the loaded library says about itself. */
public final class AbiCheck {

  /** {@code NRD_ABI_VERSION} that this binding speaks. */
  static final int ABI_VERSION = 5;

  /** A struct as this binding declares it; {@code id} is its {@code NRD_STRUCT_*}. */
  public record Struct(int id, String name, StructLayout layout) {}

  /** Every struct that both sides declare. */
  public static final List<Struct> STRUCTS =
      List.of(
          new Struct(0, "nrd_error", RequestLayout.ERROR),
          new Struct(1, "nrd_tensor", RequestLayout.TENSOR),
          new Struct(2, "nrd_request", RequestLayout.REQUEST),
          new Struct(3, "nrd_batch", RequestLayout.BATCH),
          new Struct(4, "nrd_backend", ModelLayout.BACKEND),
          new Struct(5, "nrd_tensor_spec", ModelLayout.TENSOR_SPEC),
          new Struct(6, "nrd_queue_policy", ModelLayout.QUEUE_POLICY),
          new Struct(7, "nrd_parameter", ModelLayout.PARAMETER),
          new Struct(8, "nrd_model_options", ModelLayout.MODEL_OPTIONS),
          new Struct(9, "nrd_runtime_options", ModelLayout.RUNTIME_OPTIONS),
          new Struct(10, "nrd_pool_stats", StatisticsLayout.POOL),
          new Struct(11, "nrd_cache_stats", StatisticsLayout.CACHE),
          new Struct(12, "nrd_model_stats", StatisticsLayout.MODEL),
          new Struct(13, "nrd_batch_stats", StatisticsLayout.BATCH),
          new Struct(14, "nrd_handle_counts", StatisticsLayout.HANDLE_COUNTS),
          new Struct(15, "nrd_string", ModelLayout.STRING),
          new Struct(16, "nrd_link", ModelLayout.LINK),
          new Struct(17, "nrd_step", ModelLayout.STEP),
          new Struct(18, "nrd_memory_stats", StatisticsLayout.MEMORY));

  private AbiCheck() {}

  /**
   * Differences between the library behind {@code lookup} and this binding; empty when they agree.
   */
  @SuppressWarnings("restricted")
  public static List<String> differences(SymbolLookup lookup) {
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
      for (Struct struct : STRUCTS) {
        int size = (int) sizeHandle.invokeExact(struct.id());
        if (size != struct.layout().byteSize()) {
          differences.add(
              struct.name()
                  + " has "
                  + size
                  + " bytes there, "
                  + struct.layout().byteSize()
                  + " in this binding");
        }
      }
    } catch (Throwable t) {
      throw NativeLibrary.unexpected(t);
    }
    return differences;
  }
}
