package io.nereid.tensorrt;

import io.nereid.model.BatchInput;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensorrt.EngineDescription.EngineProfile;
import io.nereid.tensorrt.EngineDescription.EngineTensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;

/**
 * The first dimension of an input in a batch: a number for each row of the batch, and some more. If
 * the number for each row is 0, the dimension does not depend on rows: it is the sum of all
 * elements, or the largest number of elements.
 *
 * @param perRow the number for each row
 * @param more the additional number
 */
record FirstDimension(long perRow, long more) {

  private static final FirstDimension ROWS = new FirstDimension(1, 0);
  private static final FirstDimension FREE = new FirstDimension(0, 0);

  /** Returns the first dimension of a model's input for the model's backend. */
  static FirstDimension of(ModelSpec spec, String input) {
    for (BatchInput made : spec.batchInputs()) {
      if (made.targets().contains(input)) {
        return of(spec, made);
      }
    }
    return spec.inputs().stream().anyMatch(own -> own.name().equals(input) && own.ragged())
        ? FREE
        : ROWS;
  }

  /**
   * Returns the first dimension of a batch input; each request has at least one row, so there are
   * no more requests than rows.
   */
  private static FirstDimension of(ModelSpec spec, BatchInput made) {
    return switch (made.kind()) {
      case ELEMENT_COUNT, ACCUMULATED_ELEMENT_COUNT, ITEM_SHAPE -> ROWS;
      case ACCUMULATED_ELEMENT_COUNT_WITH_ZERO -> new FirstDimension(1, 1);
      case MAX_ELEMENT_COUNT_AS_SHAPE -> FREE;
      case ITEM_SHAPE_FLATTEN ->
          new FirstDimension(
              spec.inputs().stream()
                  .filter(input -> input.name().equals(made.source()))
                  .mapToLong(FirstDimension::rank)
                  .sum(),
              0);
    };
  }

  private static long rank(TensorSpec source) {
    return source.reshape().orElse(source.dims()).size();
  }

  /** Throws if batches could have more rows than every profile allows. */
  static void checkBatchSize(
      ModelSpec spec, EngineDescription engine, List<EngineProfile> profiles, String named) {
    if (spec.maxBatchSize() == 0) {
      return; // an input may have no dimension at all
    }
    long most =
        profiles.stream().mapToLong(profile -> maxBatchSize(spec, engine, profile)).max().orElse(0);
    if (spec.maxBatchSize() > most) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "model '%s': expected a max_batch_size of at most %s, which is what %s allow, got %s"
              .formatted(spec.name(), most, named, spec.maxBatchSize()));
    }
  }

  private static long maxBatchSize(
      ModelSpec spec, EngineDescription engine, EngineProfile profile) {
    long most = Long.MAX_VALUE;
    for (EngineTensor input : engine.inputs()) {
      FirstDimension first = of(spec, input.name());
      if (first.perRow > 0) {
        long largest = profile.shapes().get(input.name()).max().getFirst();
        most = Math.min(most, (largest - first.more) / first.perRow);
      }
    }
    return most;
  }

  /**
   * Returns the largest value of the dimension that a profile allows in batches of so many rows.
   */
  long largest(long rows, long allowed) {
    return perRow == 0 ? allowed : Math.min(allowed, perRow * rows + more);
  }
}
