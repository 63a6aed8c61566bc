package io.nereid.tensorrt.builder;

import io.nereid.tensorrt.CudaRuntime;
import io.nereid.tensorrt.NativeObjects;
import io.nereid.tensorrt.TensorRtMajor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.IntPointer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.global.nvinfer.OptProfileSelector;
import org.bytedeco.tensorrt.global.nvinfer.TensorIOMode;
import org.bytedeco.tensorrt.global.nvinfer.TensorLocation;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.IExecutionContext;

/** Measures how long one execution takes. */
final class EngineTimer implements AutoCloseable {

  private static final int WARM_UPS = 10;
  private static final int RUNS = 51;

  private final ICudaEngine engine;
  private final BuildLog log;
  private final IExecutionContext context;
  private final CUstream_st stream = new CUstream_st();
  private final List<Pointer> memory = new ArrayList<>();

  /** Values in the processor's memory, which TensorRT reads until the last execution. */
  private final List<Pointer> values = new ArrayList<>();

  private EngineTimer(ICudaEngine engine, BuildLog log) {
    this.engine = engine;
    this.log = log;
    context = EngineBuilder.made(engine.createExecutionContext(), "an execution context", log);
  }

  /**
   * Median time from enqueue to completion at the first profile's best shapes; empty, with a
   * warning that says why, where it cannot be measured: the engine is good all the same.
   */
  static Optional<Duration> latency(ICudaEngine engine, BuildLog log) {
    try (EngineTimer timer = new EngineTimer(engine, log)) {
      timer.prepare();
      return Optional.of(timer.median());
    } catch (RuntimeException e) {
      cudart.cudaGetLastError(); // nobody else must take it for its own
      BuildLog.LOGGER.log(
          System.Logger.Level.WARNING,
          "the engine is built, but the time of an execution is not measured: " + e.getMessage());
      return Optional.empty();
    }
  }

  private void prepare() {
    check(
        cudart.cudaStreamCreateWithFlags(stream, cudart.cudaStreamNonBlocking),
        "cudaStreamCreateWithFlags");
    List<String> names = new ArrayList<>();
    for (int i = 0; i < engine.getNbIOTensors(); i++) {
      names.add(engine.getIOTensorName(i));
    }
    for (String name : names) {
      if (engine.getTensorIOMode(name).intern() == TensorIOMode.kINPUT) {
        input(name);
      }
    }
    for (String name : names) {
      if (engine.getTensorIOMode(name).intern() == TensorIOMode.kOUTPUT) {
        output(name);
      }
    }
  }

  private void input(String name) {
    if (isOnHost(name)) {
      shapeValues(name);
      return;
    }
    Dims64 dims = engine.getProfileShape(name, 0, OptProfileSelector.kOPT);
    if (!context.setInputShape(name, dims)) {
      throw EngineBuilder.failed("TensorRT does not take the shape of input '" + name + "'", log);
    }
    long bytes = NativeObjects.elementBytes(engine, name);
    for (int i = 0; i < dims.nbDims(); i++) {
      bytes *= dims.d(i);
    }
    address(name, bytes);
  }

  /** With the memory that it takes at most, also where only the data decide. */
  private void output(String name) {
    if (isOnHost(name)) {
      throw unmeasured("output '" + name + "' is in the processor's memory");
    }
    long bytes = context.getMaxOutputSize(name);
    if (bytes <= 0) {
      throw unmeasured(
          "TensorRT tells no size for output '"
              + name
              + "', which the data decide ("
              + bytes
              + ")");
    }
    address(name, bytes);
  }

  private boolean isOnHost(String name) {
    return engine.getTensorLocation(name).intern() == TensorLocation.kHOST;
  }

  private static NereidException unmeasured(String why) {
    return new NereidException(StatusCode.UNIMPLEMENTED, why);
  }

  /** A shape tensor is in host memory, and has the values that the profile is made for. */
  private void shapeValues(String name) {
    Dims64 dims = engine.getTensorShape(name);
    int count = dims.nbDims() == 0 ? 1 : Math.toIntExact(dims.d(0));
    long[] optimum = TensorRtMajor.shapeValues(engine, name, 0, OptProfileSelector.kOPT, count);
    if (optimum.length < count) {
      throw unmeasured("TensorRT tells no values for input '" + name + "'");
    }
    Pointer held =
        engine.getTensorDataType(name).intern() == DataType.kINT64
            ? new LongPointer(optimum)
            : new IntPointer(LongStream.of(optimum).mapToInt(Math::toIntExact).toArray());
    values.add(held);
    if (!context.setInputTensorAddress(name, held)) {
      throw EngineBuilder.failed("TensorRT does not take the values of '" + name + "'", log);
    }
  }

  private void address(String name, long bytes) {
    Pointer pointer = new Pointer();
    // An address of its own for an empty tensor, too.
    long size = Math.max(bytes, 256);
    check(cudart.cudaMalloc(pointer, size), "cudaMalloc of " + size + " bytes");
    memory.add(pointer);
    check(cudart.cudaMemsetAsync(pointer, 0, size, stream), "cudaMemsetAsync");
    if (!context.setTensorAddress(name, pointer)) {
      throw EngineBuilder.failed("TensorRT does not take memory for '" + name + "'", log);
    }
  }

  private Duration median() {
    long[] times = new long[RUNS];
    for (int i = -WARM_UPS; i < RUNS; i++) {
      long startNs = System.nanoTime();
      if (!context.enqueueV3(stream)) {
        throw EngineBuilder.failed("the engine that was built does not run", log);
      }
      check(cudart.cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      if (i >= 0) {
        times[i] = System.nanoTime() - startNs;
      }
    }
    Arrays.sort(times);
    return Duration.ofNanos(times[RUNS / 2]);
  }

  private static void check(int result, String call) {
    CudaRuntime.check(result, call);
  }

  @Override
  public void close() {
    if (!stream.isNull()) {
      cudart.cudaStreamSynchronize(stream);
    }
    NativeObjects.delete(context);
    memory.forEach(cudart::cudaFree);
    if (!stream.isNull()) {
      cudart.cudaStreamDestroy(stream);
    }
  }
}
