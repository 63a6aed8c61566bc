package io.nereid.tensorrt;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.InstancePlacement;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.DeviceMemory;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The backend {@code tensorrt}: executes plans on GPUs. */
public final class TensorRtBackend implements Backend {

  /** The name by which models ask for this backend. */
  public static final String NAME = "tensorrt";

  private record Served(String model, long version) {}

  /** All instances that are open, for statistics. */
  private static final Map<TensorRtInstance, Served> OPEN = new ConcurrentHashMap<>();

  /** The engines that were loaded for {@link #describe}, until that load has ended. */
  private final Map<Served, Engines.Use> described = new ConcurrentHashMap<>();

  /** Called by {@link java.util.ServiceLoader}; loads no library. */
  public TensorRtBackend() {}

  /** CUDA graphs of all instances of a version of a model that are open. */
  public static GraphStatistics graphStatistics(String model, long version) {
    GraphStatistics here = statistics(model, version);
    return OtherMajor.serving()
        .map(other -> here.plus(other.graphStatistics(model, version)))
        .orElse(here);
  }

  /** The counts in this class loader alone, in a type that both class loaders share. */
  static long[] graphCounts(String model, long version) {
    GraphStatistics here = statistics(model, version);
    return new long[] {here.graphs(), here.hits(), here.misses()};
  }

  private static GraphStatistics statistics(String model, long version) {
    Served served = new Served(model, version);
    return OPEN.entrySet().stream()
        .filter(entry -> entry.getValue().equals(served))
        .map(entry -> entry.getKey().graphStatistics())
        .reduce(new GraphStatistics(0, 0, 0), GraphStatistics::plus);
  }

  /**
   * The backend of the TensorRT version that built the model's plan, if this process has both. A
   * version-compatible plan goes to the installed one.
   */
  @Override
  public Backend forModel(ModelSpec spec) {
    TensorRtOptions options = TensorRtOptions.of(spec);
    Optional<TensorRtVersion> built = PlanFile.builtBy(spec.name(), options);
    Optional<OtherMajor> other =
        built
            .filter(by -> by.major() == OtherMajor.MAJOR.number())
            .flatMap(by -> OtherMajor.find());
    boolean movable = options.versionCompatible();
    Optional<OtherMajor> chosen = other.filter(there -> !movable || there.missing().isEmpty());
    Optional<?> missing = chosen.isPresent() ? chosen.get().missing() : TensorRtLibrary.missing();
    missing.ifPresent(what -> {
      String by = built.map(TensorRtVersion::toString).orElse("of an unknown version");
      throw new NereidException(
          StatusCode.UNAVAILABLE, what + "; the plan was built by TensorRT " + by);
    });
    return chosen.map(OtherMajor::newBackend).orElse(this);
  }

  @Override
  public List<String> inspect(ModelSpec spec) {
    return List.of(PlanFile.inspect(spec.name(), TensorRtOptions.of(spec)));
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Integer> devices() {
    return TensorRtLibrary.load().cuda().devices().stream().map(Gpu::number).toList();
  }

  @Override
  public int batchesInFlight(ModelSpec spec) {
    return TensorRtOptions.of(spec).batchesInFlight();
  }

  @Override
  public boolean gathers() {
    return true;
  }

  @Override
  public boolean takesDeviceTensors() {
    return true;
  }

  @Override
  public boolean keepsStates() {
    return true;
  }

  @Override
  public void releaseState(DeviceMemory state) {
    DevicePool.release(state);
  }

  @Override
  public boolean isBroken() {
    return OPEN.keySet().stream().anyMatch(TensorRtInstance::isBroken);
  }

  @Override
  public Optional<ModelSignature> describe(ModelSpec spec) {
    TensorRtOptions options = TensorRtOptions.of(spec);
    Engines.Use use = Engines.use(spec.name(), options, firstDevice(spec));
    Engines.Use before = described.put(new Served(spec.name(), spec.version()), use);
    if (before != null) {
      before.close();
    }
    return Optional.of(new EngineSignature(spec.name(), use.engine().description()).signature());
  }

  @Override
  public void loadEnded(ModelSpec spec) {
    Engines.Use use = described.remove(new Served(spec.name(), spec.version()));
    if (use != null) {
      use.close();
    }
  }

  private static Gpu firstDevice(ModelSpec spec) {
    int number =
        spec.instanceGroups().stream()
            .flatMap(group -> group.devices().stream())
            .findFirst()
            .orElse(0);
    return TensorRtLibrary.load().cuda().device(number);
  }

  @Override
  public BackendInstance open(ModelContext context) {
    ModelSpec spec = context.spec();
    InstancePlacement placement = context.placement();
    int device =
        placement
            .device()
            .orElseThrow(() ->
                new NereidException(
                    StatusCode.INVALID_ARGUMENT,
                    ("instance group '%s' is of the kind %s, and plans run on GPUs"
                            + " alone: expected KIND_GPU or KIND_AUTO")
                        .formatted(placement.group().name(), placement.group().kind())));
    TensorRtOptions options = TensorRtOptions.of(spec);
    Engines.Use use =
        Engines.use(spec.name(), options, TensorRtLibrary.load().cuda().device(device));
    try (Undo undo = new Undo()) {
      undo.add(use);
      new EngineSignature(spec.name(), use.engine().description()).check(spec);
      undo.forget();
    }
    TensorRtInstance instance = new TensorRtInstance(context, options, use, OPEN::remove);
    OPEN.put(instance, new Served(spec.name(), spec.version()));
    return instance;
  }
}
