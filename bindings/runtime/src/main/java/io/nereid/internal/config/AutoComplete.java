package io.nereid.internal.config;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.nereid.model.ModelSignature;
import io.nereid.model.TensorSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelDynamicBatching;
import io.nereid.proto.ModelTensorReshape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Fills in what a configuration leaves out and the model's own file tells. */
final class AutoComplete {

  private final ConfigNode root;
  private final ModelConfig config;
  private final ModelSignature signature;
  private final int defaultMaxBatchSize;
  private final Set<String> told = new HashSet<>();

  private AutoComplete(ConfigNode root, ModelSignature signature, int defaultMaxBatchSize) {
    this.root = root;
    this.signature = signature;
    this.defaultMaxBatchSize = defaultMaxBatchSize;
    config = root.as(ModelConfig.class);
  }

  /**
   * A configuration with what was added.
   *
   * @param told paths of what the model told, with everything below them
   */
  record Completed(ModelConfig config, Set<String> told) {}

  static Completed complete(ConfigNode root, ModelSignature signature, int defaultMaxBatchSize) {
    return new AutoComplete(root, signature, defaultMaxBatchSize).complete();
  }

  /** What a configuration leaves out that the model may tell; empty when that is nothing. */
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
    int maxBatchSize = maxBatchSize();
    completed.setMaxBatchSize(maxBatchSize);
    SignatureCheck check = new SignatureCheck(root, maxBatchSize);
    List<ConfigTensor> inputs = ConfigTensor.inputs(root);
    for (int i = 0; i < inputs.size(); i++) {
      TensorSpec own = SignatureCheck.find(inputs.get(i), signature.inputs());
      check.check(inputs.get(i), own);
      fill(completed.getInputBuilder(i), "input", i, own, check);
    }
    List<ConfigTensor> outputs = ConfigTensor.outputs(root);
    for (int i = 0; i < outputs.size(); i++) {
      TensorSpec own = SignatureCheck.find(outputs.get(i), signature.outputs());
      check.check(outputs.get(i), own);
      fill(completed.getOutputBuilder(i), "output", i, own, check);
    }
    appendTensors(completed, check);
    if (completed.getMaxBatchSize() > 1
        && told.contains("max_batch_size")
        && completed.getSchedulingChoiceCase()
            == ModelConfig.SchedulingChoiceCase.SCHEDULINGCHOICE_NOT_SET) {
      completed.setDynamicBatching(ModelDynamicBatching.getDefaultInstance());
    }
    return new Completed(completed.build(), told);
  }

  // ---- The batch -------------------------------------------------------------------------------

  /** What is written stays, and dims that are written are meant with or without a batch. */
  private int maxBatchSize() {
    if (!tellsMaxBatchSize(root)) {
      return config.getMaxBatchSize();
    }
    told.add("max_batch_size");
    boolean batched = servedTensors().allMatch(SignatureCheck::hasFreeFirst);
    if (!batched) {
      return 0;
    }
    long most = signature.maxBatchSize();
    return (int) (most > 0 ? Math.min(most, defaultMaxBatchSize) : defaultMaxBatchSize);
  }

  /** Whether the model tells it, of a configuration that has gaps. */
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
            .filter(input -> !input.optional() || listed.contains(input.name())),
        signature.outputs().stream()
            .filter(output -> chosen.isEmpty() || chosen.contains(output.name())));
  }

  // ---- Tensors ---------------------------------------------------------------------------------

  private void appendTensors(ModelConfig.Builder completed, SignatureCheck check) {
    Set<String> listed = new HashSet<>();
    config.getInputList().forEach(input -> listed.add(input.getName()));
    for (TensorSpec own : signature.inputs()) {
      // An input with a default can be a weight of the model: only who lists it wants to send it.
      if (!own.optional() && !listed.contains(own.name())) {
        int index = completed.getInputCount();
        told.add("input[" + index + "]");
        fill(completed.addInputBuilder().setName(own.name()), "input", index, own, check);
      }
    }
    if (config.getOutputCount() > 0) {
      return; // a choice among them
    }
    for (TensorSpec own : signature.outputs()) {
      int index = completed.getOutputCount();
      told.add("output[" + index + "]");
      fill(completed.addOutputBuilder().setName(own.name()), "output", index, own, check);
    }
  }

  /** Inputs and outputs are messages of different types, whose fields have the same names. */
  private void fill(
      Message.Builder tensor, String kind, int index, TensorSpec own, SignatureCheck check) {
    Descriptor type = tensor.getDescriptorForType();
    String path = kind + "[" + index + "]";
    FieldDescriptor dataType = type.findFieldByName("data_type");
    if (!tensor.hasField(dataType)) {
      tensor.setField(dataType, ConfigTensor.configured(own.dataType()).getValueDescriptor());
      told.add(path + ".data_type");
    }
    FieldDescriptor dims = type.findFieldByName("dims");
    if (tensor.getRepeatedFieldCount(dims) == 0) {
      List<Long> row = check.row(kind, own);
      told.add(path + ".dims");
      tensor.setField(dims, row.isEmpty() ? List.of(1L) : row);
      FieldDescriptor reshape = type.findFieldByName("reshape");
      // Requests must have dims, so that a scalar of the model is one element of theirs.
      if (row.isEmpty() && !tensor.hasField(reshape)) {
        told.add(path + ".reshape");
        tensor.setField(reshape, ModelTensorReshape.getDefaultInstance());
      }
    }
  }
}
