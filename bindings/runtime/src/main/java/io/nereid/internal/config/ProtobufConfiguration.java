package io.nereid.internal.config;

import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelConfiguration.Origin;
import io.nereid.model.ModelConfiguration.Value;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelDynamicBatching;
import io.nereid.proto.ModelInstanceGroup;
import io.nereid.proto.ModelInstanceGroup.Kind;
import io.nereid.proto.ModelOptimizationPolicy;
import io.nereid.proto.ModelQueuePolicy;
import io.nereid.proto.ModelResponseCache;
import io.nereid.proto.ModelSequenceBatching;
import io.nereid.proto.ModelTransactionPolicy;
import io.nereid.proto.ModelVersionPolicy;
import io.nereid.proto.ModelWarmup;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The configuration that a model is served with, as protobuf's message, with the defaults filled
 * in.
 *
 * @param message all of it
 * @param values its values, in the order of the message's fields
 */
public record ProtobufConfiguration(ModelConfig message, List<Value> values)
    implements ModelConfiguration {

  /** Copies the list. */
  public ProtobufConfiguration {
    values = List.copyOf(values);
  }

  /**
   * Returns the configuration that a model of a repository is served with, complete with the
   * defaults of the fields that are supported.
   *
   * @param decided the origins of values that are neither written nor defaults, by their paths
   */
  static ProtobufConfiguration of(
      ConfigNode root, String model, BackendNames.Found backend, Map<String, Origin> decided) {
    Defaults defaults = new Defaults(root, model, backend);
    defaults.decided.putAll(decided);
    return defaults.fill();
  }

  /** The configuration of a model that a program describes. */
  public static ProtobufConfiguration of(ModelSpec spec) {
    ModelConfig message = SpecWriter.write(spec);
    return new ProtobufConfiguration(message, ConfigValues.ofCode(message));
  }

  /**
   * Returns this configuration, decoupled or not as the steps of an ensemble decide, whatever is
   * written.
   */
  ProtobufConfiguration withDecoupled(boolean decoupled) {
    String path = "model_transaction_policy.decoupled";
    String text = Boolean.toString(decoupled);
    return new ProtobufConfiguration(
        message.toBuilder()
            .setModelTransactionPolicy(ModelTransactionPolicy.newBuilder().setDecoupled(decoupled))
            .build(),
        values.stream()
            .map(value ->
                value.path().equals(path) ? new Value(path, text, Origin.MODEL, "") : value)
            .toList());
  }

  @Override
  public String platform() {
    return message.getPlatform();
  }

  @Override
  public String toJson() {
    return JsonConfigWriter.write(message);
  }

  @Override
  public String toText() {
    return ConfigPrinter.print(message, values, false);
  }

  @Override
  public String toCommentedText() {
    return ConfigPrinter.print(message, values, true);
  }

  @Override
  public byte[] toProtobuf() {
    return message.toByteArray();
  }

  /** Fills the defaults of supported fields into a complete configuration. */
  private static final class Defaults {

    private final ConfigNode root;
    private final String model;
    private final BackendNames.Found backend;
    private final ModelConfig.Builder config;
    private final Map<String, Origin> decided = new HashMap<>();

    private Defaults(ConfigNode root, String model, BackendNames.Found backend) {
      this.root = root;
      this.model = model;
      this.backend = backend;
      config = root.as(ModelConfig.class).toBuilder();
    }

    private ProtobufConfiguration fill() {
      config.setName(model);
      fillBackend();
      if (!config.hasVersionPolicy()) {
        config.setVersionPolicy(
            ModelVersionPolicy.newBuilder()
                .setLatest(ModelVersionPolicy.Latest.newBuilder().setNumVersions(1)));
      }
      if (!config.hasEnsembleScheduling()) {
        fillInstances();
        fillOptimization();
      }
      if (config.hasDynamicBatching()) {
        fillBatching();
      }
      if (config.hasSequenceBatching()) {
        fillSequences();
      }
      if (!config.hasModelTransactionPolicy()) {
        config.setModelTransactionPolicy(ModelTransactionPolicy.getDefaultInstance());
      }
      if (!config.hasResponseCache()) {
        config.setResponseCache(ModelResponseCache.getDefaultInstance());
      }
      for (ModelWarmup.Builder warmUp : config.getModelWarmupBuilderList()) {
        warmUp.setBatchSize(warmUp.getBatchSize() == 0 ? 1 : warmUp.getBatchSize());
        warmUp.setCount(warmUp.getCount() == 0 ? 1 : warmUp.getCount());
      }
      ModelConfig message = config.build();
      return new ProtobufConfiguration(
          message, ConfigValues.of(root.withMessage(message), decided));
    }

    private void fillBatching() {
      ModelDynamicBatching.Builder batching = config.getDynamicBatchingBuilder();
      if (batching.getPreferredBatchSizeCount() == 0 && config.getMaxBatchSize() > 0) {
        batching.addPreferredBatchSize(config.getMaxBatchSize());
      }
      if (!batching.hasDefaultQueuePolicy()) {
        batching.setDefaultQueuePolicy(ModelQueuePolicy.getDefaultInstance());
      }
    }

    private void fillSequences() {
      ModelSequenceBatching.Builder sequences = config.getSequenceBatchingBuilder();
      if (sequences.getMaxSequenceIdleMicroseconds() == 0) {
        sequences.setMaxSequenceIdleMicroseconds(
            SequenceBatching.DEFAULT_MAX_IDLE.toNanos() / 1_000);
      }
      if (sequences.hasOldest()
          && sequences.getOldest().getPreferredBatchSizeCount() == 0
          && config.getMaxBatchSize() > 0) {
        sequences.getOldestBuilder().addPreferredBatchSize(config.getMaxBatchSize());
      }
    }

    /** Says that all memory of requests is in the pinned pool. */
    private void fillOptimization() {
      ModelOptimizationPolicy.Builder optimization = config.getOptimizationBuilder();
      if (!optimization.hasInputPinnedMemory()) {
        optimization.getInputPinnedMemoryBuilder().setEnable(true);
      }
      if (!optimization.hasOutputPinnedMemory()) {
        optimization.getOutputPinnedMemoryBuilder().setEnable(true);
      }
    }

    private void fillBackend() {
      if (config.getBackend().isEmpty() && !config.hasEnsembleScheduling()) {
        config.setBackend(backend.name());
        decideBackend("backend");
      }
      if (config.getPlatform().isEmpty() && backend.platform().isPresent()) {
        config.setPlatform(backend.platform().get());
        decideBackend("platform");
      }
      if (config.getDefaultModelFilename().isEmpty() && backend.file().isPresent()) {
        config.setDefaultModelFilename(backend.file().get());
      }
    }

    private void decideBackend(String path) {
      decided.put(path, backend.configured() ? Origin.DEFAULT : Origin.MODEL);
    }

    private void fillInstances() {
      if (config.getInstanceGroupCount() == 0) {
        config.addInstanceGroupBuilder();
      }
      for (int i = 0; i < config.getInstanceGroupCount(); i++) {
        ModelInstanceGroup.Builder group = config.getInstanceGroupBuilder(i);
        if (group.getName().isEmpty()) {
          group.setName(SchedulingReader.defaultName(model, i));
        }
        if (group.getCount() == 0) {
          group.setCount(1);
        }
        if (backend.onProcessor() && group.getKind() != Kind.KIND_CPU) {
          group.setKind(Kind.KIND_CPU).clearGpus().clearProfile();
          decided.put("instance_group[" + i + "].kind", Origin.DEFAULT);
        }
      }
    }
  }
}
