package io.nereid.tensorrt;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An engine's description of itself. All decisions about serving it are made from this record.
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

  EngineDescription withOwnRows(Set<String> outputs) {
    return new EngineDescription(name, tensors, profiles, streamableWeightBytes, outputs);
  }

  List<EngineTensor> inputs() {
    return tensors.stream().filter(EngineTensor::input).toList();
  }

  List<EngineTensor> outputs() {
    return tensors.stream().filter(tensor -> !tensor.input()).toList();
  }

  /** True if the first dimension of all tensors is that of a batch. */
  boolean hasBatchDimension() {
    return tensors.stream().allMatch(this::isBatched);
  }

  /** True if a tensor's first dimension is that of a batch. */
  boolean isBatched(EngineTensor tensor) {
    return tensor.hasFreeFirst() && !ownRows.contains(tensor.name());
  }

  /** The most rows that any profile allows; 0: there is no batch dimension. */
  long maxBatchSize() {
    return hasBatchDimension()
        ? profiles.stream().mapToLong(this::maxBatchSize).max().orElse(0)
        : 0;
  }

  /** The most rows that one profile allows; only where there is a batch dimension. */
  long maxBatchSize(EngineProfile profile) {
    return inputs().stream()
        .mapToLong(input -> profile.shapes().get(input.name()).max().getFirst())
        .min()
        .orElse(0);
  }

  /**
   * An input or output of an engine.
   *
   * @param dims its shape; -1: decided when it runs
   * @param onHost whether TensorRT wants it in the processor's memory
   * @param ofShapes whether shapes are computed from its values, or it is an output computed from
   *     shapes
   * @param linear whether its elements lie in row-major order in every profile
   */
  record EngineTensor(
      String name,
      boolean input,
      EngineType type,
      List<Long> dims,
      boolean onHost,
      boolean ofShapes,
      boolean linear) {

    boolean hasFreeFirst() {
      return !dims.isEmpty() && dims.getFirst() < 0;
    }

    String title() {
      return (input ? "input '" : "output '") + name + "'";
    }
  }

  /**
   * An optimization profile of an engine.
   *
   * @param shapes the range of dimensions, by input
   * @param values the range of values, by input from which shapes are computed
   */
  record EngineProfile(
      int index, Map<String, ProfileRange> shapes, Map<String, ProfileRange> values) {}

  /**
   * The range that a profile allows for a tensor: of its dimensions, or of its values if shapes are
   * computed from them. The profile is fastest for {@code opt}.
   */
  record ProfileRange(List<Long> min, List<Long> opt, List<Long> max) {

    boolean contains(long[] sizes) {
      if (sizes.length != min.size()) {
        return false;
      }
      for (int i = 0; i < sizes.length; i++) {
        if (sizes[i] < min.get(i) || sizes[i] > max.get(i)) {
          return false;
        }
      }
      return true;
    }

    /** Returns the distance of the sizes from those for which the profile is fastest. */
    long distance(long[] sizes) {
      long distance = 0;
      for (int i = 0; i < sizes.length; i++) {
        distance += Math.abs(sizes[i] - opt.get(i));
      }
      return distance;
    }

    @Override
    public String toString() {
      return min + " to " + max;
    }
  }
}
