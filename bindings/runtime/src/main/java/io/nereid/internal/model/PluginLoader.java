package io.nereid.internal.model;

import io.nereid.internal.backend.JavaBatcher;
import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.config.PluginConfig;
import io.nereid.internal.config.PluginDraft;
import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.BatcherUpcalls;
import io.nereid.internal.ffi.ModelHandle;
import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.ffi.SourceHandle;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.internal.request.Signature;
import io.nereid.model.InstancePlacement;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Loads one model that a plug-in runs. */
final class PluginLoader {

  private final NativeRuntime runtime;
  private final PluginRuntime plugins;
  private final LoadTerms terms;

  /**
   * The draft that the backend completes while it opens the model. Written by the thread on which
   * the backend calls.
   */
  private volatile PluginDraft draft;

  PluginLoader(NativeRuntime runtime, PluginRuntime plugins, LoadTerms terms) {
    this.runtime = runtime;
    this.plugins = plugins;
    this.terms = terms;
  }

  LoadedModel load(PluginDraft read) {
    ModelSpec opening = read.opening();
    PluginRuntime.Model model =
        new PluginRuntime.Model(
            read.name(),
            opening.backendName(),
            Optional.of(read.directory()),
            read.version(),
            read.runtime());
    boolean isolated = Isolation.isWanted(opening);
    PluginRuntime.Load load =
        plugins.load(
            model,
            isolated ? Isolation.pluginParameters(runtime, opening) : Map.of(),
            this::completed);
    boolean open = false;
    try (Arena arena = Arena.ofConfined()) {
      PluginConfig.Defaults defaults = load.defaults();
      draft = read.prepared(defaults);
      BackendRecord table =
          isolated
              ? Isolation.backend(arena, runtime, opening, Isolation.PLUGIN)
              : load.table(arena);
      ModelOptionsRecord options =
          ModelOptionsRecord.write(arena, opening, 1, table, parameters(load, List.of()));
      try (SourceHandle source = runtime.use(handle -> SourceHandle.open(handle, options))) {
        source.completed().ifPresent(this::completed);
        LoadedModel loaded = open(arena, load, table, defaults.gpus(), source);
        open = true;
        return loaded;
      }
    } catch (NereidException e) {
      throw load.explained(e);
    } finally {
      if (!open) {
        load.close();
      }
    }
  }

  private Map<String, String> parameters(
      PluginRuntime.Load load, List<InstancePlacement> instances) {
    return load.parameters(draft, instances, InstanceOptions::policy);
  }

  /** Takes the completed configuration from the plug-in, in this process or an isolated one. */
  private String completed(String json) {
    draft = draft.completed(json);
    return draft.json();
  }

  private LoadedModel open(
      Arena arena,
      PluginRuntime.Load load,
      BackendRecord table,
      List<Integer> gpus,
      SourceHandle source) {
    ModelDraft.Whole whole = draft.complete(Optional.empty());
    ModelSpec spec = whole.spec();
    terms.check(spec);
    ModelLoader.warnOfCache(runtime, plugins, spec);
    Signature signature = new Signature(spec, true);
    List<InstancePlacement> placements = Placements.of(spec.instanceGroups(), false, gpus, 1);
    List<InstancePlacement> all = new ArrayList<>(placements);
    all.addAll(Placements.of(spec.instanceGroups(), true, gpus, 1));
    OptionalInt gpu = Placements.firstGpu(all, gpus);
    if (!Isolation.isWanted(spec)) {
      gpu.ifPresent(runtime::pageLock);
    }
    ModelOptionsRecord options =
        ModelOptionsRecord.write(arena, spec, placements.size(), table, parameters(load, all));
    options.instances(
        InstanceOptions.of(placements, runtime.settings(), terms.priority(spec, false)));
    ObjectiveOptions.add(options, spec, placements, terms.learned());
    long batcher =
        BackendFinder.findBatcher(spec)
            .map(found -> JavaBatcher.add(found, signature, runtime.slots()))
            .orElse(0L);
    if (batcher == 0) {
      load.batcher(arena, options);
    } else {
      options.batcher(batcher);
    }
    try {
      ModelHandle handle = runtime.use(core -> ModelHandle.load(core, options, source));
      LoadedModel.Backing backing = new LoadedModel.Backing(0, batcher, Optional.of(load));
      return new LoadedModel(
          runtime, signature, whole.served(), handle, backing, Placements.NO_DEVICE, List.of());
    } catch (Throwable t) {
      BatcherUpcalls.remove(batcher);
      throw t;
    }
  }
}
