package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.List;

/**
 * The inputs, outputs and largest batch that a model's own file tells.
 *
 * @param inputs with all dimensions, including any batch dimension; -1 for any size; optional
 *     inputs have a default
 * @param outputs likewise
 * @param maxBatchSize the largest batch that the model itself allows; 0: it does not say
 */
public record ModelSignature(List<TensorSpec> inputs, List<TensorSpec> outputs, long maxBatchSize) {

  /** Copies the lists. */
  public ModelSignature {
    inputs = List.copyOf(Checks.notNull(inputs, "inputs"));
    outputs = List.copyOf(Checks.notNull(outputs, "outputs"));
    Checks.notNegative(maxBatchSize, "maxBatchSize");
  }
}
