package io.nereid.tensorrt;

import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.statistics.MemoryUsage;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensorrt.EngineDescription.EngineProfile;
import io.nereid.tensorrt.EngineDescription.ProfileRange;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.SizeTPointer;

/**
 * Executes batches of one model on one device, one at a time. An instance has its own stream,
 * contexts and memory; the engine is shared. While one instance waits for its batch, the device
 * works for another.
 */
final class TensorRtInstance implements BackendInstance {

  private final Engines.Use use;
  private final TensorRtOptions options;
  private final Consumer<TensorRtInstance> closed;
  private final boolean gathered; // the batch has common inputs, besides those of each request
  private final ProfileSelector selector;
  private final List<BackendShape> shapes = new ArrayList<>(); // by engine input
  private final Map<Integer, BoundContext> contexts = new HashMap<>(); // by profile
  private final AtomicLong graphHits = new AtomicLong();
  private final AtomicLong graphMisses = new AtomicLong();
  private final CudaStream stream;
  private final Bindings bindings;
  private final DevicePool.Block activations;
  private final GraphCache graphs;
  private final OutputCopier outputs;
  private final DeviceStates states;

  /** Copies of the figures of {@link #graphs} and of the memory, for other threads. */
  private volatile int graphCount;

  private volatile long deviceBytes;

  /**
   * Makes an instance with all the memory that its profiles can need.
   *
   * @param use belongs to the instance from then on, even when this throws
   * @param closed is called when the instance is closed
   */
  TensorRtInstance(
      ModelContext model,
      TensorRtOptions options,
      Engines.Use use,
      Consumer<TensorRtInstance> closed) {
    this.use = use;
    this.options = options;
    this.closed = closed;
    ModelSpec spec = model.spec();
    gathered = spec.isGathered();
    Engine engine = use.engine();
    EngineDescription description = engine.description();
    String title = "model '" + spec.name() + "', instance " + model.instanceIndex();
    try (Undo undo = new Undo()) {
      undo.add(use);
      selector =
          new ProfileSelector(spec.name(), description, model.placement().group().profiles());
      selector.checkBatchSize(spec);
      CudaRuntime.check(cudart.cudaSetDevice(engine.device().number()), "cudaSetDevice");
      stream = undo.add(new CudaStream(options.priority(), options.spinUs()));
      DevicePool memory = DevicePool.of(engine.device());
      bindings =
          undo.add(new Bindings(description, names(spec.inputs()), names(spec.outputs()), memory));
      outputs = new OutputCopier(bindings, stream);
      states = undo.add(new DeviceStates(spec, bindings, stream, engine.device()));
      boolean batched = spec.maxBatchSize() > 0;
      bindings
          .inputs()
          .forEach(
              input -> shapes.add(new BackendShape(spec.inputs().get(input.specIndex()), batched)));
      activations = memory.allocate(activationBytes(engine), "activations");
      undo.add(activations::release);
      for (EngineProfile profile : selector.profiles()) {
        BoundContext context = undo.add(newContext(profile.index()));
        contexts.put(profile.index(), context);
        reserve(context, profile, spec);
      }
      stream.finish();
      Optional<String> obstacle = graphObstacle();
      if (options.graphs() && obstacle.isPresent()) {
        TensorRtLog.LOGGER.log(Level.INFO, "{0}: no CUDA graphs: {1}", title, obstacle.get());
      }
      graphs =
          new GraphCache(title, stream, bindings, this::newContext, options.graphLimit(), obstacle);
      deviceBytes = countDeviceBytes();
      undo.forget();
    }
  }

  private static List<String> names(List<TensorSpec> specs) {
    return specs.stream().map(TensorSpec::name).toList();
  }

  private long activationBytes(Engine engine) {
    return selector.profiles().stream()
        .mapToLong(profile -> engine.activationBytes(profile.index()))
        .max()
        .orElse(0);
  }

  private long countDeviceBytes() {
    return activations.byteSize() + bindings.deviceBytes() + states.deviceBytes();
  }

  private BoundContext newContext(int profile) {
    return new BoundContext(use.engine(), profile, activations, bindings, stream);
  }

