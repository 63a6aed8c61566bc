package io.nereid.server.shared;

import java.util.ArrayList;
import java.util.List;

/** The facts about the server that all protocols answer. */
public final class ServerFacts {

  /** The server's name, unless the operator gave it another. */
  public static final String DEFAULT_NAME = "nereid";

  /** The extensions that are always there, by the protocol's names. */
  private static final List<String> EXTENSIONS =
      List.of(
          "binary_tensor_data",
          "classification",
          "model_configuration",
          "model_repository",
          "model_repository(unload_dependents)",
          "parameters",
          "schedule_policy",
          "sequence",
          "statistics",
          "trace");

  private ServerFacts() {}

  /** The server's extensions of the protocol: those always there, and those that were turned on. */
  public static List<String> extensions(ServerState state) {
    List<String> all = new ArrayList<>(EXTENSIONS);
    if (state.sharedMemory().isEnabled()) {
      all.add("system_shared_memory");
    }
    if (state.cudaMemory().isEnabled()) {
      all.add("cuda_shared_memory");
    }
    if (state.log().isPresent()) {
      all.add("logging");
    }
    return all;
  }

  /** Its version. */
  public static String version() {
    // Absent if the classes do not come from the jar, as in an IDE.
    String version = ServerFacts.class.getPackage().getImplementationVersion();
    return version == null ? "dev" : version;
  }
}
