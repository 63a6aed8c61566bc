package io.nereid.internal.backend;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;

/** The bundled model {@code repeat} and requests to it. */
final class RepeatModel {

  private RepeatModel() {}

  /** The bundled model, as its configuration describes it. */
  static ModelSpec spec() {
    return builder().build();
  }

  static ModelSpec.Builder builder() {
    return ModelSpec.builder("repeat")
        .backend("repeat")
        .decoupled(true)
        .input("IN", DataType.INT32, -1)
        .input("DELAY", DataType.UINT32, -1)
        .input("WAIT", DataType.UINT32, 1)
        .output("OUT", DataType.INT32, 1)
        .output("IDX", DataType.UINT32, 1);
  }

  /** A request with these elements and the same delay for all. */
  static InferRequest request(Model model, int delayMs, int waitMs, int... in) {
    InferRequest request = model.newRequest().input("IN", Tensor.ofInts(in, in.length));
    Tensor delay = request.allocateInput("DELAY", in.length);
    for (int i = 0; i < in.length; i++) {
      delay.segment().setAtIndex(JAVA_INT, i, delayMs);
    }
    Tensor wait = request.allocateInput("WAIT", 1);
    wait.segment().set(JAVA_INT, 0, waitMs);
    return request;
  }
}
