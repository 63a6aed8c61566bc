package io.nereid.internal.config;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.nereid.model.ModelSignature;
import io.nereid.model.TensorSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelDynamicBatching;
import io.nereid.proto.ModelSequenceBatching;
import io.nereid.proto.ModelSequenceBatching.ControlInput;
import io.nereid.proto.ModelTensorReshape;
import io.nereid.types.DataType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Fills in fields that a configuration leaves out with values from the model's own file. Tensors
 * that the configuration does describe are checked against the file at the same time.
 */
final class AutoComplete {

  private final ConfigNode root;
  private final ModelConfig config;
  private final ModelSignature signature;
  private final int maxBatchSize;
  private final Set<String> told = new HashSet<>();

  private AutoComplete(ConfigNode root, ModelSignature signature, int defaultMaxBatchSize) {
    this.root = root;
    this.signature = signature;
    config = root.as(ModelConfig.class);
    maxBatchSize = maxBatchSize(defaultMaxBatchSize);
  }

  /**
   * A completed configuration.
   *
   * @param told paths of the values, with all below them, that came from the model
   */
  record Completed(ModelConfig config, Set<String> told) {}

  static Completed complete(ConfigNode root, ModelSignature signature, int defaultMaxBatchSize) {
    return new AutoComplete(root, signature, defaultMaxBatchSize).complete();
  }

  /** Returns the fields that a configuration leaves out and the model may tell. */
  static List<String> missing(ConfigNode root) {
    ModelConfig config = root.as(ModelConfig.class);
    List<String> missing = new ArrayList<>();
    if (config.hasEnsembleScheduling()) {
      return missing; // there is no file that could tell it
    }
    List<ConfigTensor> inputs = ConfigTensor.inputs(root);
    List<ConfigTensor> outputs = ConfigTensor.outputs(root);
    if (inputs.isEmpty()) {
      missing.add("input");
    }
    if (outputs.isEmpty()) {
      missing.add("output");
    }
    Stream.concat(inputs.stream(), outputs.stream())
        .forEach(tensor -> {
          if (tensor.type() == io.nereid.proto.DataType.TYPE_INVALID) {
            missing.add("data_type of " + tensor.shown());
          }
          if (tensor.dims().isEmpty()) {
            missing.add("dims of " + tensor.shown());
          }
        });
    return missing;
  }

  private Completed complete() {
    ModelConfig.Builder completed = config.toBuilder();
    completed.setMaxBatchSize(maxBatchSize);
    List<ConfigTensor> inputs = ConfigTensor.inputs(root);
    for (int i = 0; i < inputs.size(); i++) {
      TensorSpec own = find(inputs.get(i), signature.inputs());
      check(inputs.get(i), own);
      fill(completed.getInputBuilder(i), "input", i, own);
    }
    List<ConfigTensor> outputs = ConfigTensor.outputs(root);
    for (int i = 0; i < outputs.size(); i++) {
      TensorSpec own = find(outputs.get(i), signature.outputs());
      check(outputs.get(i), own);
      fill(completed.getOutputBuilder(i), "output", i, own);
    }
    checkSequences();
    appendTensors(completed);
    if (completed.getMaxBatchSize() > 1
        && told.contains("max_batch_size")
        && completed.getSchedulingChoiceCase()
            == ModelConfig.SchedulingChoiceCase.SCHEDULINGCHOICE_NOT_SET) {
      completed.setDynamicBatching(ModelDynamicBatching.getDefaultInstance());
    }
    return new Completed(completed.build(), told);
  }

  // ---- The batch -------------------------------------------------------------------------------

  /** Returns the written size, or else the most that tensors, model and default allow. */
  private int maxBatchSize(int defaultMaxBatchSize) {
    if (!tellsMaxBatchSize(root)) {
      return config.getMaxBatchSize();
    }
    told.add("max_batch_size");
    boolean batched = servedTensors().allMatch(AutoComplete::hasFreeFirst);
    if (!batched) {
      return 0;
    }
    long most = signature.maxBatchSize();
    return (int) (most > 0 ? Math.min(most, defaultMaxBatchSize) : defaultMaxBatchSize);
  }

  /** True if the model is asked for the size, as the configuration has gaps. */
  static boolean tellsMaxBatchSize(ConfigNode root) {
    ModelConfig config = root.as(ModelConfig.class);
    return !root.isWritten(ModelConfig.MAX_BATCH_SIZE_FIELD_NUMBER)
        && config.getInputList().stream().allMatch(input -> input.getDimsCount() == 0)
        && config.getOutputList().stream().allMatch(output -> output.getDimsCount() == 0);
  }

  private Stream<TensorSpec> servedTensors() {
    Set<String> listed = new HashSet<>();
    config.getInputList().forEach(input -> listed.add(input.getName()));
    Set<String> chosen = new HashSet<>();
    config.getOutputList().forEach(output -> chosen.add(output.getName()));
    return Stream.concat(
        signature.inputs().stream()
            .filter(input -> isServed(input) || listed.contains(input.name())),
        signature.outputs().stream()
            .filter(output -> chosen.isEmpty() || chosen.contains(output.name())));
  }

