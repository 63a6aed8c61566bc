package io.nereid.internal.config;

import io.nereid.proto.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Finds the backend that a configuration means, and the file that it runs. */
final class BackendNames {

  static final String ONNXRUNTIME = "onnxruntime";
  static final String TENSORRT = "tensorrt";

  private static final String PYTORCH = "pytorch";
  private static final String TENSORFLOW = "tensorflow";

  /** The name in place of a backend, for a model that is a graph of others. */
  static final String ENSEMBLE = "ensemble";

  /** The core's own backends, which run on the processor. */
  private static final Set<String> ON_PROCESSOR = Set.of(ONNXRUNTIME, "identity");

  /** Older names, which stand in {@code platform}, and sometimes in {@code backend}. */
  private static final Map<String, String> PLATFORMS =
      Map.of(
          "onnxruntime_onnx", ONNXRUNTIME,
          "onnx_onnxv1", ONNXRUNTIME,
          "tensorrt_plan", TENSORRT,
          "pytorch_libtorch", PYTORCH,
          "libtorch", PYTORCH,
          "torch_aoti", PYTORCH,
          "tensorflow_graphdef", TENSORFLOW,
          "tensorflow_savedmodel", TENSORFLOW);

  /**
   * A backend, with the name of its platform (empty: none) and the usual name of its model's file.
   */
  private record Usual(String backend, String platform, String file) {

    String extension() {
      return file.substring(file.lastIndexOf('.'));
    }
  }

  /** The usual files of backends, in the order in which they are looked for. */
  private static final List<Usual> USUAL =
      List.of(
          new Usual(ONNXRUNTIME, "onnxruntime_onnx", "model.onnx"),
          new Usual(TENSORRT, "tensorrt_plan", "model.plan"),
          new Usual("openvino", "", "model.xml"),
          new Usual(PYTORCH, "pytorch_libtorch", "model.pt"),
          new Usual("python", "", "model.py"));

  /**
   * A backend.
   *
   * @param configured whether the configuration names it; otherwise it was found by a file's name
   * @param plugin whether a plug-in runs its models
   */
  record Found(String name, boolean configured, boolean plugin) {

    /** A backend that is no plug-in. */
    Found(String name, boolean configured) {
      this(name, configured, false);
    }

    /** True if the backend runs on the processor alone. */
    boolean onProcessor() {
      return !plugin && ON_PROCESSOR.contains(name);
    }

    /** The usual name of the model's file. */
    Optional<String> file() {
      return usual().map(Usual::file);
    }

    /** The backend's name in {@code platform}. */
    Optional<String> platform() {
      return name.equals(ENSEMBLE)
          ? Optional.of(ENSEMBLE)
          : usual().map(Usual::platform).filter(platform -> !platform.isEmpty());
    }

    private Optional<Usual> usual() {
      return USUAL.stream().filter(usual -> usual.backend.equals(name)).findFirst();
    }
  }

  private BackendNames() {}

  /** True if a version's directory holds a file by which the backend is known. */
  static boolean isTold(Path versionDirectory) {
    return USUAL.stream().anyMatch(usual -> Files.exists(versionDirectory.resolve(usual.file)));
  }

  /** Finds the backend; if the configuration names none, by the model's file. */
  static Found find(ConfigNode root, ModelFiles files, ReadOptions.Plugins plugins, long version) {
    Found found = find(root, files.version(version));
    String runtime = root.as(ModelConfig.class).getRuntime();
    boolean plugin =
        !found.name.equals(ENSEMBLE)
            && plugins.runs(files.name(), found.name, files.directory(), version, runtime);
    return new Found(found.name, found.configured, plugin);
  }

  private static Found find(ConfigNode root, Path versionDirectory) {
    ModelConfig config = root.as(ModelConfig.class);
    if (config.hasEnsembleScheduling()) {
      return new Found(ENSEMBLE, true);
    }
    String named = config.getBackend().isEmpty() ? config.getPlatform() : config.getBackend();
    if (named.equals(ENSEMBLE)) {
      throw root.invalid("the model is an ensemble, but there is no ensemble_scheduling");
    }
    if (!named.isBlank()) {
      return new Found(PLATFORMS.getOrDefault(named, named), true);
    }
    if (!named.isEmpty()) {
      throw root.invalid("expected the name of a backend, got blanks alone");
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
            + "backend or of a plug-in");
  }

  /**
   * Returns the path that the backend opens as its model: a file, or, for backends that have no
   * usual name for one, the version's directory.
   */
  static Path modelPath(ConfigNode root, Found backend, Path versionDirectory) {
    String configured = root.as(ModelConfig.class).getDefaultModelFilename();
    if (!configured.isEmpty()) {
      return ModelFiles.inside(versionDirectory, configured, "default_model_filename");
    }
    return backend.file().map(versionDirectory::resolve).orElse(versionDirectory);
  }
}
