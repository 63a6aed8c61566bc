package io.nereid.perf;

import io.nereid.perf.ModelInfo.TensorInfo;
import io.nereid.types.Names;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Chooses the shapes of inputs: the metadata's, with dimensions of any size filled in.
 *
 * @param given shapes from the command line by input, with or without the batch
 * @param batchSize rows of a request to a model that has a batch dimension
 */
record InputShapes(Map<String, List<Long>> given, int batchSize) {

  private static final long MOST_ELEMENTS = Integer.MAX_VALUE / 8;

  /** Checks names and the batch, which concern no single input. */
  void check(ModelInfo model) {
    for (String name : given.keySet()) {
      if (model.inputs().stream().noneMatch(input -> input.name().equals(name))) {
        throw new PerfException(
            "model '"
                + model.name()
                + "' has no input '"
                + name
                + "' of --shape"
                + Names.hint(
                    "it has", name, model.inputs().stream().map(TensorInfo::name).toList()));
      }
    }
    if (batchSize > 1 && !model.batched()) {
      throw new PerfException(
          "expected -b 1, because model '%s' has no batch dimension, got %s"
              .formatted(model.name(), batchSize));
    }
    if (model.maxBatchSize().orElse(0) > 0 && batchSize > model.maxBatchSize().getAsInt()) {
      throw new PerfException(
          "expected -b of at most %s, the max_batch_size of model '%s', got %s"
              .formatted(model.maxBatchSize().getAsInt(), model.name(), batchSize));
    }
  }

  /** The shape of an input, the batch included. */
  long[] of(ModelInfo model, TensorInfo input) {
    long[] shape = input.shape().stream().mapToLong(Long::longValue).toArray();
    boolean batched = model.batched();
    List<Long> chosen = given.get(input.name());
    if (chosen != null) {
      long[] dims = chosen.stream().mapToLong(Long::longValue).toArray();
      return checked(input, dims.length == shape.length ? dims : withBatch(batched, dims), shape);
    }
    if (batched && shape.length > 0) {
      shape[0] = batchSize;
    }
    for (long dim : shape) {
      if (dim < 0) {
        throw new PerfException(
            "input '%s' has the shape %s: say which one to send, such as --shape %s:%s"
                .formatted(input.name(), input.shape(), input.name(), example(input, batched)));
      }
    }
    return checked(input, shape, shape);
  }

  private long[] withBatch(boolean batched, long[] dims) {
    if (!batched) {
      return dims;
    }
    long[] whole = new long[dims.length + 1];
    whole[0] = batchSize;
    System.arraycopy(dims, 0, whole, 1, dims.length);
    return whole;
  }

  private static long[] checked(TensorInfo input, long[] shape, long[] expected) {
    boolean fits = shape.length == expected.length;
    long elements = 1;
    for (int i = 0; i < shape.length && fits; i++) {
      fits = expected[i] < 0 || expected[i] == shape[i] || i == 0;
      elements = shape[i] == 0 ? 0 : Math.multiplyExact(elements, Math.min(shape[i], 1L << 31));
    }
    if (!fits) {
      throw new PerfException(
          "input '%s' has the shape %s, got --shape %s"
              .formatted(input.name(), input.shape(), Arrays.toString(shape)));
    }
    if (elements > MOST_ELEMENTS) {
      throw new PerfException(
          "expected at most %s elements in input '%s', got %s"
              .formatted(MOST_ELEMENTS, input.name(), elements));
    }
    return shape;
  }

  private static String example(TensorInfo input, boolean batched) {
    return String.join(
        ",",
        input.shape().stream()
            .skip(batched ? 1 : 0)
            .map(dim -> Long.toString(dim < 0 ? 16 : dim))
            .toList());
  }
}
