package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.IExecutionContext;

/**
 * An execution context for one profile, with the shapes and addresses that were last set in it. One
 * thread at a time. Contexts of one instance share the memory for activations, because they run one
 * after another on one stream.
 */
final class BoundContext implements AutoCloseable {

  private final Engine engine;
  private final IExecutionContext context;
  private final Bindings bindings;
  private final CudaStream stream;
  private final long[][] inputShapes; // null: not set yet
  private final long[][] outputShapes;
  private long addressVersion = -1;

  /** True if everything was set the last time; else the fields may be wrong. */
  private boolean complete;

  BoundContext(
      Engine engine,
      int profile,
      DevicePool.Block activations,
      Bindings bindings,
      CudaStream stream) {
    this.engine = engine;
    this.bindings = bindings;
    this.stream = stream;
    inputShapes = new long[bindings.inputs().size()][];
    outputShapes = new long[bindings.outputs().size()][];
    context = engine.newContext();
    try (Undo undo = new Undo()) {
      undo.add(this);
      TensorRtLog.require(
          () -> context.setOptimizationProfileAsync(profile, stream.handle()),
          "select profile " + profile);
      // After setting the profile, for which TensorRT checks the size.
      giveActivations(activations);
      undo.forget();
    }
  }

  /** Gives TensorRT the memory for activations. TensorRT only logs a refusal of the memory. */
  private void giveActivations(DevicePool.Block activations) {
    List<String> log = new ArrayList<>();
    TensorRtLog.errorsOf(
        log,
        () -> {
          context.setDeviceMemoryV2(
              new NativePointer(activations.address()), activations.byteSize());
          return true;
        });
    if (!log.isEmpty()) {
      throw TensorRtLog.failure("take " + activations.byteSize() + " bytes for activations", log);
    }
  }

  /**
   * Sets shapes, and ensures memory for the outputs. Values from which shapes are computed must be
   * in their inputs' memory already.
   *
   * @return the shapes of the outputs; null for those that are known only after the execution
   */
  long[][] prepare(long[][] shapes) {
    boolean changed =
        !complete || bindings.hasShapeInputs() || addressVersion != bindings.version();
    complete = false;
    try (Dims64 dims = new Dims64()) {
      for (int i = 0; i < shapes.length; i++) {
        if (!Arrays.equals(shapes[i], inputShapes[i])) {
          set(dims, bindings.inputs().get(i), shapes[i]);
          inputShapes[i] = shapes[i];
          changed = true;
        }
      }
    }
    if (bindings.hasShapeInputs()) {
      bind(bindings.inputs());
    }
    if (changed) {
      readOutputShapes();
    }
    if (addressVersion != bindings.version()) {
      bind(bindings.inputs());
      bind(bindings.outputs());
      addressVersion = bindings.version();
    }
    complete = true;
    return outputShapes;
  }

  private void set(Dims64 dims, Binding input, long[] shape) {
    NativeObjects.set(dims, shape);
    TensorRtLog.require(
        () -> context.setInputShape(input.name(), dims),
        "take " + input.tensor().title() + " with the shape " + Arrays.toString(shape));
  }

  private void readOutputShapes() {
    List<Binding> outputs = bindings.outputs();
    for (int i = 0; i < outputs.size(); i++) {
      Binding output = outputs.get(i);
      outputShapes[i] = shape(output);
      if (outputShapes[i] == null) {
        bindings.allocateWhileRunning(output);
      } else {
        bindings.ensure(output, output.byteSize(outputShapes[i]));
      }
    }
  }

  /** The shape of an output; null: it depends on the data. */
  private long[] shape(Binding output) {
    try (Dims64 dims = context.getTensorShape(output.name())) {
      if (dims.nbDims() < 0) {
        throw new NereidException(
            StatusCode.INTERNAL, "TensorRT cannot tell the shape of " + output.tensor().title());
      }
      long[] shape = NativeObjects.sizes(dims);
      return LongStream.of(shape).anyMatch(size -> size < 0) ? null : shape;
    }
  }

  private void bind(List<Binding> some) {
    for (Binding binding : some) {
      OutputAllocator allocator = binding.allocator();
      TensorRtLog.require(
          () ->
              allocator == null
                  ? context.setTensorAddress(binding.name(), new NativePointer(binding.address()))
                  : context.setOutputAllocator(binding.name(), allocator.object()),
          "take the memory of " + binding.tensor().title());
    }
  }

  /** Enqueues the execution in the stream. */
  void enqueue() {
    for (Binding output : bindings.outputs()) {
      if (output.allocator() != null) {
        output.allocator().reset();
      }
    }
    List<String> log = new ArrayList<>();
    boolean enqueued = TensorRtLog.errorsOf(log, () -> context.enqueueV3(stream.handle()));
    for (Binding output : bindings.outputs()) {
      if (output.allocator() != null && output.allocator().failure() != null) {
        throw output.allocator().failure();
      }
    }
    if (!enqueued) {
      throw TensorRtLog.failure("execute", log);
    }
  }

  /** Waits for all work in the stream, including parts of a failed execution. */
  @Override
  public void close() {
    stream.settle();
    engine.deleteContext(context);
  }
}
