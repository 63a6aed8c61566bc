package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * A graph of models that is served as one. Tensors have names: those of the ensemble's inputs and
 * outputs, and others between steps. A step runs when all tensors that it needs are there.
 *
 * <p>With a decoupled step, the ensemble is decoupled itself: each response of that step runs the
 * steps behind it and becomes a response of the ensemble.
 *
 * @param steps in any order
 * @param maxInflightRequests the most responses of a decoupled step that are in the steps behind
 *     it, for one request: at the limit its backend waits; 0: any number
 */
public record Ensemble(List<Step> steps, int maxInflightRequests) {

  /** Copies the list. */
  public Ensemble {
    steps = List.copyOf(Checks.notNull(steps, "steps"));
    Checks.notNegative(maxInflightRequests, "maxInflightRequests");
  }

  /** A graph without a limit on responses under way. */
  public Ensemble(List<Step> steps) {
    this(steps, 0);
  }

  /**
   * A model in the graph.
   *
   * @param model its name, or its directory where each repository has names of its own
   * @param version its version; empty: the highest that takes requests
   * @param inputs for each of the model's inputs, the ensemble's tensor that it takes
   * @param outputs for each of the model's outputs that is used, the tensor that it becomes
   */
  public record Step(
      String model, OptionalLong version, Map<String, String> inputs, Map<String, String> outputs) {

    /** Copies the maps, whose order is kept. */
    public Step {
      Checks.notNull(model, "model");
      Checks.notNull(version, "version");
      inputs = Collections.unmodifiableMap(new LinkedHashMap<>(Checks.notNull(inputs, "inputs")));
      outputs =
          Collections.unmodifiableMap(new LinkedHashMap<>(Checks.notNull(outputs, "outputs")));
    }
  }
}
