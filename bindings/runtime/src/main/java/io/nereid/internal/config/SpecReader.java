package io.nereid.internal.config;

import io.nereid.model.ModelConfiguration.Origin;
import io.nereid.model.ModelSpec;
import io.nereid.model.WarmUp;
import io.nereid.proto.ModelConfig;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Makes the {@link ModelSpec} of one version from its configuration, and checks every value. */
final class SpecReader {

  private final ConfigNode root;
  private final ModelConfig config;
  private final ModelFiles files;
  private final BackendNames.Found backend;
  private final ReadOptions.StepNames steps;
  private final long version;
  private final Set<String> given; // paths of values that the options say, and not the file
  private final SchedulingReader scheduling;

  /** The options give the models of ensembles, the plug-ins, and the objectives. */
  SpecReader(ConfigNode root, ModelFiles files, ReadOptions options, long version) {
    this(
        ParameterReader.withOptions(root, options, files.name()),
        files,
        BackendNames.find(root, files, options.plugins(), version),
        options.steps(),
        version,
        ParameterReader.given(options, files.name()));
  }

  private SpecReader(
      ConfigNode root,
      ModelFiles files,
      BackendNames.Found backend,
      ReadOptions.StepNames steps,
      long version,
      Set<String> given) {
    this.root = root;
    this.files = files;
    this.backend = backend;
    this.steps = steps;
    this.version = version;
    this.given = given;
    config = root.as(ModelConfig.class);
    scheduling = new SchedulingReader(root, files.name(), backend);
  }

  /** Returns a reader of the completed configuration. */
  SpecReader with(ModelConfig completed) {
    return new SpecReader(root.withMessage(completed), files, backend, steps, version, given);
  }

  ConfigNode root() {
    return root;
  }

  /** The model's directory. */
  Path directory() {
    return files.directory();
  }

  /** True if a plug-in runs the model. */
  boolean isOfPlugin() {
    return backend.plugin();
  }

  /**
   * Returns the configuration that the model is served with.
   *
   * @param told paths of the values that the model told
   */
  ProtobufConfiguration configuration(Set<String> told) {
    Map<String, Origin> decided = new HashMap<>();
    told.forEach(path -> decided.put(path, Origin.MODEL));
    given.forEach(path -> decided.put(path, Origin.OPTION));
    return ProtobufConfiguration.of(root, files.name(), backend, decided);
  }

  /** Reads the whole specification from a complete configuration. */
  ModelSpec read() {
    ModelSpec.Builder spec = start();
    if (config.getMaxBatchSize() < 0) {
      throw root.invalid(
          ModelConfig.MAX_BATCH_SIZE_FIELD_NUMBER,
          "expected max_batch_size of 0 (no batch dimension) or more, got "
              + config.getMaxBatchSize());
    }
    spec.maxBatchSize(config.getMaxBatchSize());
    new TensorReader(root, files).read(spec);
    BatchTensorReader.read(root, spec);
    if (config.hasDynamicBatching()) {
      spec.dynamicBatching(scheduling.batching(config.getMaxBatchSize()));
    }
    if (config.hasSequenceBatching()) {
      spec.sequenceBatching(new SequenceReader(root, files).read());
    }
    readAnswers(spec);
    ParameterReader.checkObjective(root, spec.build());
    for (WarmUp warmUp : new WarmUpReader(root, files, spec.build()).read()) {
      spec.warmUp(warmUp);
    }
    // Last, so that the configuration's own mistakes are told first.
    checkModelFile();
    return spec.build();
  }

  /**
   * Returns the specification that the backend is opened with so that it tells the rest: it has no
   * tensors.
   */
  ModelSpec readOpening() {
    ModelSpec opening = start().build();
    checkModelFile();
    return opening;
  }

  private ModelSpec.Builder start() {
    ModelSpec.Builder spec =
        ModelSpec.builder(files.name()).version(version).backend(backend.name());
    ParameterReader.read(root, spec, version);
    if (config.hasEnsembleScheduling()) {
      return spec.ensemble(EnsembleReader.read(root, files.directory(), steps));
    }
    boolean onProcessor = backend.onProcessor();
    scheduling.instances().forEach(spec::instances);
    if (config.hasOptimization()) {
      ParameterReader.readOptimization(root, spec, onProcessor);
    }
    readPaths(spec);
    return spec;
  }

  private void readPaths(ModelSpec.Builder spec) {
    spec.parameter(ParameterReader.MODEL_PATH, modelPath().toString());
    if (backend.onProcessor()) {
      return;
    }
    for (Map.Entry<String, String> entry : config.getCcModelFilenamesMap().entrySet()) {
      Path file = ModelFiles.inside(files.version(version), entry.getValue(), "cc_model_filenames");
      spec.parameter(ParameterReader.MODEL_PATH + "." + entry.getKey(), file.toString());
    }
  }

  private void readAnswers(ModelSpec.Builder spec) {
    boolean decoupled = config.getModelTransactionPolicy().getDecoupled();
    boolean cached = config.getResponseCache().getEnable();
    if (decoupled && cached) {
      throw root.invalid(
          ModelConfig.RESPONSE_CACHE_FIELD_NUMBER,
          "Response Cache does not currently support model "
              + files.name()
              + " with 'decoupled' transaction policy. Please disable the response cache.");
    }
    spec.responseCache(cached).decoupled(decoupled);
  }

  private Path modelPath() {
    return BackendNames.modelPath(root, backend, files.version(version));
  }

  private void checkModelFile() {
    if (backend.plugin()) {
      return; // the plug-in looks for its own files
    }
    Path model = modelPath();
    boolean othersWillDo = !backend.onProcessor() && config.getCcModelFilenamesCount() > 0;
    if (!config.hasEnsembleScheduling() && !model.equals(files.version(version)) && !othersWillDo) {
      files.checkModelFile(model);
    }
  }
}
