package io.nereid.tensorrt;

import io.nereid.tensorrt.EngineDescription.EngineTensor;
import java.util.ArrayList;
import java.util.List;

/** All inputs and outputs of an engine in the engine's order, with one instance's memory. */
final class Bindings implements AutoCloseable {

  private final List<Binding> inputs = new ArrayList<>();
  private final List<Binding> outputs = new ArrayList<>();
  private final boolean hasShapeInputs;
  private long version;
  private boolean dataDependent;

  /**
   * Makes bindings without memory.
   *
   * @param inputNames names in the order of the model's specification
   * @param outputNames likewise
   */
  Bindings(
      EngineDescription engine,
      List<String> inputNames,
      List<String> outputNames,
      DevicePool memory) {
    for (EngineTensor tensor : engine.inputs()) {
      inputs.add(new Binding(tensor, inputNames.indexOf(tensor.name()), memory));
    }
    for (EngineTensor tensor : engine.outputs()) {
      outputs.add(new Binding(tensor, outputNames.indexOf(tensor.name()), memory));
    }
    hasShapeInputs = engine.inputs().stream().anyMatch(EngineTensor::ofShapes);
  }

  List<Binding> inputs() {
    return inputs;
  }

  List<Binding> outputs() {
    return outputs;
  }

  /** True if shapes are computed from the values of an input. */
  boolean hasShapeInputs() {
    return hasShapeInputs;
  }

  /** True if the size of an output depends on the data; known once shapes are set. */
  boolean isDataDependent() {
    return dataDependent;
  }

  /**
   * A number that changes whenever memory moves: then contexts need the new addresses, and graphs
   * are invalid.
   */
  long version() {
    return version;
  }

  void ensure(Binding binding, long byteSize) {
    long before = binding.address();
    try {
      binding.ensure(byteSize);
    } finally {
      if (binding.address() != before) {
        version++;
      }
    }
  }

  void allocateWhileRunning(Binding output) {
    if (output.allocator() == null) {
      output.allocateWhileRunning();
      dataDependent = true;
      version++;
    }
  }

  long deviceBytes() {
    long bytes = 0;
    for (Binding binding : inputs) {
      bytes += binding.deviceBytes();
    }
    for (Binding binding : outputs) {
      bytes += binding.deviceBytes();
    }
    return bytes;
  }

  @Override
  public void close() {
    inputs.forEach(Binding::close);
    outputs.forEach(Binding::close);
  }
}
