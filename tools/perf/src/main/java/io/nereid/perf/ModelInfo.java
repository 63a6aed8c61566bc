package io.nereid.perf;

import io.nereid.types.DataType;
import java.util.List;
import java.util.OptionalInt;

/**
 * The server's description of the model.
 *
 * @param name its name
 * @param versions its versions; empty where the server has none
 * @param platform its framework or backend
 * @param inputs its inputs
 * @param outputs its outputs
 * @param maxBatchSize the configuration's; empty where the server has no configurations
 * @param decoupled whether a request can have any number of responses
 * @param optionalInputs inputs that a request may leave out
 */
public record ModelInfo(
    String name,
    List<String> versions,
    String platform,
    List<TensorInfo> inputs,
    List<TensorInfo> outputs,
    OptionalInt maxBatchSize,
    boolean decoupled,
    List<String> optionalInputs) {

  /** Returns this description completed from the model's configuration. */
  ModelInfo configured(int batchSize, boolean isDecoupled, List<String> optional) {
    return new ModelInfo(
        name,
        versions,
        platform,
        inputs,
        outputs,
        OptionalInt.of(batchSize),
        isDecoupled,
        optional);
  }

  /** True if the first dimension of its tensors is the batch. */
  public boolean batched() {
    if (maxBatchSize.isPresent()) {
      return maxBatchSize.getAsInt() > 0;
    }
    return !inputs.isEmpty()
        && inputs.stream().allMatch(input -> !input.shape().isEmpty() && input.shape().get(0) < 0);
  }

  /**
   * An input or output as the model's metadata has it.
   *
   * @param name its name
   * @param type its datatype
   * @param shape its dimensions, -1 for those of any size
   */
  public record TensorInfo(String name, DataType type, List<Long> shape) {}
}
