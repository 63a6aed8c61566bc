package io.nereid.internal.model;

import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.loader.LibraryFiles;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Decides which models run their backend in a process of its own, which may die alone, and names
 * the program. The core does the work. Any thread may call.
 */
final class Isolation {

  /** The parameter that isolates a model. */
  static final String PARAMETER = "isolation";

  private static final String PROCESS = "process";
  private static final String IN_GROUP = PROCESS + ":";

  /** The core's name for all backends in Java. */
  static final String JAVA = "java";

  /** The core's name for all plug-ins. */
  static final String PLUGIN = "triton";

  /** The parameter with the processors that the process may run on. */
  static final String CPUS = "isolation_cpus";

  private Isolation() {}

  /**
   * True if the model is to run in a process of its own; throws if the parameter has an unknown
   * value.
   */
  static boolean isWanted(ModelSpec spec) {
    String place = spec.parameters().getOrDefault(PARAMETER, "none");
    if (!place.equals("none") && !place.equals(PROCESS) && !isGroup(place)) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "expected isolation \"process\", \"process:GROUP\" or \"none\" for model '%s', got \"%s\""
              .formatted(spec.name(), place));
    }
    return !place.equals("none");
  }

  private static boolean isGroup(String place) {
    return place.startsWith(IN_GROUP) && place.length() > IN_GROUP.length();
  }

  /** Throws if a model that cannot be isolated is to be. */
  static void refuse(ModelSpec spec, String reason) {
    if (isWanted(spec)) {
      throw impossible(spec, reason);
    }
  }

  /** The exception for a model that cannot be isolated. */
  static NereidException impossible(ModelSpec spec, String reason) {
    return new NereidException(
        StatusCode.UNIMPLEMENTED,
        "model '%s' cannot have isolation \"process\": %s".formatted(spec.name(), reason));
  }

  /** A backend of the core for a model, in this process or in another, in memory of the arena. */
  static BackendRecord backend(Arena arena, NativeRuntime runtime, ModelSpec spec, String name) {
    return isWanted(spec)
        ? runtime.use(handle -> BackendRecord.isolated(arena, handle, name))
        : BackendRecord.get(arena, name);
  }

  /** The parameters and limits of the process of a model that a plug-in executes. */
  static Map<String, String> pluginParameters(NativeRuntime runtime, ModelSpec spec) {
    Map<String, String> parameters = new HashMap<>();
    spec.parameters()
        .forEach((key, value) -> {
          if (key.startsWith(PARAMETER + "_")) {
            parameters.put(key, value);
          }
        });
    addParameters(runtime, spec, PLUGIN, parameters);
    return parameters;
  }

  /** Adds the parameters for starting the process of a model of this core backend. */
  static void addParameters(
      NativeRuntime runtime, ModelSpec spec, String backend, Map<String, String> parameters) {
    Path program = LibraryFiles.childProgram(runtime.settings().nativePath());
    parameters.put("isolation.backend", backend);
    parameters.put("isolation.child", program.toString());
    String place = spec.parameters().get(PARAMETER);
    if (isGroup(place)) {
      parameters.put("isolation.group", place.substring(IN_GROUP.length()));
    }
  }
}
