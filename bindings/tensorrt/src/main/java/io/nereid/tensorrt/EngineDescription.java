package io.nereid.tensorrt;

import java.util.List;

/**
 * What an engine says of itself. All decisions about serving it are made from this record.
 *
 * @param name the network's
 * @param tensors inputs and outputs in the engine's order
 * @param profiles at least one, by number
 * @param streamableWeightBytes weights that can be streamed from the processor's memory; 0: none
 */
record EngineDescription(
    String name,
    List<EngineTensor> tensors,
    List<EngineProfile> profiles,
    long streamableWeightBytes) {

  EngineDescription {
    tensors = List.copyOf(tensors);
    profiles = List.copyOf(profiles);
  }

  List<EngineTensor> inputs() {
    return tensors.stream().filter(EngineTensor::input).toList();
  }

  List<EngineTensor> outputs() {
    return tensors.stream().filter(tensor -> !tensor.input()).toList();
  }

  /** Whether all tensors have a first dimension of any size, as those of a batch do. */
  boolean hasBatchDimension() {
    return tensors.stream().allMatch(EngineTensor::hasFreeFirst);
  }

  /** The most rows that a profile allows; 0: there is no batch dimension. */
  long maxBatchSize() {
    if (!hasBatchDimension()) {
      return 0;
    }
    return profiles.stream().mapToLong(this::maxBatchSize).max().orElse(0);
  }

  /** The most rows that one profile allows; only where there is a batch dimension. */
  long maxBatchSize(EngineProfile profile) {
    return inputs().stream()
        .mapToLong(input -> profile.shapes().get(input.name()).max().getFirst())
        .min()
        .orElse(0);
  }
}
