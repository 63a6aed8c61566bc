package io.nereid.internal.config;

import io.nereid.model.BatchInput;
import io.nereid.model.BatchOutput;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.types.DataType;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads {@code batch_input} and {@code batch_output}. */
final class BatchTensorReader {

  private final ConfigNode root;

  /** The model with its inputs and outputs. */
  private final ModelSpec model;

  private BatchTensorReader(ConfigNode root, ModelSpec model) {
    this.root = root;
    this.model = model;
  }

  /** Adds what it reads to a specification that has its tensors already. */
  static void read(ConfigNode root, ModelSpec.Builder spec) {
    BatchTensorReader reader = new BatchTensorReader(root, spec.build());
    reader.inputs().forEach(spec::batchInput);
    reader.outputs().forEach(spec::batchOutput);
  }

  /** Returns the names of the targets of a configuration's batch inputs. */
  static List<String> inputTargets(ModelConfig config) {
    return config.getBatchInputList().stream()
        .flatMap(input -> input.getTargetNameList().stream())
        .toList();
  }

  private List<BatchInput> inputs() {
    Set<String> names = new HashSet<>();
    model.inputs().forEach(input -> names.add(input.name()));
    return root.children(ModelConfig.BATCH_INPUT_FIELD_NUMBER).stream()
        .map(node -> input(node, names))
        .toList();
  }

  private BatchInput input(ConfigNode node, Set<String> names) {
    var input = node.as(io.nereid.proto.BatchInput.class);
    BatchInput.Kind kind = kind(node, input.getKind());
    checkTargets(
        node, io.nereid.proto.BatchInput.TARGET_NAME_FIELD_NUMBER, input.getTargetNameList());
    for (int i = 0; i < input.getTargetNameCount(); i++) {
      String name = input.getTargetName(i);
      if (!names.add(name)) {
        throw node.invalid(
            io.nereid.proto.BatchInput.TARGET_NAME_FIELD_NUMBER,
            i,
            "expected target names that no other input has, got '" + name + "'");
      }
    }
    DataType type =
        switch (input.getDataType()) {
          case TYPE_INT32 -> DataType.INT32;
          case TYPE_FP32 -> DataType.FP32;
          default ->
              throw node.invalid(
                  io.nereid.proto.BatchInput.DATA_TYPE_FIELD_NUMBER,
                  "batch input data type must be TYPE_INT32 or TYPE_FP32, got "
                      + input.getDataType());
        };
    TensorSpec source =
        source(
            node,
            io.nereid.proto.BatchInput.SOURCE_INPUT_FIELD_NUMBER,
            "batch input kind '" + input.getKind() + "'",
            input.getSourceInputList());
    return new BatchInput(kind, input.getTargetNameList(), type, source.name());
  }

  private BatchInput.Kind kind(ConfigNode node, io.nereid.proto.BatchInput.Kind kind) {
    return switch (kind) {
      case BATCH_ELEMENT_COUNT -> BatchInput.Kind.ELEMENT_COUNT;
      case BATCH_ACCUMULATED_ELEMENT_COUNT -> BatchInput.Kind.ACCUMULATED_ELEMENT_COUNT;
      case BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO ->
          BatchInput.Kind.ACCUMULATED_ELEMENT_COUNT_WITH_ZERO;
      case BATCH_MAX_ELEMENT_COUNT_AS_SHAPE -> BatchInput.Kind.MAX_ELEMENT_COUNT_AS_SHAPE;
      case BATCH_ITEM_SHAPE -> ofRows(node, kind, BatchInput.Kind.ITEM_SHAPE);
      case BATCH_ITEM_SHAPE_FLATTEN -> ofRows(node, kind, BatchInput.Kind.ITEM_SHAPE_FLATTEN);
      case UNRECOGNIZED ->
          throw node.invalid(
              io.nereid.proto.BatchInput.KIND_FIELD_NUMBER, "unknown batch input kind");
    };
  }

  private BatchInput.Kind ofRows(
      ConfigNode node, io.nereid.proto.BatchInput.Kind written, BatchInput.Kind kind) {
    if (model.maxBatchSize() == 0) {
      throw node.invalid(
          io.nereid.proto.BatchInput.KIND_FIELD_NUMBER,
          "batch input kind '"
              + written
              + "' is for the rows of a batch, but max_batch_size is 0: expected 1 or more");
    }
    return kind;
  }

  private List<BatchOutput> outputs() {
    Set<String> names = new HashSet<>();
    return root.children(ModelConfig.BATCH_OUTPUT_FIELD_NUMBER).stream()
        .map(node -> output(node, names))
        .toList();
  }

  private BatchOutput output(ConfigNode node, Set<String> names) {
    var output = node.as(io.nereid.proto.BatchOutput.class);
    if (output.getKind() == io.nereid.proto.BatchOutput.Kind.UNRECOGNIZED) {
      throw node.invalid(
          io.nereid.proto.BatchOutput.KIND_FIELD_NUMBER, "unknown batch output kind");
    }
    int number = io.nereid.proto.BatchOutput.TARGET_NAME_FIELD_NUMBER;
    checkTargets(node, number, output.getTargetNameList());
    TensorSpec source =
        source(
            node,
            io.nereid.proto.BatchOutput.SOURCE_INPUT_FIELD_NUMBER,
            "batch output kind '" + output.getKind() + "'",
            output.getSourceInputList());
    for (int i = 0; i < output.getTargetNameCount(); i++) {
      String name = output.getTargetName(i);
      TensorSpec target =
          model.outputs().stream().filter(one -> one.name().equals(name)).findFirst().orElse(null);
      if (target == null) {
        throw node.invalid(number, i, "unknown target output name '" + name + "'");
      }
      if (!names.add(name)) {
        throw node.invalid(
            number, i, "target output name '" + name + "' can only be specified once");
      }
      checkPlaces(node, number, i, target, source);
    }
    return new BatchOutput(output.getTargetNameList(), source.name());
  }

  /** Each free dimension of the output takes the size that the source has in its place. */
  private static void checkPlaces(
      ConfigNode node, int number, int index, TensorSpec target, TensorSpec source) {
    List<Long> dims = target.reshape().orElse(target.dims());
    if (dims.lastIndexOf(-1L) >= source.reshape().orElse(source.dims()).size()) {
      throw node.invalid(
          number,
          index,
          "output '%s' has dims %s, whose last -1 is behind the dims of its source input '%s'"
              .formatted(target.name(), ConfigTensor.text(dims), source.name()));
    }
  }

  private static void checkTargets(ConfigNode node, int number, List<String> names) {
    if (names.isEmpty() || names.stream().anyMatch(String::isEmpty)) {
      throw node.invalid(number, "expected at least one target_name, and none that is empty");
    }
  }

  private TensorSpec source(ConfigNode node, int number, String what, List<String> names) {
    if (names.size() != 1) {
      throw node.invalid(number, what + " expects 1 source input, got " + names.size());
    }
    TensorSpec source =
        model.inputs().stream()
            .filter(input -> input.name().equals(names.getFirst()))
            .findFirst()
            .orElseThrow(
                () -> node.invalid(number, "unknown source input name '" + names.getFirst() + "'"));
    if (source.optional()) {
      throw node.invalid(
          number, "source input '" + source.name() + "' is optional: expected a required one");
    }
    return source;
  }
}
