package io.nereid.tensorrt;

import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.TensorSpec;
import io.nereid.tensorrt.EngineDescription.EngineTensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Says what an engine means for clients, and whether it fits a configuration. */
final class EngineSignature {

  private final String model;
  private final EngineDescription engine;

  /** For messages, the model is named. */
  EngineSignature(String model, EngineDescription engine) {
    this.model = model;
    this.engine = engine;
  }

  /** Inputs and outputs for a configuration that leaves them out. */
  ModelSignature signature() {
    checkServable();
    return new ModelSignature(
        engine.inputs().stream().map(EngineSignature::spec).toList(),
        engine.outputs().stream().map(EngineSignature::spec).toList(),
        Math.min(engine.maxBatchSize(), Integer.MAX_VALUE));
  }

  private static TensorSpec spec(EngineTensor tensor) {
    return new TensorSpec(tensor.name(), tensor.type().dataType(), tensor.dims(), false);
  }

  /** Throws when the engine has tensors that no request can carry. */
  private void checkServable() {
    for (EngineTensor tensor : engine.tensors()) {
      if (tensor.type() == null || tensor.type().dataType() == null) {
        throw invalid(
            tensor.title()
                + " has the type "
                + (tensor.type() == null ? "unknown to this version" : tensor.type())
                + ", expected one of a byte or more: build the engine with another type for it");
      }
      if (!tensor.linear()) {
        throw invalid(
            tensor.title()
                + " is not in row-major order: build the engine with linear input and output"
                + " formats");
      }
    }
  }

  /** Throws when the engine cannot serve what the configuration says. */
  void check(ModelSpec spec) {
    checkServable();
    checkStates(spec);
    for (EngineTensor input : engine.inputs()) {
      TensorSpec configured = find(input, spec.inputs()).orElseThrow(() -> missing(input, spec));
      check(input, configured, spec);
    }
    checkKnown("input", spec.inputs(), engine.inputs());
    checkKnown("output", spec.outputs(), engine.outputs());
    for (EngineTensor output : engine.outputs()) {
      find(output, spec.outputs()).ifPresent(configured -> check(output, configured, spec));
    }
    if (spec.maxBatchSize() > 0) {
      checkBatchSize(spec);
    }
  }

  private void checkBatchSize(ModelSpec spec) {
    long most = FirstDimension.maxBatchSize(spec, engine, engine.profiles());
    if (spec.maxBatchSize() > most) {
      throw invalid(
          "expected a max_batch_size of at most "
              + most
              + ", which is what the engine's profiles allow, got "
              + spec.maxBatchSize());
    }
  }

  /** Sequences keep states on the device, and what is in the processor's memory is not. */
  private void checkStates(ModelSpec spec) {
    Set<String> states = new HashSet<>();
    for (SequenceBatching.State state :
        spec.sequenceBatching().map(SequenceBatching::states).orElse(List.of())) {
      states.add(state.input());
      states.add(state.output());
    }
    for (EngineTensor tensor : engine.tensors()) {
      if (tensor.onHost() && states.contains(tensor.name())) {
        throw invalid(
            tensor.title()
                + " is in the processor's memory, as shapes are computed from it: expected a state"
                + " on the device");
      }
    }
  }

  private void check(EngineTensor tensor, TensorSpec configured, ModelSpec spec) {
    if (configured.dataType() != tensor.type().dataType()) {
      throw invalid(
          "expected data_type "
              + tensor.type().dataType()
              + " for "
              + tensor.title()
              + note(tensor)
              + ", got "
              + configured.dataType());
    }
    if (isScattered(tensor, spec)) {
      return; // the number of elements counts, which each execution shows
    }
    if (configured.ragged()) {
      checkRagged(tensor);
      return;
    }
    boolean batched = spec.maxBatchSize() > 0;
    if (batched && !mayHaveRows(tensor, spec)) {
      throw invalid(
          tensor.title()
              + " has the dims "
              + tensor.dims()
              + (tensor.hasFreeFirst()
                  ? ", whose first one is not that of the inputs"
                  : " without a free first one")
              + ", so there is no batch: expected max_batch_size: 0");
    }
    List<Long> dims = new ArrayList<>(configured.reshape().orElse(configured.dims()));
    if (batched) {
      dims.addFirst(-1L);
    }
    if (!fits(tensor.dims(), dims)) {
      throw invalid(
          "expected dims for "
              + tensor.title()
              + " that fit "
              + tensor.dims()
              + ", the engine's, got "
              + dims
              + (batched ? " with the batch" : ""));
    }
  }

  private static boolean isScattered(EngineTensor tensor, ModelSpec spec) {
    return !tensor.input()
        && spec.batchOutputs().stream()
            .anyMatch(output -> output.targets().contains(tensor.name()));
  }

  private void checkRagged(EngineTensor tensor) {
    if (!tensor.dims().equals(List.of(-1L))) {
      throw invalid(
          tensor.title()
              + " has allow_ragged_batch, for which the engine must have [-1], the elements of all"
              + " requests, but it has "
              + tensor.dims());
    }
  }

  /**
   * Returns whether the tensor may have rows; if inputs differ in their first dimension, only a run
   * shows how many rows come out.
   */
  private boolean mayHaveRows(EngineTensor tensor, ModelSpec spec) {
    boolean differ =
        !spec.batchInputs().isEmpty() || spec.inputs().stream().anyMatch(TensorSpec::ragged);
    return differ ? tensor.hasFreeFirst() : engine.isBatched(tensor);
  }

  private static String note(EngineTensor tensor) {
    return tensor.type() == EngineType.FP8 ? " (FP8, byte for byte)" : "";
  }

  /** A dimension that the engine fixes must be written as it is, or left free. */
  private static boolean fits(List<Long> own, List<Long> configured) {
    if (own.size() != configured.size()) {
      return false;
    }
    for (int i = 0; i < own.size(); i++) {
      if (own.get(i) >= 0 && configured.get(i) >= 0 && !own.get(i).equals(configured.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static Optional<TensorSpec> find(EngineTensor tensor, List<TensorSpec> specs) {
    return specs.stream().filter(spec -> spec.name().equals(tensor.name())).findFirst();
  }

  private void checkKnown(String kind, List<TensorSpec> specs, List<EngineTensor> own) {
    List<String> names = own.stream().map(EngineTensor::name).toList();
    for (TensorSpec spec : specs) {
      if (!names.contains(spec.name())) {
        throw invalid("the engine has no " + kind + " '" + spec.name() + "', it has " + names);
      }
      if (spec.optional()) {
        throw invalid(kind + " '" + spec.name() + "' cannot be optional: an engine needs them all");
      }
    }
  }

  private NereidException missing(EngineTensor input, ModelSpec spec) {
    List<String> configured = spec.inputs().stream().map(TensorSpec::name).toList();
    return invalid("expected " + input.title() + " of the engine among the inputs " + configured);
  }

  private NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, "model '" + model + "': " + message);
  }
}