  /**
   * True if requests send this input though the configuration does not list it. An input with a
   * default can be a weight of the model, which requests send only if listed; if all inputs have
   * defaults, none is a weight.
   */
  private boolean isServed(TensorSpec input) {
    return !input.optional() || signature.inputs().stream().allMatch(TensorSpec::optional);
  }

  // ---- Tensors ---------------------------------------------------------------------------------

  private void appendTensors(ModelConfig.Builder completed) {
    Set<String> listed = new HashSet<>();
    config.getInputList().forEach(input -> listed.add(input.getName()));
    ModelSequenceBatching sequences = config.getSequenceBatching();
    sequences.getControlInputList().forEach(control -> listed.add(control.getName()));
    sequences.getStateList().forEach(state -> listed.add(state.getInputName()));
    listed.addAll(BatchTensorReader.inputTargets(config)); // the core makes these inputs
    for (TensorSpec own : signature.inputs()) {
      if (isServed(own) && !listed.contains(own.name())) {
        int index = completed.getInputCount();
        told.add("input[" + index + "]");
        var input = completed.addInputBuilder().setName(own.name()).setOptional(own.optional());
        fill(input, "input", index, own);
      }
    }
    if (config.getOutputCount() > 0) {
      return; // the configuration chooses among the outputs
    }
    Set<String> states = new HashSet<>();
    sequences.getStateList().forEach(state -> states.add(state.getOutputName()));
    for (TensorSpec own : signature.outputs()) {
      if (states.contains(own.name())) {
        continue; // clients get it by an output of their own
      }
      int index = completed.getOutputCount();
      told.add("output[" + index + "]");
      fill(completed.addOutputBuilder().setName(own.name()), "output", index, own);
    }
  }

  /** Inputs and outputs are messages of different types, whose fields have the same names. */
  private void fill(Message.Builder tensor, String kind, int index, TensorSpec own) {
    Descriptor type = tensor.getDescriptorForType();
    String path = kind + "[" + index + "]";
    FieldDescriptor dataType = type.findFieldByName("data_type");
    if (!tensor.hasField(dataType)) {
      tensor.setField(dataType, ConfigTensor.configured(own.dataType()).getValueDescriptor());
      told.add(path + ".data_type");
    }
    FieldDescriptor dims = type.findFieldByName("dims");
    if (tensor.getRepeatedFieldCount(dims) == 0) {
      List<Long> row = row(kind, own);
      told.add(path + ".dims");
      tensor.setField(dims, row.isEmpty() ? List.of(1L) : row);
      FieldDescriptor reshape = type.findFieldByName("reshape");
      // A configuration must have dims, so a scalar of the model is written as one element.
      if (row.isEmpty() && !tensor.hasField(reshape)) {
        told.add(path + ".reshape");
        tensor.setField(reshape, ModelTensorReshape.getDefaultInstance());
      }
    }
  }

  // ---- What is configured must be what the model has -------------------------------------------

  /** Checks that the model takes the tensors that the core makes for sequences. */
  private void checkSequences() {
    ConfigNode sequences = root.child(ModelConfig.SEQUENCE_BATCHING_FIELD_NUMBER);
    for (ConfigNode node : sequences.children(ModelSequenceBatching.CONTROL_INPUT_FIELD_NUMBER)) {
      checkControl(node);
    }
    for (ConfigNode node : sequences.children(ModelSequenceBatching.STATE_FIELD_NUMBER)) {
      ConfigTensor input = ConfigTensor.stateInput(node);
      check(input, find(input, signature.inputs()));
      ConfigTensor output = ConfigTensor.stateOutput(node);
      check(output, find(output, signature.outputs()));
    }
  }

  /** Checks that a control has one element a row, of its values' type. */
  private void checkControl(ConfigNode node) {
    ControlInput control = node.as(ControlInput.class);
    String what = "control_input '" + control.getName() + "'";
    TensorSpec own =
        signature.inputs().stream()
            .filter(input -> input.name().equals(control.getName()))
            .findFirst()
            .orElseThrow(() ->
                node.invalid(
                    ControlInput.NAME_FIELD_NUMBER,
                    what
                        + " is configured, but the model has no such input: it has "
                        + signature.inputs().stream().map(one -> "'" + one.name() + "'").toList()));
    Optional<DataType> type = ControlReader.type(control);
    if (type.isPresent() && type.get() != own.dataType()) {
      throw node.invalid(
          ControlInput.CONTROL_FIELD_NUMBER,
          what + " is configured as " + type.get() + ", but the model has " + own.dataType());
    }
    List<Long> one = maxBatchSize > 0 ? List.of((long) maxBatchSize, 1L) : List.of(1L);
    if (!own.dims().isEmpty() && !ConfigTensor.fit(one, own.dims())) {
      throw node.invalid(
          what + " is one element a row, but the model has " + ConfigTensor.text(own.dims()));
    }
  }

