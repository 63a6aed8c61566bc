package io.nereid.model;

import io.nereid.internal.Checks;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The configuration and the files that a model is loaded from in place of its directory.
 *
 * @param config its configuration, in JSON
 * @param files its files by their paths below the model's directory, such as {@code 1/model.onnx};
 *     empty: those of the directory in the repository. If there are files, nothing of the directory
 *     is used, which need not even be there
 */
public record ModelOverride(String config, Map<String, byte[]> files) {

  /** Copies the map, but not the files' contents. */
  public ModelOverride {
    Checks.notNull(config, "config");
    files = Collections.unmodifiableMap(new LinkedHashMap<>(Checks.notNull(files, "files")));
  }

  /** Another configuration for the directory's files. */
  public static ModelOverride ofConfig(String config) {
    return new ModelOverride(config, Map.of());
  }
}
