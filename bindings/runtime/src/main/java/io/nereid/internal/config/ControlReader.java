package io.nereid.internal.config;

import io.nereid.model.SequenceBatching.Control;
import io.nereid.model.SequenceBatching.Kind;
import io.nereid.proto.ModelSequenceBatching;
import io.nereid.proto.ModelSequenceBatching.ControlInput;
import io.nereid.types.DataType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Reads {@code sequence_batching.control_input}: the inputs that tell a model about the rows of a
 * batch.
 */
final class ControlReader {

  /** Types of the control that names the sequence. */
  private static final Set<DataType> ID_TYPES =
      EnumSet.of(DataType.UINT64, DataType.INT64, DataType.UINT32, DataType.INT32, DataType.BYTES);

  private final ConfigNode sequences;
  private final String model;
  private final Set<String> inputs;

  /**
   * A reader for one model.
   *
   * @param sequences its {@code sequence_batching}
   * @param inputs names in use, to which the controls' are added
   */
  ControlReader(ConfigNode sequences, String model, Set<String> inputs) {
    this.sequences = sequences;
    this.model = model;
    this.inputs = inputs;
  }

  List<Control> read() {
    List<Control> controls = new ArrayList<>();
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    for (ConfigNode input : sequences.children(ModelSequenceBatching.CONTROL_INPUT_FIELD_NUMBER)) {
      Control control = control(input);
      if (!kinds.add(control.kind())) {
        throw input.invalid(
            "sequence batching specifies multiple CONTROL_SEQUENCE_%s tensors for %s"
                .formatted(control.kind(), model));
      }
      controls.add(control);
    }
    return controls;
  }

  private Control control(ConfigNode input) {
    ControlInput tensor = input.as(ControlInput.class);
    String name = tensor.getName();
    if (name.isEmpty()) {
      throw input.invalid("sequence batching control tensor must have a name for " + model);
    }
    if (tensor.getControlCount() != 1) {
      throw input.invalid(
          ControlInput.CONTROL_FIELD_NUMBER,
          tensor.getControlCount() > 1
              ? twice(name)
              : "expected one control of control_input '" + name + "', got none");
    }
    if (!inputs.add(name)) {
      throw input.invalid(ControlInput.NAME_FIELD_NUMBER, twice(name));
    }
    ConfigNode only = input.children(ControlInput.CONTROL_FIELD_NUMBER).getFirst();
    ModelSequenceBatching.Control control = only.as(ModelSequenceBatching.Control.class);
    return switch (control.getKind()) {
      case CONTROL_SEQUENCE_START -> answer(only, name, Kind.START);
      case CONTROL_SEQUENCE_END -> answer(only, name, Kind.END);
      case CONTROL_SEQUENCE_READY -> answer(only, name, Kind.READY);
      case CONTROL_SEQUENCE_CORRID -> id(only, name);
      case UNRECOGNIZED ->
          throw only.invalid(
              ModelSequenceBatching.Control.KIND_FIELD_NUMBER,
              "expected the kind of a control, got " + control.getKindValue());
    };
  }

  /** The type of a control's elements; empty if it is not configured properly. */
  static Optional<DataType> type(ControlInput input) {
    for (ModelSequenceBatching.Control control : input.getControlList()) {
      if (control.getInt32FalseTrueCount() > 0) {
        return Optional.of(DataType.INT32);
      } else if (control.getFp32FalseTrueCount() > 0) {
        return Optional.of(DataType.FP32);
      } else if (control.getBoolFalseTrueCount() > 0) {
        return Optional.of(DataType.BOOL);
      }
      return ConfigTensor.type(control.getDataType());
    }
    return Optional.empty();
  }

  /** Returns the text about a name that another control has, or an input. */
  private String twice(String name) {
    return ("sequence batching control tensor '%s' is specified for multiple control kinds for "
            + "%s, or is an input as well")
        .formatted(name, model);
  }

  /** Reads a control whose values mean no and yes. */
  private Control answer(ConfigNode node, String name, Kind kind) {
    ModelSequenceBatching.Control control = node.as(ModelSequenceBatching.Control.class);
    int ints = control.getInt32FalseTrueCount();
    int floats = control.getFp32FalseTrueCount();
    int bools = control.getBoolFalseTrueCount();
    int given = (ints > 0 ? 1 : 0) + (floats > 0 ? 1 : 0) + (bools > 0 ? 1 : 0);
    String of = "CONTROL_SEQUENCE_" + kind + " for " + model;
    if (given != 1) {
      throw node.invalid(
          given == 0
              ? "sequence batching must specify either 'int32_false_true', 'fp32_false_true' or"
                  + " 'bool_false_true' for "
                  + of
              : "sequence batching specifies more than one from 'int32_false_true',"
                  + " 'fp32_false_true' and 'bool_false_true' for "
                  + of);
    }
    if (ints + floats + bools != 2) {
      throw node.invalid(
          "sequence batching control '%s_false_true' must have exactly 2 entries for %s"
              .formatted(ints > 0 ? "int32" : floats > 0 ? "fp32" : "bool", of));
    }
    if (ints > 0) {
      return new Control(
          name, kind, DataType.INT32, control.getInt32FalseTrue(0), control.getInt32FalseTrue(1));
    }
    if (floats > 0) {
      return new Control(
          name, kind, DataType.FP32, control.getFp32FalseTrue(0), control.getFp32FalseTrue(1));
    }
    return new Control(
        name,
        kind,
        DataType.BOOL,
        control.getBoolFalseTrue(0) ? 1 : 0,
        control.getBoolFalseTrue(1) ? 1 : 0);
  }

  /** The control that names the sequence. */
  private Control id(ConfigNode node, String name) {
    ModelSequenceBatching.Control control = node.as(ModelSequenceBatching.Control.class);
    String of = "CONTROL_SEQUENCE_CORRID for " + model;
    if (control.getInt32FalseTrueCount()
            + control.getFp32FalseTrueCount()
            + control.getBoolFalseTrueCount()
        > 0) {
      throw node.invalid(
          "sequence batching must not specify either 'int32_false_true', 'fp32_false_true' or"
              + " 'bool_false_true' for "
              + of);
    }
    DataType type = ConfigTensor.type(control.getDataType()).orElse(null);
    if (type == null || !ID_TYPES.contains(type)) {
      throw node.invalid(
          ModelSequenceBatching.Control.DATA_TYPE_FIELD_NUMBER,
          "unexpected data type for control "
              + of
              + ". Allowed data types are TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 and"
              + " TYPE_STRING");
    }
    return new Control(name, Kind.CORRID, type, 0, 0);
  }
}