  /** The model's own tensor of the same name. */
  private static TensorSpec find(ConfigTensor tensor, List<TensorSpec> own) {
    return own.stream()
        .filter(one -> one.name().equals(tensor.name()))
        .findFirst()
        .orElseThrow(() ->
            tensor
                .node()
                .invalid(
                    tensor.shown()
                        + " is configured, but the model has no such "
                        + tensor.kind()
                        + ": it has "
                        + own.stream().map(one -> "'" + one.name() + "'").toList()));
  }

  /** Throws if a tensor's configuration contradicts the model. */
  private void check(ConfigTensor tensor, TensorSpec own) {
    ConfigTensor.type(tensor.type())
        .filter(configured -> configured != own.dataType())
        .ifPresent(configured -> {
          throw tensor.invalid(
              "data_type",
              tensor.shown()
                  + " is configured as "
                  + tensor.type()
                  + ", but the model has "
                  + own.dataType()
                  + ": set data_type: "
                  + ConfigTensor.configured(own.dataType()));
        });
    checkDims(tensor, own);
  }

  private void checkDims(ConfigTensor tensor, TensorSpec own) {
    List<Long> dims = tensor.dims();
    List<Long> seen = tensor.seen();
    if (tensor.ragged()) {
      checkRagged(tensor, own);
      return;
    }
    if (isScattered(tensor)) {
      return; // only the number of elements matters, which each run checks
    }
    // A file without a shape looks like a scalar; each run checks the configured shape.
    if (dims.isEmpty() || own.dims().isEmpty()) {
      return;
    }
    List<Long> row = own.dims().subList(maxBatchSize > 0 ? 1 : 0, own.dims().size());
    if (ConfigTensor.fit(seen, row) && (maxBatchSize == 0 || batchFits(own))) {
      return;
    }
    throw tensor.invalid(
        "dims",
        tensor.shown()
            + " is configured with dims "
            + ConfigTensor.text(dims)
            + (seen.equals(dims) ? "" : " and reshape " + ConfigTensor.text(seen))
            + batch()
            + ", but the model has "
            + ConfigTensor.text(own.dims())
            + ": "
            + advice(seen, own));
  }

  /** Checks a ragged input, which has the elements of all requests without their shapes. */
  private static void checkRagged(ConfigTensor tensor, TensorSpec own) {
    if (tensor.dims().isEmpty()) {
      throw tensor
          .node()
          .invalid(
              tensor.shown()
                  + " has allow_ragged_batch but no dims, which the model cannot tell: add those"
                  + " that requests have");
    }
    if (!own.dims().isEmpty() && !own.dims().equals(List.of(-1L))) {
      throw tensor.invalid(
          "allow_ragged_batch",
          tensor.shown()
              + " is configured with allow_ragged_batch, for which the model must have "
              + ConfigTensor.text(List.of(-1L))
              + ", but it has "
              + ConfigTensor.text(own.dims()));
    }
  }

  private boolean isScattered(ConfigTensor tensor) {
    return tensor.kind().equals("output")
        && config.getBatchOutputList().stream()
            .anyMatch(output -> output.getTargetNameList().contains(tensor.name()));
  }

  private static boolean hasFreeFirst(TensorSpec own) {
    return !own.dims().isEmpty() && own.dims().getFirst() < 0;
  }

  private String batch() {
    return maxBatchSize > 0
        ? " after the batch dimension (max_batch_size is " + maxBatchSize + ")"
        : " and no batch dimension (max_batch_size is 0)";
  }

  /** True if the first dimension is free, or is 1 and no batch is larger. */
  private boolean batchFits(TensorSpec own) {
    return hasFreeFirst(own)
        || (!own.dims().isEmpty() && own.dims().getFirst() == 1 && maxBatchSize == 1);
  }

  private String advice(List<Long> seen, TensorSpec own) {
    String all = "dims: " + ConfigTensor.text(own.dims());
    if (maxBatchSize > 0) {
      return batchFits(own)
          ? "set dims: "
              + ConfigTensor.text(own.dims().subList(1, own.dims().size()))
              + ", which leave out the batch dimension"
          : noBatch(all);
    }
    boolean batchLeftOut =
        hasFreeFirst(own) && ConfigTensor.fit(seen, own.dims().subList(1, own.dims().size()));
    return "set "
        + all
        + (batchLeftOut
            ? ", or max_batch_size to 1 or more if the first dimension is the batch"
            : "");
  }

  private static String noBatch(String all) {
    return "the model has no free first dimension for the batch: set max_batch_size: 0 and "
        + all
        + ", or export the model with a dynamic first dimension";
  }

  /** The model's own dims as a configuration has them: without the batch dimension. */
  private List<Long> row(String kind, TensorSpec own) {
    if (maxBatchSize == 0) {
      return own.dims();
    }
    if (!batchFits(own)) {
      throw root.invalid(
          kind
              + " '"
              + own.name()
              + "' has no dims in the configuration, and the model's are "
              + ConfigTensor.text(own.dims())
              + ", while max_batch_size is "
              + maxBatchSize
              + ": "
              + noBatch("dims: " + ConfigTensor.text(own.dims())));
    }
    return own.dims().subList(1, own.dims().size());
  }
}
