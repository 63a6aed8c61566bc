package io.nereid.tensorrt;

import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensorrt.EngineDescription.EngineTensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Derives a model's signature from an engine, and checks a configuration against it. */
record EngineSignature(String model, EngineDescription engine) {

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

  private void checkServable() {
    for (EngineTensor tensor : engine.tensors()) {
      if (tensor.type() == null || tensor.type().dataType() == null) {
        Object type = tensor.type() == null ? "unknown to this version" : tensor.type();
        throw invalid(
            ("%s has the type %s, expected one of a byte or more: build the engine with another type"
                    + " for it")
                .formatted(tensor.title(), type));
      }
      if (!tensor.linear()) {
        throw invalid(
            tensor.title()
                + " is not in row-major order: build the engine with linear input and output"
                + " formats");
      }
    }
  }

  /** Throws if the engine cannot serve the configuration. */
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
    FirstDimension.checkBatchSize(spec, engine, engine.profiles(), "the engine's profiles");
  }

  /**
   * Checks that states are on the device, where sequences keep them, and not in the processor's
   * memory.
   */
  private void checkStates(ModelSpec spec) {
    List<String> states =
        spec.sequenceBatching().stream()
            .flatMap(sequences -> sequences.states().stream())
            .flatMap(state -> Stream.of(state.input(), state.output()))
            .toList();
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
          "expected data_type %s for %s%s, got %s"
              .formatted(
                  tensor.type().dataType(), tensor.title(), note(tensor), configured.dataType()));
    }
    if (isScattered(tensor, spec)) {
      return; // only the number of elements matters, which each execution checks
    }
    if (configured.ragged()) {
      checkRagged(tensor);
      return;
    }
    boolean batched = spec.maxBatchSize() > 0;
    if (batched && !mayHaveRows(tensor, spec)) {
      throw invalid(
          "%s has the dims %s%s, so there is no batch: expected max_batch_size: 0"
              .formatted(
                  tensor.title(),
                  tensor.dims(),
                  tensor.hasFreeFirst()
                      ? ", whose first one is not that of the inputs"
                      : " without a free first one"));
    }
    List<Long> dims = new ArrayList<>(configured.reshape().orElse(configured.dims()));
    if (batched) {
      dims.addFirst(-1L);
    }
    if (!fits(tensor.dims(), dims)) {
      throw invalid(
          "expected dims for %s that fit %s, the engine's, got %s%s"
              .formatted(tensor.title(), tensor.dims(), dims, batched ? " with the batch" : ""));
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
          ("%s has allow_ragged_batch, for which the engine must have [-1], the elements of all"
                  + " requests, but it has %s")
              .formatted(tensor.title(), tensor.dims()));
    }
  }

  /**
   * Returns whether the tensor may have rows; if inputs differ in their first dimension, only a run
   * shows the number of rows.
   */
  private boolean mayHaveRows(EngineTensor tensor, ModelSpec spec) {
    boolean differ =
        !spec.batchInputs().isEmpty() || spec.inputs().stream().anyMatch(TensorSpec::ragged);
    return differ ? tensor.hasFreeFirst() : engine.isBatched(tensor);
  }

  private static String note(EngineTensor tensor) {
    return tensor.type() == EngineType.FP8 ? " (FP8, byte for byte)" : "";
  }

  /** True if each dimension that the engine fixes is configured as it is, or left free. */
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