  /**
   * Takes the memory that the largest shapes of a profile need, so that memory does not move later.
   */
  private void reserve(BoundContext context, EngineProfile profile, ModelSpec spec) {
    long[][] largest = new long[bindings.inputs().size()][];
    for (int i = 0; i < largest.length; i++) {
      Binding input = bindings.inputs().get(i);
      String name = input.tensor().name();
      List<Long> max = profile.shapes().get(name).max();
      largest[i] = max.stream().mapToLong(Long::longValue).toArray();
      if (spec.maxBatchSize() > 0) {
        long least = profile.shapes().get(name).min().getFirst();
        long most = FirstDimension.of(spec, name).largest(spec.maxBatchSize(), max.getFirst());
        largest[i][0] = Math.max(least, most);
      }
      bindings.ensure(input, input.byteSize(largest[i]));
      ProfileRange values = profile.values().get(input.tensor().name());
      if (values != null) {
        input.write(values.max());
      }
    }
    context.prepare(largest);
  }

  private Optional<String> graphObstacle() {
    if (!options.graphs()) {
      return Optional.of("the configuration does not ask for them");
    }
    if (bindings.isDataDependent()) {
      return Optional.of("the size of an output depends on the data");
    }
    if (bindings.hasShapeInputs()) {
      return Optional.of("shapes are computed from the values of an input");
    }
    if (bindings.inputs().stream().anyMatch(input -> input.tensor().onHost())) {
      return Optional.of("an input is in the processor's memory");
    }
    if (bindings.outputs().stream().anyMatch(output -> output.tensor().onHost())) {
      return Optional.of("an output is in the processor's memory");
    }
    if (use.engine().streamsWeights()) {
      return Optional.of("weights are streamed");
    }
    return Optional.empty();
  }

  // ---- Execution -------------------------------------------------------------------------------

  @Override
  public void execute(Batch batch) {
    CudaRuntime.check(cudart.cudaSetDevice(use.engine().device().number()), "cudaSetDevice");
    boolean finished = false;
    try {
      long[][] sizes = inputShapes(batch);
      int profile = selector.select(sizes, readShapeInputs(batch, sizes)).index();
      copyInputs(batch, sizes);
      states.copyIn(batch);
      GraphCache.Key key = new GraphCache.Key(profile, sizes);
      long[][] outputShapes = run(key);
      outputs.copy(batch, outputShapes);
      states.copyOut(batch, outputShapes);
      stream.finish();
      finished = true;
      outputs.copyFromHost(batch, outputShapes);
      states.keep(batch);
      graphs.captureIfNew(key);
    } finally {
      if (!finished) {
        stream.settle(); // its memory returns to the pool when this method returns
      }
      states.giveUp();
      graphCount = graphs.count();
      deviceBytes = countDeviceBytes();
    }
  }

  /** True if the device had a fault, after which no call succeeds in this process. */
  boolean isBroken() {
    try (SizeTPointer free = new SizeTPointer(1);
        SizeTPointer total = new SizeTPointer(1)) {
      return cudart.cudaSetDevice(use.engine().device().number()) != cudart.cudaSuccess
          || cudart.cudaMemGetInfo(free, total) != cudart.cudaSuccess;
    }
  }

  private long[][] run(GraphCache.Key key) {
    GraphCache.Graph graph = graphs.find(key);
    if (graph != null) {
      graph.launch(stream);
      graphHits.incrementAndGet();
      return graph.outputShapes();
    }
    BoundContext context = contexts.get(key.profile());
    long[][] outputShapes = context.prepare(key.shapes());
    context.enqueue();
    graphMisses.incrementAndGet();
    return outputShapes;
  }

  private long[][] inputShapes(Batch batch) {
    long[][] sizes = new long[bindings.inputs().size()][];
    for (int i = 0; i < sizes.length; i++) {
      String name = bindings.inputs().get(i).tensor().name();
      sizes[i] =
          gathered
              ? batch.inputShape(name)
              : shapes.get(i).of(batch.request(0).inputShape(name), batch.size());
    }
    return sizes;
  }

