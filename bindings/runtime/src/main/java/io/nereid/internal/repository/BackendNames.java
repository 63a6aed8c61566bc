package io.nereid.internal.repository;

import io.nereid.proto.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The backend that a configuration means, and the file that it runs. */
final class BackendNames {

  static final String ONNXRUNTIME = "onnxruntime";
  static final String TENSORRT = "tensorrt";

  /** Older names, which stand in {@code platform}, and sometimes in {@code backend}. */
  private static final Map<String, String> PLATFORMS =
      Map.of(
          "onnxruntime_onnx", ONNXRUNTIME,
          "onnx_onnxv1", ONNXRUNTIME,
          "tensorrt_plan", TENSORRT);

  /** A backend, and how its model's file is usually called. */
  private record Usual(String backend, String file) {

    String extension() {
      return file.substring(file.lastIndexOf('.'));
    }
  }

  /** In the order in which they are looked for. */
  private static final List<Usual> USUAL =
      List.of(new Usual(ONNXRUNTIME, "model.onnx"), new Usual(TENSORRT, "model.plan"));

  private BackendNames() {}

  /** The backend's name; where the configuration has none, the model's file tells it. */
  static String backend(ConfigNode root, Path versionDirectory) {
    ModelConfig config = root.as(ModelConfig.class);
    String named = config.getBackend().isEmpty() ? config.getPlatform() : config.getBackend();
    if (!named.isEmpty()) {
      return PLATFORMS.getOrDefault(named, named);
    }
    String file = config.getDefaultModelFilename();
    for (Usual usual : USUAL) {
      boolean fits =
          file.isEmpty()
              ? Files.exists(versionDirectory.resolve(usual.file))
              : file.endsWith(usual.extension());
      if (fits) {
        return usual.backend;
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
  static Path modelPath(ConfigNode root, String backend, Path versionDirectory) {
    String configured = root.as(ModelConfig.class).getDefaultModelFilename();
    if (!configured.isEmpty()) {
      return ModelFiles.inside(versionDirectory, configured, "default_model_filename");
    }
    return USUAL.stream()
        .filter(usual -> usual.backend.equals(backend))
        .map(usual -> versionDirectory.resolve(usual.file))
        .findFirst()
        .orElse(versionDirectory);
  }
}
