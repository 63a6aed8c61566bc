package io.nereid.internal.config;

import com.google.protobuf.Message;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelConfig.SchedulingChoiceCase;
import io.nereid.proto.ModelInstanceGroup;
import io.nereid.proto.ModelInstanceGroup.Kind;
import io.nereid.proto.ModelParameter;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Changes a configuration for a plug-in, and merges the plug-in's answer, by Triton's rules. */
public final class PluginConfig {

  /** Backends that have two instances on processors if the configuration sets no count. */
  private static final Set<String> TWO_ON_PROCESSOR = Set.of("onnxruntime", "tensorflow");

  /**
   * A group of instances that a backend prefers.
   *
   * @param count how many; 0: any number
   */
  public record Preferred(InstanceGroup.Kind kind, long count) {

    private Kind written() {
      return Kind.valueOf("KIND_" + kind);
    }
  }

  /**
   * The values that fill the gaps of a configuration.
   *
   * @param groups the groups that the backend prefers, the best first
   * @param gpus the GPUs that may be used
   * @param runtime the value of {@code runtime} if the configuration sets none
   * @param parameters further parameters, for a configuration that lacks them
   */
  public record Defaults(
      List<Preferred> groups, List<Integer> gpus, String runtime, Map<String, String> parameters) {}

  private PluginConfig() {}

  static ModelConfig prepare(ConfigNode root, ModelSpec opening, Defaults defaults) {
    ModelConfig.Builder config = root.as(ModelConfig.class).toBuilder();
    if (config.getRuntime().isEmpty()) {
      config.setRuntime(defaults.runtime);
    }
    defaults.parameters.forEach((key, value) -> {
      if (!config.containsParameters(key)) {
        config.putParameters(key, ModelParameter.newBuilder().setStringValue(value).build());
      }
    });
    if (config.getInstanceGroupCount() == 0) {
      addGroup(config.addInstanceGroupBuilder().setName(opening.name()), defaults);
    }
    for (int i = 0; i < config.getInstanceGroupCount(); i++) {
      ModelInstanceGroup.Builder group = config.getInstanceGroupBuilder(i);
      if (group.getName().isEmpty()) {
        group.setName(SchedulingReader.defaultName(opening.name(), i));
      }
      fillGroup(group, opening.backendName(), defaults);
      if (group.getKind() == Kind.KIND_GPU && defaults.gpus.isEmpty()) {
        throw root.invalid(
            ModelConfig.INSTANCE_GROUP_FIELD_NUMBER,
            i,
            "instance group '" + group.getName() + "' has kind KIND_GPU, but there is no GPU");
      }
    }
    return config.build();
  }

  private static void addGroup(ModelInstanceGroup.Builder group, Defaults defaults) {
    for (Preferred preferred : defaults.groups) {
      if (preferred.kind != InstanceGroup.Kind.GPU || !defaults.gpus.isEmpty()) {
        group.setKind(preferred.written()).setCount((int) preferred.count);
        return;
      }
    }
  }

  private static void fillGroup(
      ModelInstanceGroup.Builder group, String backend, Defaults defaults) {
    if (group.getKind() == Kind.KIND_AUTO) {
      boolean usable = !defaults.gpus.isEmpty() && defaults.gpus.containsAll(group.getGpusList());
      group.setKind(usable ? Kind.KIND_GPU : Kind.KIND_CPU);
    }
    for (Preferred preferred : defaults.groups) {
      boolean fits = preferred.written() == group.getKind() && preferred.count > 0;
      if (group.getCount() < 1 && fits) {
        group.setCount((int) preferred.count);
      }
    }
    if (group.getCount() < 1) {
      boolean two = group.getKind() == Kind.KIND_CPU && TWO_ON_PROCESSOR.contains(backend);
      group.setCount(two ? 2 : 1);
    }
    if (group.getKind() == Kind.KIND_GPU && group.getGpusCount() == 0) {
      group.addAllGpus(defaults.gpus);
    }
  }

  /** Returns the configuration with those of the backend's changes that are allowed. */
  static ModelConfig merge(ConfigNode root, ModelConfig told) {
    ModelConfig own = root.as(ModelConfig.class);
    ModelConfig.Builder merged =
        own.toBuilder()
            .setMaxBatchSize(told.getMaxBatchSize())
            .clearInput()
            .addAllInput(told.getInputList())
            .clearOutput()
            .addAllOutput(told.getOutputList());
    if (own.getSchedulingChoiceCase() == SchedulingChoiceCase.SCHEDULINGCHOICE_NOT_SET) {
      if (told.hasDynamicBatching()) {
        merged.setDynamicBatching(told.getDynamicBatching());
      } else if (told.hasSequenceBatching()) {
        merged.setSequenceBatching(told.getSequenceBatching());
      }
    } else if (own.getSchedulingChoiceCase() != told.getSchedulingChoiceCase()) {
      throw root.invalid(
          "its backend changes %s into %s, which it may not"
              .formatted(own.getSchedulingChoiceCase(), told.getSchedulingChoiceCase()));
    }
    if (told.hasModelTransactionPolicy()) {
      merged.setModelTransactionPolicy(told.getModelTransactionPolicy());
    }
    return merged.build();
  }

  /** The paths of the differences; each covers all below it. */
  static Set<String> differences(ModelConfig before, ModelConfig after) {
    Set<String> paths = new HashSet<>();
    if (before.getMaxBatchSize() != after.getMaxBatchSize()) {
      paths.add("max_batch_size");
    }
    addDifferent(paths, "input", before.getInputList(), after.getInputList());
    addDifferent(paths, "output", before.getOutputList(), after.getOutputList());
    if (!before.getDynamicBatching().equals(after.getDynamicBatching())
        || before.hasDynamicBatching() != after.hasDynamicBatching()) {
      paths.add("dynamic_batching");
    }
    if (!before.getSequenceBatching().equals(after.getSequenceBatching())) {
      paths.add("sequence_batching");
    }
    if (!before.getModelTransactionPolicy().equals(after.getModelTransactionPolicy())) {
      paths.add("model_transaction_policy.decoupled");
    }
    return paths;
  }

  private static void addDifferent(
      Set<String> paths,
      String field,
      List<? extends Message> before,
      List<? extends Message> now) {
    for (int i = 0; i < now.size(); i++) {
      if (i >= before.size() || !before.get(i).equals(now.get(i))) {
        paths.add(field + "[" + i + "]");
      }
    }
  }
}