  /** Reads inputs from which shapes are computed; models with them take one request at a time. */
  private long[][] readShapeInputs(Batch batch, long[][] sizes) {
    long[][] values = new long[sizes.length][];
    for (int i = 0; i < sizes.length; i++) {
      Binding input = bindings.inputs().get(i);
      if (input.tensor().onHost()) {
        long byteSize = input.byteSize(sizes[i]);
        bindings.ensure(input, byteSize);
        MemorySegment host = input.host(byteSize).asSlice(0, byteSize);
        if (gathered) {
          host.copyFrom(batch.input(input.tensor().name()).segment());
        } else {
          fetch(batch.request(0), input, host);
        }
        values[i] = input.values(byteSize);
      }
    }
    return values;
  }

  /** Copies a request's input into memory that TensorRT and this class read. */
  private void fetch(BatchRequest request, Binding input, MemorySegment host) {
    String name = input.tensor().name();
    Optional<DeviceMemory> onDevice = request.deviceInput(name);
    if (onDevice.isPresent()) {
      stream.copyOut(host.address(), onDevice.get().address(), host.byteSize());
      stream.finish();
    } else {
      host.copyFrom(request.input(name).segment());
    }
  }

  private void copyInputs(Batch batch, long[][] sizes) {
    for (int i = 0; i < sizes.length; i++) {
      Binding input = bindings.inputs().get(i);
      if (!input.tensor().onHost() && !states.brings(input)) { // the others are read already
        copyInput(batch, input, input.byteSize(sizes[i]));
      }
    }
  }

  private void copyInput(Batch batch, Binding input, long byteSize) {
    if (gathered) {
      if (byteSize > 0) {
        MemorySegment all = batch.input(input.tensor().name()).segment();
        stream.copyIn(input.address(), all.address(), byteSize);
      }
      return;
    }
    CopyPlan plan = CopyPlan.of(batch.requestCount(), byteSize, options.copyThresholdBytes());
    if (plan == CopyPlan.NONE) {
      return;
    }
    if (plan == CopyPlan.GATHERED && !hasDeviceInput(batch, input)) {
      MemorySegment gathered = input.host(byteSize);
      long offset = 0;
      for (int i = 0; i < batch.requestCount(); i++) {
        MemorySegment part = batch.request(i).input(input.tensor().name()).segment();
        MemorySegment.copy(part, 0, gathered, offset, part.byteSize());
        offset += part.byteSize();
      }
      stream.copyIn(input.address(), gathered.address(), byteSize);
      return;
    }
    long offset = 0;
    for (int i = 0; i < batch.requestCount(); i++) {
      offset += copyPart(batch.request(i), input, offset);
    }
  }

  private static boolean hasDeviceInput(Batch batch, Binding input) {
    for (int i = 0; i < batch.requestCount(); i++) {
      if (batch.request(i).deviceInput(input.tensor().name()).isPresent()) {
        return true;
      }
    }
    return false;
  }

  /** Copies one request's input straight from its memory; returns its size in bytes. */
  private long copyPart(BatchRequest request, Binding input, long offset) {
    String name = input.tensor().name();
    Optional<DeviceMemory> onDevice = request.deviceInput(name);
    if (onDevice.isPresent()) {
      long partBytes = onDevice.get().byteSize();
      stream.copyWithin(input.address() + offset, onDevice.get().address(), partBytes);
      return partBytes;
    }
    MemorySegment part = request.input(name).segment();
    stream.copyIn(input.address() + offset, part.address(), part.byteSize());
    return part.byteSize();
  }

  // ---- Figures, and the end --------------------------------------------------------------------

  @Override
  public MemoryUsage memoryUsage() {
    // Only one instance reports the shared engine's weights, since instances are added up.
    long weights = use.isTeller() ? use.engine().weightBytes() : 0;
    return new MemoryUsage(weights, deviceBytes, 0);
  }

  GraphStatistics graphStatistics() {
    return new GraphStatistics(graphCount, graphHits.get(), graphMisses.get());
  }

  @Override
  public void close() {
    closed.accept(this);
    cudart.cudaSetDevice(use.engine().device().number());
    stream.settle();
    // Closes everything, even if one step fails.
    try (Undo all = new Undo()) {
      all.add(use);
      all.add(stream);
      all.add(bindings);
      all.add(states);
      all.add(activations::release);
      contexts.values().forEach(context -> all.add(context));
      all.add(graphs);
    }
  }
}
