package io.nereid.internal.config;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.proto.ModelConfig;
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
          "expected at least one input and one output, got %s and %s"
              .formatted(config.getInputCount(), config.getOutputCount()));
    }
    read(ConfigTensor.inputs(root)).forEach(spec::input);
    read(ConfigTensor.outputs(root)).forEach(spec::output);
  }

  private List<TensorSpec> read(List<ConfigTensor> tensors) {
    Set<String> names = new HashSet<>();
    return tensors.stream().map(tensor -> read(tensor, names)).toList();
  }

  private TensorSpec read(ConfigTensor tensor, Set<String> names) {
    ConfigNode node = tensor.node();
    String what = tensor.shown();
    if (tensor.name().isEmpty()) {
      throw node.invalid(tensor.kind() + " has no name");
    }
    if (!names.add(tensor.name())) {
      throw node.invalid(tensor.number("name"), what + " is configured twice");
    }
    checkDims(node, what, tensor.number("dims"), tensor.dims());
    DataType type = tensor.dataType();
    Optional<List<Long>> reshape =
        tensor.reshape().isPresent()
            ? reshape(node.child(tensor.number("reshape")), what, tensor.dims())
            : Optional.empty();
    return new TensorSpec(
        tensor.name(),
        type,
        tensor.dims(),
        tensor.optional(),
        labels(tensor.labels()),
        reshape,
        ragged(tensor));
  }

  /** An ensemble forms no batches, so there the setting makes no difference. */
  private boolean ragged(ConfigTensor tensor) {
    if (tensor.ragged() && tensor.optional()) {
      throw tensor.invalid(
          "allow_ragged_batch",
          tensor.shown() + " is optional, which an input with allow_ragged_batch cannot be");
    }
    return tensor.ragged() && !config.hasEnsembleScheduling();
  }

  private int mostDims() {
    return TensorSpec.MAX_RANK - (config.getMaxBatchSize() > 0 ? 1 : 0);
  }

  /** Checks the shape of a tensor that has a batch dimension where the model has one. */
  void checkDims(ConfigNode node, String what, int number, List<Long> dims) {
    if (dims.isEmpty() || dims.size() > mostDims()) {
      throw node.invalid(
          number,
          "expected dims of %s with 1 to %s sizes%s, got %s"
              .formatted(
                  what,
                  mostDims(),
                  config.getMaxBatchSize() > 0 ? ", without the batch dimension" : "",
                  dims.isEmpty() ? "none" : dims.size()));
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

  /** The shape that the backend sees; empty if the same. An empty list in it is a scalar. */
  private Optional<List<Long>> reshape(ConfigNode node, String what, List<Long> dims) {
    int number = ModelTensorReshape.SHAPE_FIELD_NUMBER;
    List<Long> shape = node.as(ModelTensorReshape.class).getShapeList();
    if (shape.size() > mostDims()) {
      throw node.invalid(
          number,
          "expected a reshape of %s with at most %s sizes, got %s"
              .formatted(what, mostDims(), shape.size()));
    }
    checkSizes(node, "reshape of " + what, number, shape);
    if (!products(shape).equals(products(dims))) {
      throw node.invalid(
          number,
          ("expected a reshape of %s with as many elements as its dims %s, before, between and "
                  + "after each -1, got %s")
              .formatted(what, ConfigTensor.text(dims), ConfigTensor.text(shape)));
    }
    return shape.equals(dims) ? Optional.empty() : Optional.of(shape);
  }

  /**
   * The products of the sizes before, between and after each -1, so that each -1 has its
   * counterpart.
   */
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
