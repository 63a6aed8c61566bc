package io.nereid.internal.repository;

import java.util.Optional;

/**
 * How a model's directory is read.
 *
 * @param autoComplete whether the model itself may tell what its configuration leaves out
 * @param defaultMaxBatchSize the {@code max_batch_size} of models that tell nothing but that they
 *     have a batch dimension
 * @param override a configuration in JSON that is used in place of the directory's
 */
public record ReadOptions(
    boolean autoComplete, int defaultMaxBatchSize, Optional<String> override) {

  /** As Triton does it. */
  public static final ReadOptions DEFAULT = new ReadOptions(true, 4, Optional.empty());
}
