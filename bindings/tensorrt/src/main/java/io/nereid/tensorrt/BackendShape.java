package io.nereid.tensorrt;

import io.nereid.model.TensorSpec;
import java.util.List;

/**
 * The shape of an input as the engine sees it, from what requests sent: the rows of all of them,
 * and the configured {@code reshape} in place of their dimensions.
 */
record BackendShape(TensorSpec spec, boolean batched) {

  /** The engine's shape, from that of one of the requests and the rows of the whole batch. */
  long[] of(long[] sent, long rows) {
    int first = batched ? 1 : 0;
    List<Long> reshape = spec.reshape().orElse(null);
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
