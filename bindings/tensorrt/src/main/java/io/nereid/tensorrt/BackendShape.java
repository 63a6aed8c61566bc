package io.nereid.tensorrt;

import io.nereid.model.TensorSpec;
import java.util.List;

/**
 * The shape of an input as the engine sees it, from what requests sent: the rows of all of them,
 * and the configured {@code reshape} in place of their dimensions.
 */
final class BackendShape {

  private final boolean batched;
  private final List<Long> dims;
  private final List<Long> reshape; // null: as it was sent

  BackendShape(TensorSpec spec, boolean batched) {
    this.batched = batched;
    dims = spec.dims();
    reshape = spec.reshape().orElse(null);
  }

  /**
   * The engine's shape.
   *
   * @param sent the shape of one of the requests
   * @param rows of the whole batch
   */
  long[] of(long[] sent, long rows) {
    int first = batched ? 1 : 0;
    long[] shape;
    if (reshape == null) {
      shape = sent.clone();
    } else {
      shape = new long[first + reshape.size()];
      // The n-th free dimension here has the size of the n-th one there.
      int next = 0;
      for (int i = 0; i < reshape.size(); i++) {
        long size = reshape.get(i);
        if (size < 0) {
          while (dims.get(next) >= 0) {
            next++;
          }
          size = sent[first + next];
          next++;
        }
        shape[first + i] = size;
      }
    }
    if (batched) {
      shape[0] = rows;
    }
    return shape;
  }
}
