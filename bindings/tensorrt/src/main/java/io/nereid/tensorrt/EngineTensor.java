package io.nereid.tensorrt;

import java.util.List;

/**
 * An input or output of an engine.
 *
 * @param name its name
 * @param input whether it is an input
 * @param type the type of its elements
 * @param dims its shape; -1: decided when it runs
 * @param onHost whether TensorRT wants it in the processor's memory
 * @param ofShapes whether shapes are computed from its values, or it is computed with them
 * @param linear whether its elements lie in row-major order in every profile
 */
record EngineTensor(
    String name,
    boolean input,
    EngineType type,
    List<Long> dims,
    boolean onHost,
    boolean ofShapes,
    boolean linear) {

  EngineTensor {
    dims = List.copyOf(dims);
  }

  boolean hasFreeFirst() {
    return !dims.isEmpty() && dims.getFirst() < 0;
  }

  String title() {
    return (input ? "input '" : "output '") + name + "'";
  }
}
