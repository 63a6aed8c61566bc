package io.nereid.gpu;

import io.nereid.tensorrt.CudaRuntime;
import io.nereid.tensorrt.LoggerObject;
import io.nereid.tensorrt.NativeObjects;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.cuda.cudart.CUgraphExec_st;
import org.bytedeco.cuda.cudart.CUgraph_st;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.global.nvinfer.OptProfileSelector;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.IExecutionContext;
import org.bytedeco.tensorrt.nvinfer.ILogger;
import org.bytedeco.tensorrt.nvinfer.ILogger.Severity;
import org.bytedeco.tensorrt.nvinfer.IRuntime;

/**
 * The loop that everything else is held against: it enqueues one engine again and again and does
 * nothing else. One thread runs it; each context has a stream, page-locked memory and device memory
 * of its own, and is given its next batch when the last one is done. The loop shares no code with
 * the backend.
 */
final class BareLoop implements AutoCloseable {

  /**
   * The settings with which the loop runs.
   *
   * @param rows of a batch
   * @param contexts batches under way
   * @param copies whether inputs go to the device and outputs come back with each batch
   * @param graph whether a batch is one launch of a CUDA graph
   */
  record Way(int rows, int contexts, boolean copies, boolean graph) {

    @Override
    public String toString() {
      return "batches of "
          + rows
          + ", "
          + contexts
          + " contexts"
          + (copies ? "" : ", no copies")
          + (graph ? ", CUDA graphs" : "");
    }
  }

  /** Until the device's clocks are up. */
  private static final double WARM_UP_SECONDS = 1;

  private final PointerScope scope = new PointerScope();
  private final Graph graph;
  private IRuntime runtime;
  private ICudaEngine engine;

  /** Errors of TensorRT come out as results; what else it says is of no interest here. */
  private static final class Silent {
    private static final ILogger LOGGER =
        LoggerObject.of((severity, message) -> {
          if (severity.value <= Severity.kERROR.value) {
            System.err.println("TensorRT: " + message);
          }
        });
  }

  /** Loads a plan of the graph. */
  BareLoop(Path plan, Graph graph) throws IOException {
    this.graph = graph;
    boolean loaded = false;
    try {
      load(plan);
      loaded = true;
    } finally {
      if (!loaded) {
        close();
      }
    }
  }

  private void load(Path plan) throws IOException {
    runtime = made(nvinfer.createInferRuntime(Silent.LOGGER), "a runtime");
    try (FileChannel channel = FileChannel.open(plan, StandardOpenOption.READ);
        Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      engine =
          made(
              runtime.deserializeCudaEngine(new Address(bytes.address()), bytes.byteSize()),
              "an engine of " + plan);
    }
  }

  /** JavaCPP's view of memory that is not its own. */
  private static final class Address extends Pointer {
    Address(long where) {
      address = where;
    }
  }

  private static <T extends Pointer> T made(T object, String what) {
    if (object == null || object.isNull()) {
      throw new IllegalStateException("TensorRT could not make " + what);
    }
    return object;
  }

  static void check(int result, String call) {
    CudaRuntime.check(result, call);
  }

  /** Rows a second. */
  double rowsPerSecond(Way way, double seconds) {
    List<Slot> slots = new ArrayList<>();
    try {
      for (int i = 0; i < way.contexts(); i++) {
        slots.add(new Slot(way));
      }
      batchesPerSecond(slots, WARM_UP_SECONDS);
      return way.rows() * batchesPerSecond(slots, seconds);
    } finally {
      slots.forEach(Slot::close);
    }
  }

  private static double batchesPerSecond(List<Slot> slots, double seconds) {
    long startNs = System.nanoTime();
    long endNs = startNs + (long) (seconds * 1e9);
    long batches = 0;
    while (System.nanoTime() < endNs) {
      Slot slot = slots.get((int) (batches++ % slots.size()));
      slot.await();
      slot.next();
    }
    slots.forEach(Slot::await);
    return batches / ((System.nanoTime() - startNs) / 1e9);
  }

  /** One batch under way. */
  private final class Slot implements AutoCloseable {
    private final Way way;
    private final IExecutionContext context;
    private final CUstream_st stream = new CUstream_st();
    private final List<Pointer> device = new ArrayList<>();
    private final List<Pointer> host = new ArrayList<>();
    private final List<Long> sizes = new ArrayList<>();
    private CUgraphExec_st replay;

    Slot(Way way) {
      this.way = way;
      context = made(engine.createExecutionContext(), "an execution context");
      boolean ready = false;
      try {
        prepare();
        ready = true;
      } finally {
        if (!ready) {
          close();
        }
      }
    }

