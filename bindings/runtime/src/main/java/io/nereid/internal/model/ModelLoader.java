package io.nereid.internal.model;

import io.nereid.internal.Checks;
import io.nereid.internal.backend.ClientCode;
import io.nereid.internal.backend.JavaBackends;
import io.nereid.internal.backend.JavaBatcher;
import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.config.PluginDraft;
import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.BatcherUpcalls;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.ffi.ModelHandle;
import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.ffi.SourceHandle;
import io.nereid.internal.loader.LibraryFiles;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.internal.request.Signature;
import io.nereid.model.Backend;
import io.nereid.model.InstancePlacement;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Turns a draft into a model that can take requests: completes the configuration from the model,
 * opens its backend, and warms it up. Any thread may call, for several models at the same time.
 */
public final class ModelLoader {

  /** The core's backend that executes ONNX models. */
  static final String ONNXRUNTIME = "onnxruntime";

  private static final String ONNXRUNTIME_PATH = "onnxruntime_path";
  private static final String SHARED_THREAD_COUNT = "shared_thread_count";

  private final NativeRuntime runtime;
  private final PluginRuntime plugins;
  private final Consumer<LoadedModel> warmUp;

  /** {@code warmUp} executes a model's warm-up requests before it is published. */
  public ModelLoader(NativeRuntime runtime, PluginRuntime plugins, Consumer<LoadedModel> warmUp) {
    this.runtime = runtime;
    this.plugins = plugins;
    this.warmUp = warmUp;
  }

  /** True if a plug-in runs this version of a model. */
  public boolean isOfPlugin(
      String model, String backend, Path directory, long version, String runtime) {
    return BackendFinder.isPlugin(
        plugins, new PluginRuntime.Model(model, backend, Optional.of(directory), version, runtime));
  }

  /**
   * Prepares a model whose files came with a load: a plug-in may run them as code only if allowed.
   */
  public ModelDraft ofClient(ModelDraft draft) {
    if (draft instanceof PluginDraft plugin && !plugins.options().clientCode()) {
      try {
        ClientCode.check(plugin, plugin.directory());
      } catch (NereidException e) {
        return new ModelDraft.Broken(draft.name(), draft.version(), e);
      }
    }
    return draft;
  }

  /** The repository agents of one load of a model, which have not been called yet. */
  public AgentChain newAgents() {
    return new AgentChain(plugins);
  }

  /**
   * Loads a model.
   *
   * @param steps the loads that an ensemble uses, in the order of its steps; they are given back
   *     with it once it is loaded
   * @param terms the conditions that the draft does not contain
   */
  LoadedModel load(ModelDraft draft, List<LoadedModel> steps, LoadTerms terms) {
    long startNs = System.nanoTime();
    LoadedModel loaded =
        switch (draft) {
          case PluginDraft plugin -> new PluginLoader(runtime, plugins, terms).load(plugin);
          case ModelDraft.Partial partial -> complete(partial, steps, terms);
          default -> open(draft.complete(Optional.empty()), null, steps, terms);
        };
    if (terms.primary(loaded.spec()) != 0) {
      loaded.slots().hide();
    }
    if (plugins.hasCache() && asksCache(loaded)) {
      loaded.slots().submitAside();
    }
    return warmUp(loaded, draft.times(), startNs);
  }

  /** True if answers to requests may be in the cache. Requests of sequences stay in order. */
  private static boolean asksCache(LoadedModel loaded) {
    boolean asks =
        loaded.spec().responseCache() || loaded.steps().stream().anyMatch(ModelLoader::asksCache);
    return asks && !loaded.hasSequences();
  }

  private LoadedModel complete(
      ModelDraft.Partial partial, List<LoadedModel> steps, LoadTerms terms) {
    ModelSpec opening = partial.opening();
    Optional<Backend> javaBackend = BackendFinder.find(opening, plugins);
    if (javaBackend.isPresent()) {
      try {
        Optional<ModelSignature> told = describe(javaBackend.get(), opening);
        return open(partial.complete(told), null, steps, terms);
      } finally {
        javaBackend.get().loadEnded(opening);
      }
    }
    try (SourceHandle source = openSource(opening, terms)) {
      return open(partial.complete(signature(opening, source)), source, steps, terms);
    }
  }

  /** The tensors that a model declares, and for a model in a JVM of its own the largest batch. */
  private static Optional<ModelSignature> signature(ModelSpec opening, SourceHandle source) {
    Optional<ModelSignature> told = source.signature();
    if (!BackendFinder.isIsolated(opening)) {
      return told;
    }
    long most = ChildFacts.of(opening, source).maxBatchSize();
    return told.map(tensors -> new ModelSignature(tensors.inputs(), tensors.outputs(), most));
  }

