package io.nereid.internal.repository;

import java.nio.file.Path;

/** Finds the model that a step of an ensemble means. */
public interface StepNames {

  /** The model of that name, wherever it is. */
  StepNames COMMON = (directory, namespace, name) -> name;

  /**
   * The model's key.
   *
   * @param directory the ensemble's
   * @param namespace the step's {@code model_namespace}; empty: it has none
   * @param name the step's {@code model_name}
   */
  String key(Path directory, String namespace, String name);
}
