package io.nereid.internal.model;

import io.nereid.internal.backend.JavaBatcher;
import io.nereid.internal.backend.PluginLoad;
import io.nereid.internal.backend.PluginRuntime;
import io.nereid.internal.backend.PluginSearch;
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
import io.nereid.model.InstanceGroup;
import io.nereid.model.InstancePlacement;
import io.nereid.model.ModelSpec;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Loads one model that a plug-in runs. */
final class PluginLoader {

  /** Triton's plug-ins number the kinds in this order. */
  private static final InstanceGroup.Kind[] KINDS = {
    InstanceGroup.Kind.AUTO,
    InstanceGroup.Kind.CPU,
    InstanceGroup.Kind.GPU,
    InstanceGroup.Kind.MODEL
  };

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
    PluginSearch.Backend found = find(read);
    PluginLoad load =
        Isolation.isWanted(read.opening())
            ? PluginLoad.isolated(
                plugins, found, Isolation.pluginParameters(runtime, read.opening()))
            : PluginLoad.begin(plugins, found, this::completed);
    boolean open = false;
    try (Arena arena = Arena.ofConfined()) {
      draft = read.prepared(defaults(load));
      Map<String, String> opening =
          load.opening(draft.json(), read.directory(), read.autoComplete());
      BackendRecord table = load.table(arena);
      ModelOptionsRecord options =
          ModelOptionsRecord.write(arena, read.opening(), 1, table, opening);
      try (SourceHandle source = runtime.use(handle -> SourceHandle.open(handle, options))) {
        source.completed().ifPresent(this::completed);
        LoadedModel loaded = open(arena, load, table, opening, source);
        open = true;
        return loaded;
      }
    } catch (NereidException e) {
      throw PluginSearch.explained(e, found);
    } finally {
      if (!open) {
        load.close();
      }
    }
  }

  private PluginSearch.Backend find(PluginDraft read) {
    PluginSearch.Model model =
        new PluginSearch.Model(
            read.name(),
            read.opening().backendName(),
            Optional.of(read.directory()),
            read.version(),
            read.runtime());
    return plugins
        .search()
        .find(model)
        .orElseThrow(() ->
            new NereidException(
                StatusCode.NOT_FOUND,
                "unable to find the plug-in for backend '%s' of model '%s': %s"
                    .formatted(model.backend(), model.name(), plugins.search().missing(model))));
  }

  private static PluginConfig.Defaults defaults(PluginLoad load) {
    List<PluginConfig.Preferred> groups =
        load.preferredGroups().stream()
            .map(group -> new PluginConfig.Preferred(KINDS[group.kind()], group.count()))
            .toList();
    return new PluginConfig.Defaults(groups, load.gpus(), load.runtime(), load.parameters());
  }

  /** Called by the plug-in, or when an isolated one has opened the model. */
  private String completed(String json) {
    draft = draft.completed(json);
    return draft.json();
  }

  private LoadedModel open(
      Arena arena,
      PluginLoad load,
      BackendRecord table,
      Map<String, String> opening,
      SourceHandle source) {
    ModelDraft.Whole whole = draft.complete(Optional.empty());
    ModelSpec spec = whole.spec();
    terms.check(spec);
    ModelLoader.warnOfCache(runtime, plugins, spec);
    Signature signature = new Signature(spec, true);
    List<Integer> gpus = load.gpus();
    List<InstancePlacement> placements = Placements.of(spec.instanceGroups(), false, gpus, 1);
    List<InstancePlacement> all = new ArrayList<>(placements);
    all.addAll(Placements.of(spec.instanceGroups(), true, gpus, 1));
    OptionalInt gpu = Placements.firstGpu(all, gpus);
    if (!Isolation.isWanted(spec)) {
      gpu.ifPresent(runtime::pageLock);
    }
    Map<String, String> parameters =
        PluginLoad.withInstances(
            opening, all, InstanceOptions::policy, runtime.settings().hostPolicies());
    parameters.put("nereid.config", draft.json());
    ModelOptionsRecord options =
        ModelOptionsRecord.write(arena, spec, placements.size(), table, parameters);
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