    private void prepare() {
      check(
          cudart.cudaStreamCreateWithFlags(stream, cudart.cudaStreamNonBlocking),
          "cudaStreamCreateWithFlags");
      if (!context.setOptimizationProfileAsync(0, stream)) {
        throw new IllegalStateException("TensorRT does not take the first profile");
      }
      // These plans have one input and one output.
      input(Graph.INPUT);
      memory(Graph.OUTPUT, context.getTensorShape(Graph.OUTPUT));
      if (way.graph()) {
        capture();
      }
    }

    private void input(String name) {
      Dims64 dims = engine.getProfileShape(name, 0, OptProfileSelector.kOPT);
      dims.d(0, way.rows());
      if (!context.setInputShape(name, dims)) {
        throw new IllegalStateException("TensorRT does not take batches of " + way.rows());
      }
      memory(name, dims);
      // Zeros would cost the device less than what is sent over the wire.
      fill(host.getFirst(), sizes.getFirst());
      copy(device.getFirst(), host.getFirst(), sizes.getFirst(), cudart.cudaMemcpyHostToDevice);
    }

    @SuppressWarnings("restricted")
    private void fill(Pointer rows, long byteSize) {
      MemorySegment to = MemorySegment.ofAddress(rows.address()).reinterpret(byteSize);
      for (int row = 0; row < way.rows(); row++) {
        Rows.write(graph, Rows.random(graph, row), to, row);
      }
    }

    private void memory(String name, Dims64 dims) {
      long size = NativeObjects.elementBytes(engine, name);
      for (int i = 0; i < dims.nbDims(); i++) {
        size *= dims.d(i);
      }
      Pointer onDevice = new Pointer();
      check(cudart.cudaMalloc(onDevice, size), "cudaMalloc");
      device.add(onDevice);
      check(cudart.cudaMemsetAsync(onDevice, 0, size, stream), "cudaMemsetAsync");
      Pointer onHost = new Pointer();
      check(cudart.cudaHostAlloc(onHost, size, cudart.cudaHostAllocDefault), "cudaHostAlloc");
      host.add(onHost);
      sizes.add(size);
      if (!context.setTensorAddress(name, onDevice)) {
        throw new IllegalStateException("TensorRT does not take memory for " + name);
      }
    }

    /** TensorRT wants one execution of a shape before it is captured. */
    private void capture() {
      enqueue();
      await();
      check(
          cudart.cudaStreamBeginCapture(stream, cudart.cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
      CUgraph_st captured = new CUgraph_st();
      int ended;
      try {
        enqueue();
      } finally { // a stream that captures can be neither awaited nor given back
        ended = cudart.cudaStreamEndCapture(stream, captured);
      }
      check(ended, "cudaStreamEndCapture");
      replay = new CUgraphExec_st();
      check(cudart.cudaGraphInstantiate(replay, captured, 0), "cudaGraphInstantiate");
      check(cudart.cudaGraphDestroy(captured), "cudaGraphDestroy");
    }

    void next() {
      if (replay == null) {
        enqueue();
      } else {
        check(cudart.cudaGraphLaunch(replay, stream), "cudaGraphLaunch");
      }
    }

    private void enqueue() {
      if (way.copies()) {
        copy(device.get(0), host.get(0), sizes.get(0), cudart.cudaMemcpyHostToDevice);
      }
      if (!context.enqueueV3(stream)) {
        throw new IllegalStateException("enqueueV3 failed");
      }
      if (way.copies()) {
        copy(host.get(1), device.get(1), sizes.get(1), cudart.cudaMemcpyDeviceToHost);
      }
    }

    private void copy(Pointer to, Pointer from, long size, int kind) {
      check(cudart.cudaMemcpyAsync(to, from, size, kind, stream), "cudaMemcpyAsync");
    }

    void await() {
      check(cudart.cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }

    @Override
    public void close() {
      if (!stream.isNull()) {
        cudart.cudaStreamSynchronize(stream);
      }
      if (replay != null) {
        cudart.cudaGraphExecDestroy(replay);
      }
      NativeObjects.delete(context);
      device.forEach(cudart::cudaFree);
      host.forEach(cudart::cudaFreeHost);
      if (!stream.isNull()) {
        cudart.cudaStreamDestroy(stream);
      }
    }
  }

  @Override
  public void close() {
    NativeObjects.delete(engine);
    NativeObjects.delete(runtime);
    scope.close();
  }
}
