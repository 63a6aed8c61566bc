package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.List;

/**
 * Outputs that a backend makes for the whole batch as elements one after another: each request gets
 * as many as its output has, whose free dimensions are those of its input {@code source} in the
 * same place.
 *
 * @param targets names of outputs, at least one
 * @param source the input, which is not optional
 */
public record BatchOutput(List<String> targets, String source) {

  /** Checks the values and copies the list. */
  public BatchOutput {
    targets = List.copyOf(Checks.notNull(targets, "targets"));
    Checks.notNull(source, "source");
    if (targets.isEmpty()) {
      throw new IllegalArgumentException("a batch output names no target");
    }
  }
}
