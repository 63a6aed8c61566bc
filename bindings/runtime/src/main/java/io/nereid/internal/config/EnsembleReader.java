package io.nereid.internal.config;

import io.nereid.model.Ensemble;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelEnsembling;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Reads {@code ensemble_scheduling}. The check that the steps fit together comes later, when their
 * models are loaded.
 */
final class EnsembleReader {

  private final ConfigNode root;
  private final ModelConfig config;
  private final Path directory;
  private final ReadOptions.StepNames names;

  private EnsembleReader(ConfigNode root, Path directory, ReadOptions.StepNames names) {
    this.root = root;
    this.directory = directory;
    this.names = names;
    config = root.as(ModelConfig.class);
  }

  /** Reads an ensemble from its configuration and its {@code directory}. */
  static Ensemble read(ConfigNode root, Path directory, ReadOptions.StepNames names) {
    return new EnsembleReader(root, directory, names).read();
  }

  private Ensemble read() {
    checkCompany();
    ConfigNode scheduling = root.child(ModelConfig.ENSEMBLE_SCHEDULING_FIELD_NUMBER);
    List<Ensemble.Step> steps = new ArrayList<>();
    for (ConfigNode node : scheduling.children(ModelEnsembling.STEP_FIELD_NUMBER)) {
      steps.add(step(node));
    }
    if (steps.isEmpty()) {
      throw scheduling.invalid("expected at least one step of the ensemble, got none");
    }
    return new Ensemble(steps, maxInflightRequests(scheduling));
  }

  private static int maxInflightRequests(ConfigNode scheduling) {
    int most = scheduling.as(ModelEnsembling.class).getMaxInflightRequests();
    if (most < 0) {
      throw scheduling.invalid(
          ModelEnsembling.MAX_INFLIGHT_REQUESTS_FIELD_NUMBER,
          "expected max_inflight_requests from 0 (no limit) to %s, got %s"
              .formatted(Integer.MAX_VALUE, Integer.toUnsignedString(most)));
    }
    return most;
  }

  /** Refuses settings that are meaningless without a backend, an instance or a queue. */
  private void checkCompany() {
    if (!config.getBackend().isEmpty() && !config.getBackend().equals(BackendNames.ENSEMBLE)) {
      throw root.invalid(
          ModelConfig.BACKEND_FIELD_NUMBER,
          "an ensemble has no backend, got \"" + config.getBackend() + "\"");
    }
    if (!config.getPlatform().isEmpty() && !config.getPlatform().equals(BackendNames.ENSEMBLE)) {
      throw root.invalid(
          ModelConfig.PLATFORM_FIELD_NUMBER,
          "expected platform: \"ensemble\" beside ensemble_scheduling, got \""
              + config.getPlatform()
              + "\"");
    }
    refuse(ModelConfig.INSTANCE_GROUP_FIELD_NUMBER, config.getInstanceGroupCount() > 0);
    refuse(ModelConfig.MODEL_WARMUP_FIELD_NUMBER, config.getModelWarmupCount() > 0);
    refuse(ModelConfig.OPTIMIZATION_FIELD_NUMBER, config.hasOptimization());
    refuse(ModelConfig.BATCH_INPUT_FIELD_NUMBER, config.getBatchInputCount() > 0);
    refuse(ModelConfig.BATCH_OUTPUT_FIELD_NUMBER, config.getBatchOutputCount() > 0);
    refuse(
        ModelConfig.DEFAULT_MODEL_FILENAME_FIELD_NUMBER,
        !config.getDefaultModelFilename().isEmpty());
    refuse(ModelConfig.CC_MODEL_FILENAMES_FIELD_NUMBER, config.getCcModelFilenamesCount() > 0);
  }

  private void refuse(int number, boolean there) {
    if (there) {
      String field = ModelConfig.getDescriptor().findFieldByNumber(number).getName();
      throw root.invalid(
          number, "an ensemble has no " + field + ": configure it for the models of its steps");
    }
  }

  private Ensemble.Step step(ConfigNode node) {
    ModelEnsembling.Step step = node.as(ModelEnsembling.Step.class);
    if (step.getModelName().isEmpty()) {
      throw node.invalid("a step of the ensemble names no model: expected model_name");
    }
    String what = "the step of model '" + step.getModelName() + "'";
    long version = step.getModelVersion();
    if (version < -1) {
      throw node.invalid(
          ModelEnsembling.Step.MODEL_VERSION_FIELD_NUMBER,
          "expected model_version of " + what + " from 1 on, or -1 for the latest, got " + version);
    }
    return new Ensemble.Step(
        names.key(directory, step.getModelNamespace(), step.getModelName()),
        version > 0 ? OptionalLong.of(version) : OptionalLong.empty(),
        map(node, ModelEnsembling.Step.INPUT_MAP_FIELD_NUMBER, "input_map", what),
        map(node, ModelEnsembling.Step.OUTPUT_MAP_FIELD_NUMBER, "output_map", what));
  }

  private static Map<String, String> map(ConfigNode node, int number, String field, String what) {
    Map<String, String> map = new LinkedHashMap<>();
    for (ConfigNode entry : node.children(number)) {
      String key = entry.key();
      String tensor = entry.entryText();
      if (key.isEmpty() || tensor.isEmpty()) {
        throw entry.invalid("expected names of tensors in " + field + " of " + what);
      }
      map.put(key, tensor);
    }
    if (map.isEmpty()) {
      throw node.invalid("expected at least one tensor in " + field + " of " + what);
    }
    return map;
  }
}
