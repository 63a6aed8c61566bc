package io.nereid.internal.config;

import io.nereid.model.ModelSignature;
import io.nereid.model.TensorSpec;
import io.nereid.proto.ModelConfig;
import io.nereid.proto.ModelDynamicBatching;
import io.nereid.proto.ModelInput;
import io.nereid.proto.ModelOutput;
import io.nereid.proto.ModelTensorReshape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
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
    if (config.getInputCount() == 0) {
      missing.add("input");
    }
    if (config.getOutputCount() == 0) {
      missing.add("output");
    }
    for (ModelInput input : config.getInputList()) {
      String what = "input '" + input.getName() + "'";
      addMissing(missing, what, input.getDataTypeValue(), input.getDimsCount());
    }
    for (ModelOutput output : config.getOutputList()) {
      String what = "output '" + output.getName() + "'";
      addMissing(missing, what, output.getDataTypeValue(), output.getDimsCount());
    }
    return missing;
  }

  private static void addMissing(List<String> missing, String what, int type, int dimCount) {
    if (type == 0) {
      missing.add("data_type of " + what);
    }
    if (dimCount == 0) {
      missing.add("dims of " + what);
    }
  }

  private Completed complete() {
    ModelConfig.Builder completed = config.toBuilder();
    int maxBatchSize = maxBatchSize();
    completed.setMaxBatchSize(maxBatchSize);
    SignatureCheck check = new SignatureCheck(root, maxBatchSize);
    for (int i = 0; i < config.getInputCount(); i++) {
      ConfigNode node = child(ModelConfig.INPUT_FIELD_NUMBER, i);
      TensorSpec own = check.find(node, "input", config.getInput(i).getName(), signature.inputs());
      check.input(node, own);
      fill(completed.getInputBuilder(i), "input[" + i + "]", own, check);
    }
    for (int i = 0; i < config.getOutputCount(); i++) {
      ConfigNode node = child(ModelConfig.OUTPUT_FIELD_NUMBER, i);
      TensorSpec own =
          check.find(node, "output", config.getOutput(i).getName(), signature.outputs());
      check.output(node, own);
      fill(completed.getOutputBuilder(i), "output[" + i + "]", own, check);
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

  private ConfigNode child(int number, int index) {
    return root.child(ModelConfig.getDescriptor().findFieldByNumber(number), index);
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
        String path = "input[" + completed.getInputCount() + "]";
        told.add(path);
        ModelInput.Builder input = ModelInput.newBuilder().setName(own.name());
        fill(input, path, own, check);
        completed.addInput(input);
      }
    }
    if (config.getOutputCount() > 0) {
      return; // a choice among them
    }
    for (TensorSpec own : signature.outputs()) {
      String path = "output[" + completed.getOutputCount() + "]";
      told.add(path);
      ModelOutput.Builder output = ModelOutput.newBuilder().setName(own.name());
      fill(output, path, own, check);
      completed.addOutput(output);
    }
  }

  private void fill(ModelInput.Builder input, String path, TensorSpec own, SignatureCheck check) {
    if (input.getDataTypeValue() == 0) {
      input.setDataType(TensorWords.configured(own.dataType()));
      told.add(path + ".data_type");
    }
    if (input.getDimsCount() == 0) {
      List<Long> row = check.row("input", own);
      told.add(path + ".dims");
      input.addAllDims(row.isEmpty() ? List.of(1L) : row);
      scalar(row, input.hasReshape(), path).ifPresent(input::setReshape);
    }
  }

  private void fill(ModelOutput.Builder output, String path, TensorSpec own, SignatureCheck check) {
    if (output.getDataTypeValue() == 0) {
      output.setDataType(TensorWords.configured(own.dataType()));
      told.add(path + ".data_type");
    }
    if (output.getDimsCount() == 0) {
      List<Long> row = check.row("output", own);
      told.add(path + ".dims");
      output.addAllDims(row.isEmpty() ? List.of(1L) : row);
      scalar(row, output.hasReshape(), path).ifPresent(output::setReshape);
    }
  }

  /** Requests must have dims, so that a scalar of the model is one element of theirs. */
  private Optional<ModelTensorReshape> scalar(List<Long> row, boolean reshaped, String path) {
    if (!row.isEmpty() || reshaped) {
      return Optional.empty();
    }
    told.add(path + ".reshape");
    return Optional.of(ModelTensorReshape.getDefaultInstance());
  }
}
