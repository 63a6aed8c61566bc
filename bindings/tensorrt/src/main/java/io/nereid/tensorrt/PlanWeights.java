package io.nereid.tensorrt;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The file beside a plan whose weights its engine gets when it is loaded.
 *
 * @param file where it is
 * @param wanted whether a plan that cannot take them is a failure; an ONNX file may also be just
 *     the plan's source
 */
record PlanWeights(Path file, boolean wanted) {

  static final String PARAMETER = "weights";

  private static final String NONE = "none";
  private static final String SAFETENSORS = ".safetensors";
  private static final String ONNX = ".onnx";

  /**
   * Finds the weights of a plan; empty: it keeps its own.
   *
   * @param written the name of a file in the plan's directory, or {@value #NONE}; empty: the file
   *     with the plan's name and another ending
   * @throws IllegalArgumentException the name is not that of such a file
   */
  static Optional<PlanWeights> of(Path plan, String written) {
    if (written.equals(NONE)) {
      return Optional.empty();
    }
    if (!written.isEmpty()) {
      if (written.contains("/") || !(written.endsWith(SAFETENSORS) || written.endsWith(ONNX))) {
        throw new IllegalArgumentException(
            NONE + ", or a file beside the plan that ends with " + SAFETENSORS + " or " + ONNX);
      }
      return Optional.of(new PlanWeights(plan.resolveSibling(written), true));
    }
    String name = plan.getFileName().toString();
    String stem = name.contains(".") ? name.substring(0, name.lastIndexOf('.')) : name;
    return List.of(SAFETENSORS, ONNX).stream()
        .map(ending -> plan.resolveSibling(stem + ending))
        .filter(Files::isRegularFile)
        .findFirst()
        .map(file -> new PlanWeights(file, file.toString().endsWith(SAFETENSORS)));
  }

  boolean isOnnx() {
    return file.toString().endsWith(ONNX);
  }
}
