package io.nereid.internal.config;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelInput;
import io.nereid.proto.ModelOutput;
import io.nereid.proto.ModelTensorReshape;
import io.nereid.types.DataType;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads {@code input} and {@code output}. */
final class TensorReader {

  private final ConfigNode root;
  private final ModelConfig config;
  private final ModelFiles files;

  TensorReader(ConfigNode root, ModelFiles files) {
    this.root = root;
    this.files = files;
    config = root.as(ModelConfig.class);
  }

  void read(ModelSpec.Builder spec) {
    if (config.getInputCount() == 0 || config.getOutputCount() == 0) {
      throw root.invalid(
          "expected at least one input and one output, got "
              + config.getInputCount()
              + " and "
              + config.getOutputCount());
    }
    Set<String> inputs = new HashSet<>();
    for (ConfigNode node : root.children(ModelConfig.INPUT_FIELD_NUMBER)) {
      ModelInput input = node.as(ModelInput.class);
      String what = "input '" + input.getName() + "'";
      checkName(node, ModelInput.NAME_FIELD_NUMBER, what, input.getName(), inputs);
      checkDims(node, what, ModelInput.DIMS_FIELD_NUMBER, input.getDimsList());
      DataType type =
          TensorWords.readType(node, ModelInput.DATA_TYPE_FIELD_NUMBER, input.getDataType());
      Optional<List<Long>> reshape =
          input.hasReshape()
              ? reshape(node.child(ModelInput.RESHAPE_FIELD_NUMBER), what, input.getDimsList())
              : Optional.empty();
      spec.input(
          new TensorSpec(
              input.getName(), type, input.getDimsList(), input.getOptional(), List.of(), reshape));
    }
    Set<String> outputs = new HashSet<>();
    for (ConfigNode node : root.children(ModelConfig.OUTPUT_FIELD_NUMBER)) {
      ModelOutput output = node.as(ModelOutput.class);
      String what = "output '" + output.getName() + "'";
      checkName(node, ModelOutput.NAME_FIELD_NUMBER, what, output.getName(), outputs);
      checkDims(node, what, ModelOutput.DIMS_FIELD_NUMBER, output.getDimsList());
      DataType type =
          TensorWords.readType(node, ModelOutput.DATA_TYPE_FIELD_NUMBER, output.getDataType());
      Optional<List<Long>> reshape =
          output.hasReshape()
              ? reshape(node.child(ModelOutput.RESHAPE_FIELD_NUMBER), what, output.getDimsList())
              : Optional.empty();
      spec.output(
          new TensorSpec(
              output.getName(),
              type,
              output.getDimsList(),
              false,
              labels(output.getLabelFilename()),
              reshape));
    }
  }

  private static void checkName(
      ConfigNode node, int number, String what, String name, Set<String> names) {
    if (name.isEmpty()) {
      throw node.invalid(what.substring(0, what.indexOf(' ')) + " has no name");
    }
    if (!names.add(name)) {
      throw node.invalid(number, what + " is configured twice");
    }
  }

  private int mostDims() {
    return TensorSpec.MAX_RANK - (config.getMaxBatchSize() > 0 ? 1 : 0);
  }

  private void checkDims(ConfigNode node, String what, int number, List<Long> dims) {
    if (dims.isEmpty() || dims.size() > mostDims()) {
      throw node.invalid(
          number,
          "expected dims of "
              + what
              + " with 1 to "
              + mostDims()
              + " sizes"
              + (config.getMaxBatchSize() > 0 ? ", without the batch dimension" : "")
              + ", got "
              + (dims.isEmpty() ? "none" : dims.size()));
    }
    checkSizes(node, "dims of " + what, number, dims);
  }

  private static void checkSizes(ConfigNode node, String what, int number, List<Long> dims) {
    for (int i = 0; i < dims.size(); i++) {
      if (dims.get(i) < 1 && dims.get(i) != -1) {
        throw node.invalid(
            number, i, "expected " + what + " from 1 on, or -1 for any size, got " + dims.get(i));
      }
    }
  }

  // ---- Reshape ---------------------------------------------------------------------------------

  /** The shape that the backend sees; empty when it is no other one. An empty one is a scalar. */
  private Optional<List<Long>> reshape(ConfigNode node, String what, List<Long> dims) {
    int number = ModelTensorReshape.SHAPE_FIELD_NUMBER;
    List<Long> shape = node.as(ModelTensorReshape.class).getShapeList();
    if (shape.size() > mostDims()) {
      throw node.invalid(
          number,
          "expected a reshape of "
              + what
              + " with at most "
              + mostDims()
              + " sizes, got "
              + shape.size());
    }
    checkSizes(node, "reshape of " + what, number, shape);
    if (!products(shape).equals(products(dims))) {
      throw node.invalid(
          number,
          "expected a reshape of "
              + what
              + " with as many elements as its dims "
              + TensorWords.text(dims)
              + ", before, between and after each -1, got "
              + TensorWords.text(shape));
    }
    return shape.equals(dims) ? Optional.empty() : Optional.of(shape);
  }

  /** Of the sizes before, between and after each -1, so that each one has its counterpart. */
  private static List<BigInteger> products(List<Long> dims) {
    List<BigInteger> products = new ArrayList<>();
    BigInteger product = BigInteger.ONE;
    for (long dim : dims) {
      if (dim == -1) {
        products.add(product);
        product = BigInteger.ONE;
      } else {
        product = product.multiply(BigInteger.valueOf(dim));
      }
    }
    products.add(product);
    return products;
  }

  private List<String> labels(String filename) {
    if (filename.isEmpty()) {
      return List.of();
    }
    Path file = ModelFiles.inside(files.directory(), filename, "label_filename");
    return files.labels(file);
  }
}
