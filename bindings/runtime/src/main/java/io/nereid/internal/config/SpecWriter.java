package io.nereid.internal.config;

import io.nereid.model.BatchInput;
import io.nereid.model.BatchOutput;
import io.nereid.model.DynamicBatching;
import io.nereid.model.Ensemble;
import io.nereid.model.InstanceGroup;
import io.nereid.model.ModelSpec;
import io.nereid.model.QueuePolicy;
import io.nereid.model.TensorSpec;
import io.nereid.model.WarmUp;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelDynamicBatching;
import io.nereid.proto.ModelEnsembling;
import io.nereid.proto.ModelInput;
import io.nereid.proto.ModelInstanceGroup;
import io.nereid.proto.ModelOutput;
import io.nereid.proto.ModelParameter;
import io.nereid.proto.ModelQueuePolicy;
import io.nereid.proto.ModelRateLimiter;
import io.nereid.proto.ModelResponseCache;
import io.nereid.proto.ModelTensorReshape;
import io.nereid.proto.ModelTransactionPolicy;
import io.nereid.proto.ModelVersionPolicy;
import io.nereid.proto.ModelWarmup;
import java.time.Duration;
import java.util.TreeMap;

/** Writes a {@link ModelSpec} as a configuration, for models that a program describes. */
final class SpecWriter {

  private final ModelSpec spec;
  private final ModelConfig.Builder config = ModelConfig.newBuilder();

  private SpecWriter(ModelSpec spec) {
    this.spec = spec;
  }

  /** Writes the configuration without labels, for which it has no fields. */
  static ModelConfig write(ModelSpec spec) {
    return new SpecWriter(spec).write();
  }

  private ModelConfig write() {
    config
        .setName(spec.name())
        .setVersionPolicy(
            ModelVersionPolicy.newBuilder()
                .setSpecific(ModelVersionPolicy.Specific.newBuilder().addVersions(spec.version())))
        // The message has 32 bits for it.
        .setMaxBatchSize((int) Math.min(spec.maxBatchSize(), Integer.MAX_VALUE))
        .setModelTransactionPolicy(
            ModelTransactionPolicy.newBuilder().setDecoupled(spec.decoupled()))
        .setResponseCache(ModelResponseCache.newBuilder().setEnable(spec.responseCache()));
    spec.inputs().forEach(input -> config.addInput(input(input)));
    spec.outputs().forEach(output -> config.addOutput(output(output)));
    spec.batchInputs().forEach(input -> config.addBatchInput(batchInput(input)));
    spec.batchOutputs().forEach(output -> config.addBatchOutput(batchOutput(output)));
    spec.dynamicBatching().ifPresent(batching -> config.setDynamicBatching(batching(batching)));
    spec.sequenceBatching()
        .ifPresent(sequences -> config.setSequenceBatching(SequenceWriter.write(sequences)));
    spec.warmUps().forEach(warmUp -> config.addModelWarmup(warmUp(warmUp)));
    if (spec.ensemble().isPresent()) {
      config.setPlatform(BackendNames.ENSEMBLE).setEnsembleScheduling(ensemble());
    } else {
      config.setBackend(spec.backendName());
      new BackendNames.Found(spec.backendName(), true).platform().ifPresent(config::setPlatform);
      spec.instanceGroups().forEach(group -> config.addInstanceGroup(group(group)));
    }
    new TreeMap<>(spec.parameters()).forEach(this::putParameter);
    if (!spec.inline()) {
      putParameter(ParameterReader.INLINE, "false");
    }
    if (!spec.batcherName().isEmpty()) {
      putParameter(ParameterReader.BATCHER, spec.batcherName());
    }
    spec.objective().ifPresent(it -> putParameter(ParameterReader.OBJECTIVE, it.text()));
    if (!spec.inlineBudget().isZero()) {
      putParameter(ParameterReader.INLINE_BUDGET, Long.toString(micros(spec.inlineBudget())));
    }
    return config.build();
  }

  private void putParameter(String key, String value) {
    config.putParameters(key, ModelParameter.newBuilder().setStringValue(value).build());
  }

  private static ModelInput input(TensorSpec spec) {
    ModelInput.Builder input =
        ModelInput.newBuilder()
            .setName(spec.name())
            .setDataType(ConfigTensor.configured(spec.dataType()))
            .addAllDims(spec.dims())
            .setOptional(spec.optional())
            .setAllowRaggedBatch(spec.ragged());
    spec.reshape()
        .ifPresent(shape -> input.setReshape(ModelTensorReshape.newBuilder().addAllShape(shape)));
    return input.build();
  }

  private static ModelOutput output(TensorSpec spec) {
    ModelOutput.Builder output =
        ModelOutput.newBuilder()
            .setName(spec.name())
            .setDataType(ConfigTensor.configured(spec.dataType()))
            .addAllDims(spec.dims());
    spec.reshape()
        .ifPresent(shape -> output.setReshape(ModelTensorReshape.newBuilder().addAllShape(shape)));
    return output.build();
  }

  private static io.nereid.proto.BatchInput batchInput(BatchInput input) {
    return io.nereid.proto.BatchInput.newBuilder()
        .setKind(io.nereid.proto.BatchInput.Kind.valueOf("BATCH_" + input.kind()))
        .addAllTargetName(input.targets())
        .setDataType(ConfigTensor.configured(input.dataType()))
        .addSourceInput(input.source())
        .build();
  }

