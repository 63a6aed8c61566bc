/**
 * Builds TensorRT engines: {@link io.nereid.tensorrt.builder.EngineBuilder} is where to start. It
 * reads an ONNX file, builds for the GPU of this machine, and writes a plan:
 *
 * {@snippet class="io.nereid.tensorrt.FaultSweepGpuTest" region="build"}
 */
package io.nereid.tensorrt.builder;