  /** Has a backend of the core open a model whose configuration has gaps. */
  private SourceHandle openSource(ModelSpec opening, LoadTerms terms) {
    try (Arena arena = Arena.ofConfined()) {
      BackendRecord backend = BackendFinder.ofCore(arena, runtime, opening);
      ModelOptionsRecord options =
          ModelOptionsRecord.write(arena, opening, 1, backend, coreParameters(opening, terms));
      return runtime.use(handle -> SourceHandle.open(handle, options));
    }
  }

  /** The parameters for a backend of the core, with facts about this process. */
  private Map<String, String> coreParameters(ModelSpec spec, LoadTerms terms) {
    Map<String, String> parameters = new HashMap<>(spec.parameters());
    if (parameters.containsKey(Isolation.PARAMETER) && Isolation.isWanted(spec)) {
      Isolation.addParameters(runtime, spec, BackendFinder.nameInCore(spec), parameters);
    }
    if (BackendFinder.isIsolated(spec)) {
      ChildJvm.addParameters(spec, runtime.settings().nativePath(), parameters);
    }
    if (!spec.backendName().equals(ONNXRUNTIME)) {
      return parameters;
    }
    terms.addParameters(spec, parameters);
    parameters.computeIfAbsent(
        ONNXRUNTIME_PATH,
        key -> LibraryFiles.onnxruntime(runtime.settings().onnxruntimePath()).toString());
    // The JVM knows a container's share of the processors, which the library would not see.
    if (!parameters.containsKey(Isolation.CPUS) || !Isolation.isWanted(spec)) {
      parameters.putIfAbsent(
          SHARED_THREAD_COUNT, Integer.toString(Runtime.getRuntime().availableProcessors()));
    }
    return parameters;
  }

  private static Optional<ModelSignature> describe(Backend backend, ModelSpec opening) {
    try {
      return backend.describe(opening);
    } catch (NereidException e) {
      throw e;
    } catch (Exception | LinkageError e) {
      throw new NereidException(
          StatusCode.INTERNAL, "the backend failed to describe model '" + opening.name() + "'", e);
    }
  }

  private LoadedModel warmUp(LoadedModel loaded, LoadTimes reading, long startNs) {
    long openedNs = System.nanoTime();
    boolean warm = false;
    try {
      warmUp.accept(loaded);
      warm = true;
    } finally {
      if (!warm) {
        loaded.retire(Checks.deadlineNs(Duration.ZERO), false, () -> {});
      }
    }
    loaded.took(
        reading.withLoading(
            Duration.ofNanos(openedNs - startNs), Duration.ofNanos(System.nanoTime() - openedNs)));
    return loaded;
  }

  private LoadedModel open(
      ModelDraft.Whole draft, SourceHandle source, List<LoadedModel> steps, LoadTerms terms) {
    ModelSpec spec = draft.spec();
    terms.check(spec);
    warnOfCache(runtime, plugins, spec);
    return spec.ensemble().isPresent()
        ? openEnsemble(draft, steps)
        : openBackend(draft, source, terms);
  }

  static void warnOfCache(NativeRuntime runtime, PluginRuntime plugins, ModelSpec spec) {
    boolean cache = runtime.settings().cacheByteLimit() > 0 || plugins.hasCache();
    if (spec.responseCache() && !cache) {
      CoreLog.LOGGER.log(
          Level.WARNING,
          "model ''{0}'' asks for the response cache, which has no memory: nothing is cached; set"
              + " NereidOptions.cacheByteLimit",
          spec.name());
    }
  }

  private LoadedModel openEnsemble(ModelDraft.Whole draft, List<LoadedModel> steps) {
    try (Arena arena = Arena.ofConfined()) {
      boolean decoupled = steps.stream().anyMatch(step -> step.spec().decoupled());
      ModelDraft.Whole served = draft.withDecoupled(decoupled);
      ModelSpec spec = EnsembleGraph.labelled(served.spec(), steps);
      Isolation.refuse(spec, "it is an ensemble, whose steps' models may be isolated");
      if (spec.objective().isPresent()) {
        throw Signature.invalid(
            "ensemble '" + spec.name() + "' cannot have an objective: its steps' models have them");
      }
      if (!spec.batcherName().isEmpty()) {
        throw Signature.invalid(
            "ensemble '" + spec.name() + "' cannot have a batcher: its steps' models batch");
      }
      ModelOptionsRecord options =
          ModelOptionsRecord.write(arena, spec, 1, null, spec.parameters());
      EnsembleGraph.of(spec, steps).write(options);
      return new LoadedModel(
          runtime,
          new Signature(spec, steps.stream().anyMatch(LoadedModel::takesValues)),
          served.served(),
          load(options, null),
          LoadedModel.Backing.NONE,
          Placements.NO_DEVICE,
          steps);
    }
  }

