package io.nereid.internal.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.ModelOptionsWriter;
import io.nereid.NativeRuntime;
import io.nereid.internal.ffi.ErrorRecord;
import io.nereid.internal.ffi.ModelCalls;
import io.nereid.internal.ffi.ModelLayout;
import io.nereid.internal.loader.LibraryFiles;
import io.nereid.model.ModelSpec;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The backends that are built into the core. */
public final class CoreBackends {

  private static final String ONNXRUNTIME = "onnxruntime";
  private static final String ONNXRUNTIME_PATH = "onnxruntime_path";
  private static final String SHARED_THREAD_COUNT = "shared_thread_count";

  private CoreBackends() {}

  /** Whether the core has a backend of this name. */
  static boolean has(String name) {
    try (Arena arena = Arena.ofConfined()) {
      return find(arena, name, table(arena), 0) == StatusCode.OK.number();
    }
  }

  /** The table of a backend; throws when the core has none of this name. */
  public static MemorySegment find(Arena arena, String name) {
    MemorySegment table = table(arena);
    long error = ErrorRecord.allocate(arena);
    ErrorRecord.check(find(arena, name, table, error), error);
    return table;
  }

  private static MemorySegment table(Arena arena) {
    return ModelOptionsWriter.sized(arena, ModelLayout.BACKEND);
  }

  private static int find(Arena arena, String name, MemorySegment table, long error) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    MemorySegment text = arena.allocateFrom(JAVA_BYTE, bytes);
    return ModelCalls.backendFind(text.address(), bytes.length, table.address(), error);
  }

  /** A model's parameters, with what the backend has to know of this process. */
  public static Map<String, String> parameters(NativeRuntime runtime, ModelSpec spec) {
    if (!spec.backendName().equals(ONNXRUNTIME)) {
      return spec.parameters();
    }
    Map<String, String> parameters = new HashMap<>(spec.parameters());
    parameters.computeIfAbsent(
        ONNXRUNTIME_PATH,
        key -> LibraryFiles.onnxruntime(runtime.options().onnxruntimePath()).toString());
    // The JVM knows a container's share of the processors, which the library would not see.
    parameters.putIfAbsent(
        SHARED_THREAD_COUNT, Integer.toString(Runtime.getRuntime().availableProcessors()));
    return parameters;
  }
}
