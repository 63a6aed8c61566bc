package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.global.nvinfer.ExecutionContextAllocationStrategy;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.IExecutionContext;
import org.bytedeco.tensorrt.nvinfer.IHostMemory;
import org.bytedeco.tensorrt.nvinfer.IRuntime;

/** A plan that was loaded onto a device. Its contexts must be deleted before it is closed. */
final class Engine implements AutoCloseable {

  private final Gpu device;
  private final IRuntime runtime;
  private final ICudaEngine engine;
  private EngineDescription description;
  private long weightBytes;

  /**
   * Loads an engine, which is not described yet.
   *
   * @param hostCode whether the plan may bring code that runs it
   * @param unreadable makes the failure of reading the plan from TensorRT's log
   */
  private Engine(
      Gpu device,
      Pointer plan,
      long planBytes,
      boolean hostCode,
      List<Path> plugins,
      Function<List<String>, NereidException> unreadable) {
    this.device = device;
    weightBytes = planBytes;
    TensorRtLibrary library = TensorRtLibrary.load();
    CudaRuntime.check(cudart.cudaSetDevice(device.number()), "cudaSetDevice");
    List<String> log = new ArrayList<>();
    runtime = TensorRtLog.errorsOf(log, () -> nvinfer.createInferRuntime(TensorRtLog.instance()));
    // If CUDA does not work, TensorRT returns an object that is not null and that ends the process
    // when it is used: only the log says that the call failed.
    if (Pointer.isNull(runtime) || !log.isEmpty()) {
      throw new NereidException(
          StatusCode.UNAVAILABLE,
          "TensorRT cannot start on GPU " + device.number() + ": " + String.join("; ", log));
    }
    try (Undo undo = new Undo()) {
      undo.add(() -> NativeObjects.delete(runtime));
      // Not earlier: if CUDA does not work, plugins end the process.
      loadPlugins(library);
      Plugins.load(plugins, TensorRtOptions.PLUGINS_NAMED_BY);
      if (hostCode) {
        runtime.setEngineHostCodeAllowed(true);
      }
      engine = made(log, () -> runtime.deserializeCudaEngine(plan, planBytes));
      if (Pointer.isNull(engine)) {
        throw unreadable.apply(log);
      }
      undo.forget();
    }
  }

  static Engine load(String model, TensorRtOptions options, Gpu device) {
    TensorRtVersion version = TensorRtLibrary.load().version();
    PlanFailure failure = new PlanFailure(model, options.plan(), version, device);
    try (PlanFile file = new PlanFile(options.plan());
        Undo undo = new Undo()) {
      Optional<TensorRtVersion> builtBy = file.check(model, options.versionCompatible());
      if (!options.versionCompatible() && !builtBy.orElse(version).equals(version)) {
        throw failure.otherVersion(builtBy.get());
      }
      MemorySegment plan = file.read();
      Engine loaded =
          undo.add(
              new Engine(
                  device,
                  NativePointer.of(plan),
                  plan.byteSize(),
                  options.versionCompatible(),
                  options.plugins(),
                  log -> failure.unreadable(builtBy, log)));
      new Refit(model, options, loaded.engine).apply();
      loaded.stream(options);
      loaded.describe();
      // The size of the plan, or of the file with its weights if they are separate.
      long refitted = options.weights().map(one -> one.file().toFile().length()).orElse(0L);
      loaded.weightBytes = Math.max(plan.byteSize(), refitted);
      undo.forget();
      return loaded;
    }
  }

  /** Loads a plan that was just built by this process, with its own weights. */
  static Engine load(IHostMemory plan, boolean hostCode, Gpu device) {
    try (Undo undo = new Undo()) {
      Engine loaded =
          undo.add(
              new Engine(
                  device,
                  plan.data(),
                  plan.size(),
                  hostCode,
                  List.of(),
                  log -> TensorRtLog.failure("read the plan that it has just built", log)));
      loaded.describe();
      undo.forget();
      return loaded;
    }
  }

  /** Reads the description, after all steps that require an engine without contexts. */
  private void describe() {
    description = EngineReader.read(engine, this::newContext);
  }

  /** Loads TensorRT's own plugins if they are installed: most plans need none. */
  private static void loadPlugins(TensorRtLibrary library) {
    try {
      library.registerPlugins();
    } catch (RuntimeException e) {
      TensorRtLog.LOGGER.log(
          Level.DEBUG, "TensorRT''s own plugins cannot be used: {0}", e.getMessage());
    }
  }

  /**
   * Makes an object of TensorRT, which allocates device memory by itself. If memory is lacking, the
   * pools free what they keep for later, and TensorRT tries once more.
   */
  private <T extends Pointer> T made(List<String> log, Supplier<T> making) {
    T made = TensorRtLog.errorsOf(log, making);
    boolean full = Pointer.isNull(made) && TensorRtLog.isOutOfMemory(String.join("; ", log));
    if (full && DevicePool.of(device).relieve()) {
      log.clear();
      return TensorRtLog.errorsOf(log, making);
    }
    return made;
  }

  private void stream(TensorRtOptions options) {
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
    DevicePool.of(device).relieve(); // TensorRT decides by the free memory
    long budget =
        options.weightBudgetBytes() < 0
            ? engine.getWeightStreamingAutomaticBudget()
            : Math.min(options.weightBudgetBytes(), streamable);
    List<String> log = new ArrayList<>();
    if (!TensorRtLog.errorsOf(log, () -> engine.setWeightStreamingBudgetV2(budget))) {
      throw new NereidException(
          StatusCode.RESOURCE_EXHAUSTED,
          "TensorRT refused %s of %s bytes as the memory for streamed weights: %s"
              .formatted(budget, streamable, String.join("; ", log)));
    }
  }

  Gpu device() {
    return device;
  }

  EngineDescription description() {
    return description;
  }

  /**
   * The size of the engine's file, as an estimate of its weights, whose size TensorRT does not
   * tell.
   */
  long weightBytes() {
    return weightBytes;
  }

  int layerCount() {
    return engine.getNbLayers();
  }

  long activationBytes() {
    return engine.getDeviceMemorySizeV2();
  }

  long activationBytes(int profile) {
    return engine.getDeviceMemorySizeForProfileV2(profile);
  }

  /** True if weights are streamed from the processor's memory during executions. */
  boolean streamsWeights() {
    return description.streamableWeightBytes() > 0
        && engine.getWeightStreamingBudgetV2() < description.streamableWeightBytes();
  }

  /** Makes a context without memory for activations; the caller deletes it. */
  synchronized IExecutionContext newContext() {
    List<String> log = new ArrayList<>();
    IExecutionContext context =
        made(
            log,
            () -> engine.createExecutionContext(ExecutionContextAllocationStrategy.kUSER_MANAGED));
    if (Pointer.isNull(context)) {
      throw TensorRtLog.failure("make an execution context", log);
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
    // ignored: on a broken device, only the processor's memory is freed
    cudart.cudaSetDevice(device.number());
    NativeObjects.delete(engine);
    NativeObjects.delete(runtime);
  }
}
