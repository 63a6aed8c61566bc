package io.nereid.tensorrt;

import java.util.List;
import java.util.Set;

/**
 * What an engine says of itself. All decisions about serving it are made from this record.
 *
 * @param name the network's
 * @param tensors inputs and outputs in the engine's order
 * @param profiles at least one, by number
 * @param streamableWeightBytes weights that can be streamed from the processor's memory; 0: none
 * @param ownRows outputs whose first dimension is free without being the batch's
 */
record EngineDescription(
    String name,
    List<EngineTensor> tensors,
    List<EngineProfile> profiles,
    long streamableWeightBytes,
    Set<String> ownRows) {

  EngineDescription {
    tensors = List.copyOf(tensors);
    profiles = List.copyOf(profiles);
    ownRows = Set.copyOf(ownRows);
  }

  EngineDescription withOwnRows(Set<String> outputs) {
    return new EngineDescription(name, tensors, profiles, streamableWeightBytes, outputs);
  }

  List<EngineTensor> inputs() {
    return tensors.stream().filter(EngineTensor::input).toList();
  }

  List<EngineTensor> outputs() {
    return tensors.stream().filter(tensor -> !tensor.input()).toList();
  }

  /** Whether the first dimension of all tensors is that of a batch. */
  boolean hasBatchDimension() {
    return tensors.stream().allMatch(this::isBatched);
  }

  /** Whether a tensor's first dimension is that of a batch. */
  boolean isBatched(EngineTensor tensor) {
    return tensor.hasFreeFirst() && !ownRows.contains(tensor.name());
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
