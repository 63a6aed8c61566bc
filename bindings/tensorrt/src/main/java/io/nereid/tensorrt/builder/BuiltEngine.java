package io.nereid.tensorrt.builder;

import io.nereid.model.ModelSignature;
import io.nereid.tensorrt.EngineTrial;
import io.nereid.tensorrt.Gpu;
import io.nereid.tensorrt.TensorRtLibrary;
import io.nereid.tensorrt.TensorRtVersion;
import java.time.Duration;
import java.util.Optional;
import org.bytedeco.tensorrt.nvinfer.IHostMemory;

/**
 * The result of a build.
 *
 * @param signature inputs and outputs with all their dimensions, and the largest batch
 * @param profileCount the number of optimisation profiles
 * @param layerCount layers of the engine, after they were fused
 * @param planBytes size of the plan
 * @param contextBytes device memory that one execution needs beside weights, inputs and outputs
 * @param buildTime from the network's definition to the written plan
 * @param latency of an execution at the shapes that the first profile is made for, with all inputs
 *     zero and without copies; the median. Empty if it could not be measured, as without weights
 * @param device the GPU on which it was built, and runs
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
      Duration buildTime) {
    // A plan for other versions brings the code that runs it.
    try (EngineTrial trial = new EngineTrial(plan, options.versionCompatible(), device)) {
      return new BuiltEngine(
          trial.signature(),
          trial.profileCount(),
          trial.layerCount(),
          plan.size(),
          trial.contextBytes(),
          buildTime,
          trial.latency(),
          device,
          library.version());
    }
  }
}
