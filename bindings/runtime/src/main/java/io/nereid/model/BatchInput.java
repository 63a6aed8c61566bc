package io.nereid.model;

import io.nereid.internal.Checks;
import io.nereid.types.DataType;
import java.util.List;

/**
 * Inputs that no request brings: they tell the backend how large an input of each request of a
 * batch is. All targets get the same values.
 *
 * @param kind the content of the inputs
 * @param targets their names, at least one
 * @param dataType {@link DataType#INT32} or {@link DataType#FP32}
 * @param source the input of requests that the batch inputs describe, which is not optional
 */
public record BatchInput(Kind kind, List<String> targets, DataType dataType, String source) {

  /**
   * The content of an input that the core makes for the whole batch; the constants are in the order
   * of the core's.
   */
  public enum Kind {
    /** The number of elements in the source of each request. */
    ELEMENT_COUNT,
    /**
     * For each request, the number of elements in its source and in those of the requests before
     * it.
     */
    ACCUMULATED_ELEMENT_COUNT,
    /** The accumulated numbers of elements with a 0 in front. */
    ACCUMULATED_ELEMENT_COUNT_WITH_ZERO,
    /** No content: the input is as long as the largest number of elements in a source. */
    MAX_ELEMENT_COUNT_AS_SHAPE,
    /** The sizes of the source for each row of the batch, without the batch dimension. */
    ITEM_SHAPE,
    /** The sizes of the source for each row, in one dimension. */
    ITEM_SHAPE_FLATTEN
  }

  /** Checks the values and copies the list. */
  public BatchInput {
    Checks.notNull(kind, "kind");
    targets = List.copyOf(Checks.notNull(targets, "targets"));
    Checks.notNull(dataType, "dataType");
    Checks.notNull(source, "source");
    if (targets.isEmpty()) {
      throw new IllegalArgumentException("a batch input names no target");
    }
    if (dataType != DataType.INT32 && dataType != DataType.FP32) {
      throw new IllegalArgumentException("a batch input is INT32 or FP32, got " + dataType);
    }
  }

  /** A batch input of INT32 with one target. */
  public static BatchInput of(Kind kind, String target, String source) {
    return new BatchInput(kind, List.of(target), DataType.INT32, source);
  }

  /**
   * The targets as the backend sees them. The size in place of the batch dimension is the number of
   * requests, of rows for {@link Kind#ITEM_SHAPE}, or what the kind says.
   *
   * @param inputs those of requests
   * @param batched whether there is a batch dimension
   */
  List<TensorSpec> tensors(List<TensorSpec> inputs, boolean batched) {
    TensorSpec brought =
        inputs.stream()
            .filter(input -> input.name().equals(source))
            .findFirst()
            .orElseThrow(() ->
                new IllegalArgumentException(
                    "batch input " + targets + ": there is no source input '" + source + "'"));
    int sizes = brought.reshape().orElse(brought.dims()).size();
    List<Long> flat = batched ? List.of() : List.of(-1L);
    List<Long> dims = kind == Kind.ITEM_SHAPE ? List.of((long) sizes) : flat;
    return targets.stream().map(target -> new TensorSpec(target, dataType, dims, false)).toList();
  }
}
