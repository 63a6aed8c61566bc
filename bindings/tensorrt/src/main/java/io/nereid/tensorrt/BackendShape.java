package io.nereid.tensorrt;

import io.nereid.model.TensorSpec;
import java.util.List;

/**
 * Computes the shape of an input for the engine from the requests' shapes: the rows of all
 * requests, and the configured {@code reshape} in place of their dimensions.
 */
record BackendShape(TensorSpec spec, boolean batched) {

  /** Returns the engine's shape for the shape of one request and the rows of the whole batch. */
  long[] of(long[] sent, long rows) {
    int first = batched ? 1 : 0;
    List<Long> reshape = spec.reshape().orElse(null);
    long[] shape;
    if (reshape == null) {
      shape = sent.clone();
    } else {
      shape = new long[first + reshape.size()];
      // The n-th free dimension gets the size of the n-th free one that was sent.
      int next = 0;
      for (int i = 0; i < reshape.size(); i++) {
        long size = reshape.get(i);
        if (size < 0) {
          while (spec.dims().get(next) >= 0) {
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
