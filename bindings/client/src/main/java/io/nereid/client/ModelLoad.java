package io.nereid.client;

import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What a model is loaded with in place of what its repository has.
 *
 * @param config its configuration in JSON; empty: the repository's
 * @param files contents of files by their path in the model's directory, such as {@code
 *     1/model.onnx}; servers want a configuration with them
 */
record ModelLoad(Optional<String> config, Map<String, byte[]> files) {

  static final ModelLoad PLAIN = new ModelLoad(Optional.empty(), Map.of());

  ModelLoad {
    Objects.requireNonNull(config);
    files = Map.copyOf(files);
  }
}
