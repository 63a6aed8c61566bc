package io.nereid.perf;

import java.util.List;

/**
 * What one request carries; in a sequence, one step of it.
 *
 * @param inputs its inputs
 */
record Step(List<Tensor> inputs) {

  long byteSize() {
    return inputs.stream().mapToLong(input -> input.bytes().length).sum();
  }
}
