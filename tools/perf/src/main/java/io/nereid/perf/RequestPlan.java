package io.nereid.perf;

import io.nereid.perf.InputData.Step;
import java.util.Map;

/**
 * The properties that all requests of a run have in common.
 *
 * @param target the server
 * @param model the server's description of the model
 * @param inputForm the form of inputs
 * @param outputForm the form of outputs
 * @param parameters of each request: booleans, longs, doubles, strings
 * @param id the id of each request; empty: none, or one of its own
 * @param requestIds whether each request has an id of its own
 * @param sequences whether requests belong to sequences
 * @param streaming whether they are sent over a stream of gRPC
 */
record RequestPlan(
    Target target,
    ModelInfo model,
    TensorForm inputForm,
    TensorForm outputForm,
    Map<String, Object> parameters,
    String id,
    boolean requestIds,
    boolean sequences,
    boolean streaming) {

  /** The rows of a request. */
  int rows(Step step) {
    if (!model.batched() || step.inputs().isEmpty()) {
      return 1;
    }
    long[] shape = step.inputs().get(0).shape();
    return shape.length == 0 ? 1 : (int) shape[0];
  }

  /** The forms of tensors: in JSON, as bytes, or in shared memory. */
  enum TensorForm {
    JSON,
    BINARY,
    SHM
  }
}
