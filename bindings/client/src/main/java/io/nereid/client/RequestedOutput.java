package io.nereid.client;

import java.util.Objects;

/**
 * An output that a request asks for.
 *
 * @param name its name
 * @param classification how many classes the server is to name instead of the tensor; 0: none
 * @param slice where in shared memory the server is to put it; null: into the reply
 */
record RequestedOutput(String name, int classification, SharedMemorySlice slice) {

  RequestedOutput {
    Objects.requireNonNull(name);
    if (classification < 0) {
      throw new IllegalArgumentException(
          "expected a number of classes above 0 for output '" + name + "', got " + classification);
    }
  }
}
