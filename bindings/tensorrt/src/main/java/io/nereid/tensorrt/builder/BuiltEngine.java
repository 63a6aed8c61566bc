package io.nereid.tensorrt.builder;

import io.nereid.model.ModelSignature;
import io.nereid.tensorrt.Gpu;
import io.nereid.tensorrt.NativeObjects;
import io.nereid.tensorrt.PlanSignature;
import io.nereid.tensorrt.TensorRtLibrary;
import io.nereid.tensorrt.TensorRtVersion;
import java.time.Duration;
import java.util.Optional;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.IHostMemory;
import org.bytedeco.tensorrt.nvinfer.IRuntime;

/**
 * What was built.
 *
 * @param signature inputs and outputs with all their dimensions, and the largest batch
 * @param profileCount how many optimisation profiles there are
 * @param layerCount layers of the engine, after they were fused
 * @param planBytes size of the plan
 * @param contextBytes device memory that one execution needs beside weights, inputs and outputs
 * @param buildTime from the network's definition to the written plan
 * @param latency of an execution at the shapes that the first profile is made for, with all inputs
 *     zero and without copies; the median. Empty where it could not be measured, as with outputs in
 *     the processor's memory
 * @param device where it was built, and runs
 * @param version the TensorRT that built it, and loads it
 */
public record BuiltEngine(
    ModelSignature signature,
    int profileCount,
    int layerCount,
    long planBytes,
    long contextBytes,
    Duration buildTime,
    Optional<Duration> latency,
    Gpu device,
    TensorRtVersion version) {

  static BuiltEngine of(
      IHostMemory plan,
      BuildOptions options,
      TensorRtLibrary library,
      Gpu device,
      Duration buildTime,
      BuildLog log) {
    IRuntime runtime =
        EngineBuilder.made(nvinfer.createInferRuntime(log.logger()), "a runtime", log);
    try {
      // A plan for other versions brings the code that runs it.
      runtime.setEngineHostCodeAllowed(options.versionCompatible());
      ICudaEngine engine =
          EngineBuilder.made(
              runtime.deserializeCudaEngine(plan.data(), plan.size()),
              "an engine of the plan that it has just built",
              log);
      try {
        return new BuiltEngine(
            PlanSignature.of(name(engine), engine),
            engine.getNbOptimizationProfiles(),
            engine.getNbLayers(),
            plan.size(),
            engine.getDeviceMemorySizeV2(),
            buildTime,
            EngineTimer.latency(engine, log),
            device,
            library.version());
      } finally {
        NativeObjects.delete(engine);
      }
    } finally {
      NativeObjects.delete(runtime);
    }
  }

  private static String name(ICudaEngine engine) {
    String name = engine.getName();
    return name == null ? "" : name;
  }
}
