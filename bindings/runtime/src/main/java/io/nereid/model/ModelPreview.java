package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The changes that loading a model again would make, as far as they are known without loading it.
 *
 * @param changed whether the files differ from those that the model was loaded from
 * @param failure the reason why it could not be loaded; empty: its configuration is right
 * @param versions the configuration that each version would be served with, by its number, without
 *     the values that only the model's own file has
 * @param files that are new, have changed or are gone, beginning with the model's name
 */
public record ModelPreview(
    boolean changed,
    Optional<String> failure,
    Map<Long, ModelConfiguration> versions,
    List<String> files) {

  /** Copies the collections. */
  public ModelPreview {
    Checks.notNull(failure, "failure");
    versions = Map.copyOf(Checks.notNull(versions, "versions"));
    files = List.copyOf(Checks.notNull(files, "files"));
  }
}