  private LoadedModel openBackend(ModelDraft.Whole draft, SourceHandle source, LoadTerms terms) {
    ModelSpec spec = draft.spec();
    if (!BackendFinder.isIsolated(spec)) {
      return openBackend(draft, source, Optional.empty(), terms);
    }
    // The process must know the number of instances first, so it opens the model before.
    try (SourceHandle opened = source == null ? openSource(spec, terms) : source) {
      return openBackend(draft, opened, Optional.of(ChildFacts.of(spec, opened)), terms);
    }
  }

  private LoadedModel openBackend(
      ModelDraft.Whole draft, SourceHandle source, Optional<ChildFacts> child, LoadTerms terms) {
    ModelSpec spec = draft.spec();
    Signature signature = new Signature(spec, child.isPresent());
    Optional<Backend> javaBackend = BackendFinder.find(spec, plugins);
    List<Integer> devices =
        child
            .map(ChildFacts::devices)
            .orElseGet(() -> javaBackend.map(Backend::devices).orElse(List.of()));
    int batchesInFlight =
        child
            .map(ChildFacts::batchesInFlight)
            .orElseGet(() -> javaBackend.map(backend -> backend.batchesInFlight(spec)).orElse(1));
    List<InstancePlacement> placements =
        Placements.of(spec.instanceGroups(), false, devices, batchesInFlight);
    if (devices.isEmpty()) {
      Placements.warnOfGpus(spec);
    }
    if (child.isEmpty()) {
      Placements.firstGpu(placements, devices).ifPresent(runtime::pageLock);
    }
    long number =
        javaBackend
            .map(backend -> JavaBackends.add(backend, signature, runtime.slots(), placements))
            .orElse(0L);
    long batcher =
        BackendFinder.findBatcher(spec)
            .map(found -> JavaBatcher.add(found, signature, runtime.slots()))
            .orElse(0L);
    boolean open = false;
    try (Arena arena = Arena.ofConfined()) {
      BackendRecord table =
          javaBackend
              .map(backend -> JavaBackends.record(arena, number, backend))
              .orElseGet(() -> BackendFinder.ofCore(arena, runtime, spec));
      Map<String, String> parameters =
          javaBackend.isPresent() ? spec.parameters() : coreParameters(spec, terms);
      ModelOptionsRecord options =
          ModelOptionsRecord.write(arena, spec, placements.size(), table, parameters);
      int priority = terms.priority(spec, javaBackend.isPresent());
      options.instances(InstanceOptions.of(placements, runtime.settings(), priority));
      options.batcher(batcher);
      ObjectiveOptions.add(options, spec, placements, terms.learned());
      ModelHandle handle = loadBackend(options, source, number);
      int tensorDevice =
          javaBackend
              .filter(backend -> backend.takesDeviceTensors() && !spec.isGathered())
              .map(backend -> Placements.onlyGpu(placements))
              .orElse(Placements.NO_DEVICE);
      LoadedModel loaded =
          new LoadedModel(
              runtime,
              signature,
              draft.served(),
              handle,
              new LoadedModel.Backing(number, batcher, Optional.empty()),
              tensorDevice,
              List.of());
      open = true;
      return loaded;
    } finally {
      if (!open) {
        JavaBackends.remove(number);
        BatcherUpcalls.remove(batcher);
      }
    }
  }

  /** Loads the model; if a backend in Java threw an exception, that is the cause of the failure. */
  private ModelHandle loadBackend(
      ModelOptionsRecord options, SourceHandle source, long javaBackend) {
    try {
      return load(options, source);
    } catch (NereidException e) {
      Throwable cause = JavaBackends.failure(javaBackend);
      if (cause != null) {
        e.initCause(cause);
      }
      throw e;
    }
  }

  /** Hands the source over to the core, even when this throws. */
  private ModelHandle load(ModelOptionsRecord options, SourceHandle source) {
    return runtime.use(handle -> ModelHandle.load(handle, options, source));
  }
}
