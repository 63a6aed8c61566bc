package io.nereid;

import io.nereid.backend.Backend;
import io.nereid.internal.Checks;
import io.nereid.internal.backend.JavaBackends;
import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.ffi.ModelHandle;
import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.ffi.SourceHandle;
import io.nereid.internal.repository.CompletedModel;
import io.nereid.internal.repository.ModelDraft;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.internal.request.Signature;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Loads models: lets a model tell what its configuration leaves out, opens its backend, and warms
 * it up.
 */
final class ModelLoader {

  /** A model that can take requests. */
  record Result(LoadedModel model, ModelConfiguration configuration, LoadTimes times) {}

  /** Instances run on the processor, or on several GPUs. */
  private static final int NO_DEVICE = -1;

  private final NativeRuntime runtime;
  private final ModelTable models;

  /** The models are those that ensembles find their steps in. */
  ModelLoader(NativeRuntime runtime, ModelTable models) {
    this.runtime = runtime;
    this.models = models;
  }

  Result load(ModelOrigin origin) {
    return switch (origin) {
      case ModelOrigin.Code code -> {
        ModelConfiguration configuration = ModelConfiguration.of(code.spec());
        yield load(new CompletedModel(code.spec(), configuration), null, 0, 0, System.nanoTime());
      }
      case ModelOrigin.Directory directory -> load(directory);
    };
  }

