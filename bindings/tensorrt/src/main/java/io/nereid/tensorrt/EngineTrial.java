package io.nereid.tensorrt;

import io.nereid.model.ModelSignature;
import io.nereid.tensorrt.EngineDescription.EngineProfile;
import io.nereid.tensorrt.EngineDescription.ProfileRange;
import io.nereid.tensorrt.TensorRtOptions.Priority;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.bytedeco.tensorrt.nvinfer.IHostMemory;

/**
 * Loads a plan that was just built, as the backend would, to tell a model's signature with that
 * plan, and the time of an execution. One thread at a time.
 */
public final class EngineTrial implements AutoCloseable {

  private static final int WARM_UPS = 10;
  private static final int RUNS = 51;

  private final Engine engine;

  /** Loads a plan, which may bring {@code hostCode} that runs it. */
  public EngineTrial(IHostMemory plan, boolean hostCode, Gpu device) {
    engine = Engine.load(plan, hostCode, device);
  }

  /** The signature with which the backend completes the configuration of a model. */
  public ModelSignature signature() {
    EngineDescription description = engine.description();
    return new EngineSignature(description.name(), description).signature();
  }

  public int profileCount() {
    return engine.description().profiles().size();
  }

  /** Returns the number of layers after fusion. */
  public int layerCount() {
    return engine.layerCount();
  }

  /** The most memory that an execution needs beside weights, inputs and outputs. */
  public long contextBytes() {
    return engine.activationBytes();
  }

  /**
   * Median time from enqueue to completion at the first profile's best shapes; empty, with a
   * warning, if it cannot be measured, though the engine is good.
   */
  public Optional<Duration> latency() {
    DevicePool memory = DevicePool.of(engine.device());
    try (Undo undo = new Undo()) {
      CudaStream stream = undo.add(new CudaStream(Priority.DEFAULT, 0));
      Bindings bindings =
          undo.add(new Bindings(engine.description(), List.of(), List.of(), memory));
      DevicePool.Block activations = memory.allocate(engine.activationBytes(0), "activations");
      undo.add(activations::release);
      BoundContext context = undo.add(new BoundContext(engine, 0, activations, bindings, stream));
      context.prepare(inputs(bindings, stream));
      return Optional.of(median(context, stream));
    } catch (RuntimeException e) {
      TensorRtLog.LOGGER.log(
          Level.WARNING,
          "the engine is built, but the time of an execution is not measured: " + e.getMessage());
      return Optional.empty();
    } finally {
      memory.trim();
    }
  }

  /**
   * Fills inputs of the profile's best shapes with zeros, or with the best values if shapes follow
   * from them, and returns the shapes.
   */
  private long[][] inputs(Bindings bindings, CudaStream stream) {
    EngineProfile profile = engine.description().profiles().getFirst();
    long[][] shapes = new long[bindings.inputs().size()][];
    for (int i = 0; i < shapes.length; i++) {
      Binding input = bindings.inputs().get(i);
      String name = input.tensor().name();
      shapes[i] = profile.shapes().get(name).opt().stream().mapToLong(Long::longValue).toArray();
      long byteSize = input.byteSize(shapes[i]);
      bindings.ensure(input, byteSize);
      ProfileRange values = profile.values().get(name);
      if (values != null) {
        input.write(values.opt());
      } else if (input.tensor().onHost()) {
        throw new NereidException(
            StatusCode.UNIMPLEMENTED, "TensorRT tells no values for " + input.tensor().title());
      } else {
        stream.clear(input.address(), byteSize);
      }
    }
    return shapes;
  }

  private static Duration median(BoundContext context, CudaStream stream) {
    long[] times = new long[RUNS];
    for (int i = -WARM_UPS; i < RUNS; i++) {
      long startNs = System.nanoTime();
      context.enqueue();
      stream.finish();
      if (i >= 0) {
        times[i] = System.nanoTime() - startNs;
      }
    }
    Arrays.sort(times);
    return Duration.ofNanos(times[RUNS / 2]);
  }

  @Override
  public void close() {
    engine.close();
  }
}
