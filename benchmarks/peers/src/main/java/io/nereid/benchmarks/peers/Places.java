package io.nereid.benchmarks.peers;

import io.nereid.benchmarks.peers.Plan.Workload;
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

  /** Triton's core and the libraries that it is linked with. */
  Path libraries() {
    return existing(directory.resolve("lib"));
  }

  /** The file of an ONNX model. */
  Path onnx(Workload workload) {
    return existing(
        workload == Workload.DIGITS
            ? project.resolve("examples/models/digits/1/model.onnx")
            : directory.resolve("models/all-minilm-l6-v2-q.onnx"));
  }

  private static Path existing(Path path) {
    if (!Files.exists(path)) {
      throw new IllegalStateException(
          "there is no " + path + ": run './dev bench peers', which makes it");
    }
    return path.toAbsolutePath().normalize();
  }
}