  private Result load(ModelOrigin.Directory directory) {
    ModelDraft draft = directory.draft();
    long startNs = System.nanoTime();
    if (!draft.needsSignature()) {
      CompletedModel model = draft.complete(Optional.empty());
      return load(model, null, directory.readNs(), directory.parseNs(), startNs);
    }
    Optional<Backend> javaBackend = BackendFinder.find(draft.opening());
    if (javaBackend.isPresent()) {
      try {
        CompletedModel model = draft.complete(describe(javaBackend.get(), draft.opening()));
        return load(model, null, directory.readNs(), directory.parseNs(), startNs);
      } finally {
        javaBackend.get().loadEnded(draft.opening());
      }
    }
    try (SourceHandle source = CoreBackends.open(runtime, draft.opening())) {
      CompletedModel model = draft.complete(source.signature());
      return load(model, source, directory.readNs(), directory.parseNs(), startNs);
    }
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

  private Result load(
      CompletedModel completed, SourceHandle source, long readNs, long parseNs, long startNs) {
    ModelSpec spec = completed.spec();
    LoadedModel loaded = open(spec, source);
    long openedNs = System.nanoTime();
    boolean warm = false;
    try {
      new WarmUpRunner(loaded).run();
      warm = true;
    } finally {
      if (!warm) {
        loaded.retire(Checks.deadlineNs(Duration.ZERO), false);
      }
    }
    LoadTimes times =
        new LoadTimes(
            Duration.ofNanos(readNs),
            Duration.ofNanos(parseNs),
            Duration.ofNanos(openedNs - startNs),
            Duration.ofNanos(System.nanoTime() - openedNs));
    return new Result(loaded, completed.configuration(), times);
  }

  private LoadedModel open(ModelSpec spec, SourceHandle source) {
    if (spec.responseCache() && runtime.settings().cacheByteLimit() == 0) {
      CoreLog.LOGGER.log(
          Level.WARNING,
          "model ''{0}'' asks for the response cache, which has no memory: nothing is cached; set"
              + " NereidOptions.cacheByteLimit",
          spec.name());
    }
    return spec.ensemble().isPresent() ? openEnsemble(spec) : openBackend(spec, source);
  }

  private LoadedModel openEnsemble(ModelSpec written) {
    List<LoadedModel> steps = new ArrayList<>();
    boolean open = false;
    try (Arena arena = Arena.ofConfined()) {
      written.ensemble().orElseThrow().steps().forEach(step -> steps.add(models.use(step)));
      ModelSpec spec = EnsemblePlan.labelled(written, steps);
      ModelOptionsRecord options =
          ModelOptionsRecord.write(arena, spec, 1, null, spec.parameters());
      EnsemblePlan.of(spec, steps).write(options);
      LoadedModel loaded =
          new LoadedModel(runtime, new Signature(spec), load(options, null), 0, NO_DEVICE, steps);
      open = true;
      return loaded;
    } finally {
      if (!open) {
        steps.forEach(LoadedModel::removeUser);
      }
    }
  }

  private LoadedModel openBackend(ModelSpec spec, SourceHandle source) {
    Signature signature = new Signature(spec);
    Optional<Backend> javaBackend = BackendFinder.find(spec);
    List<Integer> devices = javaBackend.map(Backend::devices).orElse(List.of());
    int batchesInFlight = javaBackend.map(backend -> backend.batchesInFlight(spec)).orElse(1);
    List<InstancePlacement> placements =
        InstancePlacement.of(spec.instanceGroups(), devices, batchesInFlight);
    if (devices.isEmpty()) {
      warnOfGpus(spec);
    }
    firstGpu(placements, devices).ifPresent(runtime::pageLock);
    long number =
        javaBackend
            .map(backend -> JavaBackends.add(backend, signature, runtime.slots(), placements))
            .orElse(0L);
    boolean open = false;
    try (Arena arena = Arena.ofConfined()) {
      BackendRecord table =
          javaBackend
              .map(backend -> JavaBackends.record(arena, number, backend))
              .orElseGet(() -> BackendRecord.get(arena, spec.backendName()));
      Map<String, String> parameters =
          javaBackend.isPresent() ? spec.parameters() : CoreBackends.parameters(runtime, spec);
      ModelOptionsRecord options =
          ModelOptionsRecord.write(arena, spec, placements.size(), table, parameters);
      ModelHandle handle = loadBackend(options, source, number);
      int tensorDevice =
          javaBackend
              .filter(Backend::takesDeviceTensors)
              .map(backend -> onlyGpu(placements))
              .orElse(NO_DEVICE);
      LoadedModel loaded =
          new LoadedModel(runtime, signature, handle, number, tensorDevice, List.of());
      open = true;
      return loaded;
    } finally {
      if (!open) {
        JavaBackends.remove(number);
      }
    }
  }

  /** A GPU that the instances use; the backend chooses for those that it places by itself. */
  private static OptionalInt firstGpu(List<InstancePlacement> placements, List<Integer> devices) {
    for (InstancePlacement placement : placements) {
      boolean chosen = placement.group().kind() == InstanceGroup.Kind.MODEL && !devices.isEmpty();
      if (chosen || placement.device().isPresent()) {
        return OptionalInt.of(placement.device().orElseGet(devices::getFirst));
      }
    }
    return OptionalInt.empty();
  }

  /** The GPU that all instances run on. */
  private static int onlyGpu(List<InstancePlacement> placements) {
    int[] gpus =
        placements.stream()
            .mapToInt(placement -> placement.device().orElse(NO_DEVICE))
            .distinct()
            .toArray();
    return gpus.length == 1 ? gpus[0] : NO_DEVICE;
  }

  private static void warnOfGpus(ModelSpec spec) {
    for (InstanceGroup group : spec.instanceGroups()) {
      if (group.kind() == InstanceGroup.Kind.GPU) {
        CoreLog.LOGGER.log(
            Level.WARNING,
            "model ''{0}'' asks for GPUs in instance group ''{1}'', but its backend runs on the"
                + " processor: the instances run there",
            spec.name(),
            group.name());
      }
    }
  }

  /** What a backend in Java threw is the cause of the failure. */
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

  /** The core owns the source from here on, also when this throws. */
  private ModelHandle load(ModelOptionsRecord options, SourceHandle source) {
    return runtime.use(handle -> ModelHandle.load(handle, options, source));
  }
}
