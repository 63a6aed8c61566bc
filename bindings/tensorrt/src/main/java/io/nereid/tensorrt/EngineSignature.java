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

/** What an engine means for clients, and whether it fits a configuration. */
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
    checkNotRagged(spec);
    boolean batched = spec.maxBatchSize() > 0;
    for (EngineTensor input : engine.inputs()) {
      TensorSpec configured = find(input, spec.inputs()).orElseThrow(() -> missing(input, spec));
      check(input, configured, batched);
    }
    checkKnown("input", spec.inputs(), engine.inputs());
    checkKnown("output", spec.outputs(), engine.outputs());
    for (EngineTensor output : engine.outputs()) {
      find(output, spec.outputs()).ifPresent(configured -> check(output, configured, batched));
    }
    if (batched && spec.maxBatchSize() > engine.maxBatchSize()) {
      throw invalid(
          "expected a max_batch_size of at most "
              + engine.maxBatchSize()
              + ", which is what the engine's profiles allow, got "
              + spec.maxBatchSize());
    }
  }

  private void checkNotRagged(ModelSpec spec) {
    boolean ragged = spec.inputs().stream().anyMatch(TensorSpec::ragged);
    if (ragged || !spec.batchInputs().isEmpty() || !spec.batchOutputs().isEmpty()) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          "model '"
              + model
              + "': engines have a row for each of a batch in all tensors: expected no"
              + " allow_ragged_batch, batch_input or batch_output");
    }
  }

  private void check(EngineTensor tensor, TensorSpec configured, boolean batched) {
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
    if (batched && !engine.isBatched(tensor)) {
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