  private static io.nereid.proto.BatchOutput batchOutput(BatchOutput output) {
    return io.nereid.proto.BatchOutput.newBuilder()
        .setKind(io.nereid.proto.BatchOutput.Kind.BATCH_SCATTER_WITH_INPUT_SHAPE)
        .addAllTargetName(output.targets())
        .addSourceInput(output.source())
        .build();
  }

  private static ModelDynamicBatching batching(DynamicBatching batching) {
    ModelDynamicBatching.Builder config =
        ModelDynamicBatching.newBuilder()
            .addAllPreferredBatchSize(batching.preferredBatchSizes())
            .setMaxQueueDelayMicroseconds(micros(batching.maxQueueDelay()))
            .setPreserveOrdering(batching.preserveOrdering())
            .setPriorityLevels(batching.priorityLevels())
            .setDefaultPriorityLevel(batching.defaultPriorityLevel())
            .setDefaultQueuePolicy(policy(batching.defaultQueuePolicy()));
    new TreeMap<>(batching.levelQueuePolicies())
        .forEach((level, policy) -> config.putPriorityQueuePolicy(level, policy(policy)));
    return config.build();
  }

  private static ModelQueuePolicy policy(QueuePolicy policy) {
    return ModelQueuePolicy.newBuilder()
        .setTimeoutAction(
            switch (policy.timeoutAction()) {
              case REJECT -> ModelQueuePolicy.TimeoutAction.REJECT;
              case DELAY -> ModelQueuePolicy.TimeoutAction.DELAY;
            })
        .setDefaultTimeoutMicroseconds(micros(policy.defaultTimeout()))
        .setAllowTimeoutOverride(policy.allowTimeoutOverride())
        .setMaxQueueSize(policy.maxQueueSize())
        .build();
  }

  /** Rounds up, so that a limit never becomes 0; returns the largest long for longer durations. */
  static long micros(Duration duration) {
    try {
      return Math.ceilDiv(duration.toNanos(), 1_000);
    } catch (ArithmeticException e) {
      long seconds = Math.min(duration.toSeconds(), Long.MAX_VALUE / 1_000_000);
      return seconds * 1_000_000;
    }
  }

  private ModelInstanceGroup group(InstanceGroup group) {
    String name =
        group.name().isEmpty()
            ? SchedulingReader.defaultName(spec.name(), config.getInstanceGroupCount())
            : group.name();
    ModelInstanceGroup.Builder written = ModelInstanceGroup.newBuilder();
    if (!group.rateLimiter().equals(InstanceGroup.RateLimiter.NONE)) {
      written.setRateLimiter(rateLimiter(group.rateLimiter()));
    }
    return written
        .setName(name)
        .setKind(
            switch (group.kind()) {
              case AUTO -> ModelInstanceGroup.Kind.KIND_AUTO;
              case CPU -> ModelInstanceGroup.Kind.KIND_CPU;
              case GPU -> ModelInstanceGroup.Kind.KIND_GPU;
              case MODEL -> ModelInstanceGroup.Kind.KIND_MODEL;
            })
        .setCount(group.count())
        .addAllGpus(group.devices())
        .addAllProfile(group.profiles())
        .setHostPolicy(group.hostPolicy())
        .setPassive(group.passive())
        .addAllSecondaryDevices(
            group.secondaryDevices().stream().map(SpecWriter::secondaryDevice).toList())
        .build();
  }

  private static ModelInstanceGroup.SecondaryDevice secondaryDevice(
      InstanceGroup.SecondaryDevice device) {
    return ModelInstanceGroup.SecondaryDevice.newBuilder().setDeviceId(device.device()).build();
  }

  private static ModelRateLimiter rateLimiter(InstanceGroup.RateLimiter limiter) {
    ModelRateLimiter.Builder config = ModelRateLimiter.newBuilder().setPriority(limiter.priority());
    for (InstanceGroup.Resource resource : limiter.resources()) {
      config.addResources(
          ModelRateLimiter.Resource.newBuilder()
              .setName(resource.name())
              .setGlobal(resource.global())
              .setCount(resource.count()));
    }
    return config.build();
  }

  private static ModelWarmup warmUp(WarmUp warmUp) {
    ModelWarmup.Builder config =
        ModelWarmup.newBuilder()
            .setName(warmUp.name())
            .setBatchSize((int) warmUp.batchSize())
            .setCount(warmUp.count());
    new TreeMap<>(warmUp.inputs())
        .forEach((name, input) -> config.putInputs(name, warmUpInput(input)));
    return config.build();
  }

  private static ModelWarmup.Input warmUpInput(WarmUp.Input input) {
    ModelWarmup.Input.Builder config =
        ModelWarmup.Input.newBuilder()
            .setDataType(ConfigTensor.configured(input.dataType()))
            .addAllDims(input.dims());
    switch (input.data()) {
      case WarmUp.Zero() -> config.setZeroData(true);
      case WarmUp.Random() -> config.setRandomData(true);
      case WarmUp.Content(var path) -> config.setInputDataFile(path.toString());
    }
    return config.build();
  }

  private ModelEnsembling ensemble() {
    Ensemble ensemble = spec.ensemble().orElseThrow();
    ModelEnsembling.Builder scheduling =
        ModelEnsembling.newBuilder().setMaxInflightRequests(ensemble.maxInflightRequests());
    for (Ensemble.Step step : ensemble.steps()) {
      scheduling.addStep(
          ModelEnsembling.Step.newBuilder()
              .setModelName(step.model())
              .setModelVersion(step.version().orElse(-1))
              .putAllInputMap(step.inputs())
              .putAllOutputMap(step.outputs()));
    }
    return scheduling.build();
  }
}
