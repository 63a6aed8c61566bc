package io.nereid.benchmarks.peers;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Says where files and directories are.
 *
 * @param project the top of the source tree
 * @param directory what was unpacked and built for the peers, and the results
 */
record Places(Path project, Path directory) {

  /** A repository with the identity model, for Nereid and Triton. */
  Path repository() {
    return existing(project.resolve("benchmarks/peers/models"));
  }

  /** Directories of Triton's backends, one of them {@code identity}. */
  Path backends() {
    return existing(directory.resolve("backends"));
  }

  /** Returns the directory of the libraries that Triton's core is linked with. */
  String libraries() {
    return existing(directory.resolve("lib")).toString();
  }

  Path tritonLibrary() {
    return existing(directory.resolve("lib/libtritonserver.so"));
  }

  Path digits() {
    return existing(project.resolve("examples/models/digits/1/model.onnx"));
  }

  Path minilm() {
    return existing(directory.resolve("models/all-minilm-l6-v2-q.onnx"));
  }

  private static Path existing(Path path) {
    if (!Files.exists(path)) {
      throw new IllegalStateException(
          "there is no " + path + ": run './dev bench peers', which makes it");
    }
    return path.toAbsolutePath().normalize();
  }
}
