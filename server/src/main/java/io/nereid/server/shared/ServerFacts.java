package io.nereid.server.shared;

import java.util.List;

/** What the server tells about itself, in whatever form. */
public final class ServerFacts {

  /** Its name. */
  public static final String NAME = "nereid";

  /** What it has beyond the protocol itself, by the protocol's names. */
  public static final List<String> EXTENSIONS =
      List.of(
          "binary_tensor_data",
          "model_configuration",
          "model_repository",
          "model_repository(unload_dependents)",
          "parameters",
          "schedule_policy",
          "statistics");

  private ServerFacts() {}

  /** Its version. */
  public static String version() {
    // Absent where the classes do not come from the jar, as in an IDE.
    String version = ServerFacts.class.getPackage().getImplementationVersion();
    return version == null ? "dev" : version;
  }
}
