package io.nereid.internal.model;

import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.ffi.SourceHandle;
import io.nereid.internal.loader.LibraryFiles;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.model.ModelSpec;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;

/** The backends that are built into the core. */
public final class CoreBackends {

  static final String ONNXRUNTIME = "onnxruntime";
  private static final String ONNXRUNTIME_PATH = "onnxruntime_path";
  private static final String SHARED_THREAD_COUNT = "shared_thread_count";

  private CoreBackends() {}

  /** Whether the core has a backend of this name. */
  static boolean has(String name) {
    try (Arena arena = Arena.ofConfined()) {
      return BackendRecord.find(arena, name).isPresent();
    }
  }

  /** Has a backend open a model whose configuration leaves things out. */
  static SourceHandle open(NativeRuntime runtime, ModelSpec opening) {
    try (Arena arena = Arena.ofConfined()) {
      BackendRecord backend = BackendRecord.get(arena, opening.backendName());
      ModelOptionsRecord options =
          ModelOptionsRecord.write(arena, opening, 1, backend, parameters(runtime, opening));
      return runtime.use(handle -> SourceHandle.open(handle, options));
    }
  }

  /** A model's parameters, with what the backend has to know of this process. */
  public static Map<String, String> parameters(NativeRuntime runtime, ModelSpec spec) {
    if (!spec.backendName().equals(ONNXRUNTIME)) {
      return spec.parameters();
    }
    Map<String, String> parameters = new HashMap<>(spec.parameters());
    parameters.computeIfAbsent(
        ONNXRUNTIME_PATH,
        key -> LibraryFiles.onnxruntime(runtime.settings().onnxruntimePath()).toString());
    // The JVM knows a container's share of the processors, which the library would not see.
    parameters.putIfAbsent(
        SHARED_THREAD_COUNT, Integer.toString(Runtime.getRuntime().availableProcessors()));
    return parameters;
  }
}
