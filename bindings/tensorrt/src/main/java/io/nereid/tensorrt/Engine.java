package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.global.nvinfer.ExecutionContextAllocationStrategy;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.IExecutionContext;
import org.bytedeco.tensorrt.nvinfer.IRuntime;

/** A plan that was loaded onto a device. Its contexts must be deleted before it is closed. */
final class Engine implements AutoCloseable {

  private final Gpu device;
  private final IRuntime runtime;
  private final ICudaEngine engine;
  private final EngineDescription description;
  private final long planBytes;

  private Engine(Gpu device, IRuntime runtime, ICudaEngine engine, long planBytes) {
    this.device = device;
    this.runtime = runtime;
    this.engine = engine;
    this.planBytes = planBytes;
    description = EngineReader.read(engine, this::newContext);
  }

  /** Loads a model's plan onto a device. */
  static Engine load(String model, TensorRtOptions options, Gpu device) {
    TensorRtLibrary library = TensorRtLibrary.load();
    PlanFailure failure = new PlanFailure(model, options.plan(), library.version(), device);
    try (PlanFile file = new PlanFile(options.plan())) {
      MemorySegment bytes = file.bytes();
      Optional<TensorRtVersion> builtBy = file.check(model, options.versionCompatible());
      if (!options.versionCompatible()
          && builtBy.isPresent()
          && !builtBy.get().equals(library.version())) {
        throw failure.otherVersion(builtBy.get());
      }
      CudaRuntime.check(cudart.cudaSetDevice(device.number()), "cudaSetDevice");
      return load(model, library, options, device, bytes, builtBy, failure);
    }
  }

  /** TensorRT's own plugins, where they are installed: most plans do without. */
  private static void loadPlugins(TensorRtLibrary library) {
    try {
      library.registerPlugins();
    } catch (RuntimeException e) {
      TensorRtLog.LOGGER.log(
          Level.DEBUG, "TensorRT''s own plugins cannot be used: {0}", e.getMessage());
    }
  }

  private static Engine load(
      String model,
      TensorRtLibrary library,
      TensorRtOptions options,
      Gpu device,
      MemorySegment bytes,
      Optional<TensorRtVersion> builtBy,
      PlanFailure failure) {
    List<String> log = new ArrayList<>();
    IRuntime runtime =
        TensorRtLog.errorsOf(log, () -> nvinfer.createInferRuntime(TensorRtLog.instance()));
    // If CUDA does not work, TensorRT returns an object that is not null and that ends the process
    // when it is used: only the log says that the call failed.
    if (runtime == null || runtime.isNull() || !log.isEmpty()) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "TensorRT cannot start on GPU " + device.number() + ": " + String.join("; ", log));
    }
    ICudaEngine engine = null;
    try {
      // Not before: where CUDA does not work they end the process.
      loadPlugins(library);
      Plugins.load(options.plugins(), TensorRtOptions.PLUGINS_NAMED_BY);
      if (options.versionCompatible()) {
        runtime.setEngineHostCodeAllowed(true);
      }
      engine =
          made(
              device,
              log,
              () -> runtime.deserializeCudaEngine(NativePointer.of(bytes), bytes.byteSize()));
      if (engine == null || engine.isNull()) {
        throw failure.unreadable(builtBy, log);
      }
      Refit.apply(model, options, engine, log);
      stream(engine, options, device, log);
      Engine loaded = new Engine(device, runtime, engine, weightBytes(options, bytes.byteSize()));
      engine = null;
      return loaded;
    } catch (RuntimeException | Error e) {
      NativeObjects.delete(engine);
      NativeObjects.delete(runtime);
      throw e;
    }
  }

  /** The size of the plan's file, or of that with its weights where those are elsewhere. */
  private static long weightBytes(TensorRtOptions options, long planBytes) {
    return Math.max(
        planBytes, options.weights().map(one -> one.file().toFile().length()).orElse(0L));
  }

  /**
   * Has TensorRT make an object, which takes memory of the device by itself. If memory is what was
   * missing, the pool frees what it keeps for later models, and TensorRT tries once more.
   */
  private static <T extends Pointer> T made(Gpu device, List<String> log, Supplier<T> making) {
    T made = TensorRtLog.errorsOf(log, making);
    DevicePool memory = DevicePool.of(device);
    boolean failed = made == null || made.isNull();
    if (failed && PlanFailure.isOutOfMemory(String.join("; ", log)) && memory.idleBytes() > 0) {
      memory.trim();
      log.clear();
      return TensorRtLog.errorsOf(log, making);
    }
    return made;
  }

  /** Only possible while the engine has no contexts. */
  private static void stream(
      ICudaEngine engine, TensorRtOptions options, Gpu device, List<String> log) {
    if (!options.weightStreaming()) {
      return;
    }
    long streamable = engine.getStreamableWeightsSize();
    if (streamable == 0) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "parameter 'weight_streaming_bytes' is set, but "
              + options.plan()
              + " was not built with weight streaming");
    }
    DevicePool.of(device).trim(); // TensorRT decides by what is free
    long budget =
        options.weightBudgetBytes() < 0
            ? engine.getWeightStreamingAutomaticBudget()
            : Math.min(options.weightBudgetBytes(), streamable);
    if (!TensorRtLog.errorsOf(log, () -> engine.setWeightStreamingBudgetV2(budget))) {
      throw new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          "TensorRT refused "
              + budget
              + " of "
              + streamable
              + " bytes as the memory for streamed weights: "
              + String.join("; ", log));
    }
  }

  Gpu device() {
    return device;
  }

  EngineDescription description() {
    return description;
  }

  /** The size of its file, as the measure of its weights: TensorRT does not tell theirs. */
  long planBytes() {
    return planBytes;
  }

  /** Memory that contexts of the profile need while they execute. */
  long activationBytes(int profile) {
    return engine.getDeviceMemorySizeForProfileV2(profile);
  }

  /** True if weights come from the processor's memory while it executes. */
  boolean streamsWeights() {
    return description.streamableWeightBytes() > 0
        && engine.getWeightStreamingBudgetV2() < description.streamableWeightBytes();
  }

  /** A context without memory for activations; who asked deletes it. */
  synchronized IExecutionContext newContext() {
    List<String> log = new ArrayList<>();
    IExecutionContext context =
        made(
            device,
            log,
            () -> engine.createExecutionContext(ExecutionContextAllocationStrategy.kUSER_MANAGED));
    if (context == null || context.isNull()) {
      String all = String.join("; ", log);
      throw new NereidException(
          PlanFailure.isOutOfMemory(all) ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INTERNAL,
          "TensorRT cannot make an execution context: " + all);
    }
    return context;
  }

  /**
   * Deletes a context. One engine makes and deletes one context at a time: TensorRT 10.6 damages
   * the process's heap when the threads of several instances delete theirs at once.
   */
  synchronized void deleteContext(IExecutionContext context) {
    NativeObjects.delete(context);
  }

  @Override
  public void close() {
    cudart.cudaSetDevice(device.number()); // on a device that broke, what is the processor's goes
    NativeObjects.delete(engine);
    NativeObjects.delete(runtime);
  }
}
