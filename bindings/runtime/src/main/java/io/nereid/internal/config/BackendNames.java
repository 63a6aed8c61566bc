package io.nereid.internal.config;

import io.nereid.proto.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The backend that a configuration means, and the file that it runs. */
final class BackendNames {

  static final String ONNXRUNTIME = "onnxruntime";
  static final String TENSORRT = "tensorrt";

  /** In place of a backend, where the model is a graph of others. */
  static final String ENSEMBLE = "ensemble";

  /** The core's, which run on the processor. */
  private static final Set<String> ON_PROCESSOR = Set.of(ONNXRUNTIME, "identity");

  /** Older names, which stand in {@code platform}, and sometimes in {@code backend}. */
  private static final Map<String, String> PLATFORMS =
      Map.of(
          "onnxruntime_onnx", ONNXRUNTIME,
          "onnx_onnxv1", ONNXRUNTIME,
          "tensorrt_plan", TENSORRT);

  /** A backend, what its platform is called, and how its model's file is usually called. */
  private record Usual(String backend, String platform, String file) {

    String extension() {
      return file.substring(file.lastIndexOf('.'));
    }
  }

  /** In the order in which they are looked for. */
  private static final List<Usual> USUAL =
      List.of(
          new Usual(ONNXRUNTIME, "onnxruntime_onnx", "model.onnx"),
          new Usual(TENSORRT, "tensorrt_plan", "model.plan"));

  /**
   * A backend.
   *
   * @param configured whether the configuration names it; otherwise a file's name told it
   */
  record Found(String name, boolean configured) {

    /** Whether it runs on the processor alone. */
    boolean onProcessor() {
      return ON_PROCESSOR.contains(name);
    }

    /** Its model's usual file. */
    Optional<String> file() {
      return usual().map(Usual::file);
    }

    /** Its name among the platforms. */
    Optional<String> platform() {
      return name.equals(ENSEMBLE) ? Optional.of(ENSEMBLE) : usual().map(Usual::platform);
    }

    private Optional<Usual> usual() {
      return USUAL.stream().filter(usual -> usual.backend.equals(name)).findFirst();
    }
  }

  private BackendNames() {}

  /** Whether a version's directory holds a file that tells the backend. */
  static boolean isTold(Path versionDirectory) {
    return USUAL.stream().anyMatch(usual -> Files.exists(versionDirectory.resolve(usual.file)));
  }

  /** The backend; where the configuration has none, the model's file tells it. */
  static Found find(ConfigNode root, Path versionDirectory) {
    ModelConfig config = root.as(ModelConfig.class);
    if (config.hasEnsembleScheduling()) {
      return new Found(ENSEMBLE, true);
    }
    String named = config.getBackend().isEmpty() ? config.getPlatform() : config.getBackend();
    if (named.equals(ENSEMBLE)) {
      throw root.invalid("the model is an ensemble, but there is no ensemble_scheduling");
    }
    if (!named.isEmpty()) {
      return new Found(PLATFORMS.getOrDefault(named, named), true);
    }
    String file = config.getDefaultModelFilename();
    for (Usual usual : USUAL) {
      boolean fits =
          file.isEmpty()
              ? Files.exists(versionDirectory.resolve(usual.file))
              : file.endsWith(usual.extension());
      if (fits) {
        return new Found(usual.backend, false);
      }
    }
    throw root.invalid(
        "names no backend: expected backend: \"onnxruntime\", \"identity\", or the name of a Java "
            + "backend");
  }

  /**
   * What the backend is given as its model: a file, or, for backends that have no usual name for
   * one, the version's directory.
   */
  static Path modelPath(ConfigNode root, Found backend, Path versionDirectory) {
    String configured = root.as(ModelConfig.class).getDefaultModelFilename();
    if (!configured.isEmpty()) {
      return ModelFiles.inside(versionDirectory, configured, "default_model_filename");
    }
    return backend.file().map(versionDirectory::resolve).orElse(versionDirectory);
  }
}
