package io.nereid.internal.config;

import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelInput;
import io.nereid.proto.ModelOutput;
import io.nereid.proto.ModelSequenceBatching.State;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * An input or an output in a configuration, whose messages have different types but the same
 * fields.
 *
 * @param node the message, with its places
 * @param kind {@code input} or {@code output}
 * @param name the tensor's name
 * @param type the datatype, in the words of configurations
 * @param dims the shape that requests have
 * @param reshape the shape that the backend sees; empty: the same
 * @param optional whether requests may leave it out
 * @param ragged whether its shape may differ between the requests of a batch
 * @param labels the file that says what each position stands for; empty: there is none
 */
record ConfigTensor(
    ConfigNode node,
    String kind,
    String name,
    io.nereid.proto.DataType type,
    List<Long> dims,
    Optional<List<Long>> reshape,
    boolean optional,
    boolean ragged,
    String labels) {

  /** All inputs. */
  static List<ConfigTensor> inputs(ConfigNode root) {
    return root.children(ModelConfig.INPUT_FIELD_NUMBER).stream()
        .map(ConfigTensor::ofInput)
        .toList();
  }

  /** All outputs. */
  static List<ConfigTensor> outputs(ConfigNode root) {
    return root.children(ModelConfig.OUTPUT_FIELD_NUMBER).stream()
        .map(ConfigTensor::ofOutput)
        .toList();
  }

  private static ConfigTensor ofInput(ConfigNode node) {
    ModelInput input = node.as(ModelInput.class);
    return new ConfigTensor(
        node,
        "input",
        input.getName(),
        input.getDataType(),
        input.getDimsList(),
        input.hasReshape() ? Optional.of(input.getReshape().getShapeList()) : Optional.empty(),
        input.getOptional(),
        input.getAllowRaggedBatch(),
        "");
  }

  private static ConfigTensor ofOutput(ConfigNode node) {
    ModelOutput output = node.as(ModelOutput.class);
    return new ConfigTensor(
        node,
        "output",
        output.getName(),
        output.getDataType(),
        output.getDimsList(),
        output.hasReshape() ? Optional.of(output.getReshape().getShapeList()) : Optional.empty(),
        false,
        false,
        output.getLabelFilename());
  }

  /** The input of a state of sequences, which no request brings. */
  static ConfigTensor stateInput(ConfigNode node) {
    return ofState(node, "state input", node.as(State.class).getInputName());
  }

  /** The output of a state of sequences. */
  static ConfigTensor stateOutput(ConfigNode node) {
    return ofState(node, "state output", node.as(State.class).getOutputName());
  }

  private static ConfigTensor ofState(ConfigNode node, String kind, String name) {
    State state = node.as(State.class);
    return new ConfigTensor(
        node,
        kind,
        name,
        state.getDataType(),
        state.getDimsList(),
        Optional.empty(),
        false,
        false,
        "");
  }

  /** The name of the tensor in messages. */
  String shown() {
    return kind + " '" + name + "'";
  }

  /** Returns the shape that the backend sees. */
  List<Long> seen() {
    return reshape.orElse(dims);
  }

  /** The datatype, which must be there. */
  DataType dataType() {
    return readType(node, number("data_type"), type);
  }

  /** The exception for a value of a field that cannot be used. */
  NereidException invalid(String field, String text) {
    return node.invalid(number(field), text);
  }

  /** Returns the number of a field, by which its place is found. */
  int number(String field) {
    return node.message().getDescriptorForType().findFieldByName(field).getNumber();
  }

  // ---- The words of configurations ------------------------------------------------------------

  /** The configured datatype; empty when there is none. */
  static Optional<DataType> type(io.nereid.proto.DataType configured) {
    return switch (configured) {
      case TYPE_INVALID, UNRECOGNIZED -> Optional.empty();
      case TYPE_STRING -> Optional.of(DataType.BYTES);
      default -> Optional.of(DataType.valueOf(configured.name().substring("TYPE_".length())));
    };
  }

  static io.nereid.proto.DataType configured(DataType type) {
    return type == DataType.BYTES
        ? io.nereid.proto.DataType.TYPE_STRING
        : io.nereid.proto.DataType.valueOf("TYPE_" + type.name());
  }

  /** The datatype in a field of a message, which must have one. */
  static DataType readType(ConfigNode node, int number, io.nereid.proto.DataType configured) {
    return type(configured)
        .orElseThrow(
            () -> node.invalid(number, "expected a data_type, such as TYPE_FP32, got none"));
  }

  /** Writes dims as {@code [ -1, 16 ]}. */
  static String text(List<Long> dims) {
    return dims.isEmpty()
        ? "[ ]"
        : dims.stream().map(Object::toString).collect(Collectors.joining(", ", "[ ", " ]"));
  }

  /** True if the shape {@code given} is allowed by {@code expected}, which may hold -1. */
  static boolean fit(List<Long> given, List<Long> expected) {
    if (given.size() != expected.size()) {
      return false;
    }
    for (int i = 0; i < given.size(); i++) {
      if (expected.get(i) >= 0 && !expected.get(i).equals(given.get(i))) {
        return false;
      }
    }
    return true;
  }
}
