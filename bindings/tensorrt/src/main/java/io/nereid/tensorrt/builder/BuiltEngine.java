package io.nereid.tensorrt.builder;

import io.nereid.DataType;
import io.nereid.ModelSignature;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.TensorSpec;
import io.nereid.tensorrt.CudaDevice;
import io.nereid.tensorrt.NativeObjects;
import io.nereid.tensorrt.TensorRtLibrary;
import io.nereid.tensorrt.TensorRtVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.global.nvinfer.OptProfileSelector;
import org.bytedeco.tensorrt.global.nvinfer.TensorIOMode;
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
    CudaDevice device,
    TensorRtVersion version) {

  static BuiltEngine of(
      IHostMemory plan,
      BuildOptions options,
      TensorRtLibrary library,
      CudaDevice device,
      Duration buildTime,
      BuildLog log) {
    IRuntime runtime = EngineBuilder.made(nvinfer.createInferRuntime(log), "a runtime", log);
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
            signature(engine),
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

  private static ModelSignature signature(ICudaEngine engine) {
    List<TensorSpec> inputs = new ArrayList<>();
    List<TensorSpec> outputs = new ArrayList<>();
    long batch = Long.MAX_VALUE;
    for (int i = 0; i < engine.getNbIOTensors(); i++) {
      String name = engine.getIOTensorName(i);
      List<Long> dims = Profiles.list(engine.getTensorShape(name));
      boolean input = engine.getTensorIOMode(name).intern() == TensorIOMode.kINPUT;
      (input ? inputs : outputs).add(new TensorSpec(name, dataType(engine, name), dims, false));
      if (dims.isEmpty() || dims.getFirst() >= 0 || engine.isShapeInferenceIO(name)) {
        batch = 0;
      } else if (input) {
        batch = Math.min(batch, largestFirst(engine, name));
      }
    }
    return new ModelSignature(inputs, outputs, batch == Long.MAX_VALUE ? 0 : batch);
  }

  /** The largest first dimension over all profiles. */
  private static long largestFirst(ICudaEngine engine, String name) {
    long largest = 0;
    for (int profile = 0; profile < engine.getNbOptimizationProfiles(); profile++) {
      largest =
          Math.max(largest, engine.getProfileShape(name, profile, OptProfileSelector.kMAX).d(0));
    }
    return largest;
  }

  private static DataType dataType(ICudaEngine engine, String name) {
    nvinfer.DataType type = engine.getTensorDataType(name).intern();
    return switch (type) {
      case kFLOAT -> DataType.FP32;
      case kHALF -> DataType.FP16;
      case kBF16 -> DataType.BF16;
      case kINT8 -> DataType.INT8;
      case kINT32 -> DataType.INT32;
      case kINT64 -> DataType.INT64;
      case kUINT8, kFP8 -> DataType.UINT8; // FP8 travels as bytes
      case kBOOL -> DataType.BOOL;
      case kINT4 ->
          throw new NereidException(
              StatusCode.UNIMPLEMENTED,
              "tensor '" + name + "' has elements of 4 bits, which cannot be an input or output");
    };
  }
}
