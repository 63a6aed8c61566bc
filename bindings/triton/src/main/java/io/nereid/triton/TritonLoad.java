package io.nereid.triton;

import io.nereid.internal.config.PluginConfig;
import io.nereid.internal.config.PluginDraft;
import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.model.PluginRuntime;
import io.nereid.model.InstancePlacement;
import io.nereid.types.NereidException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** A load of a model by a plug-in. The loading thread makes it; {@link #close} is the last call. */
final class TritonLoad implements PluginRuntime.Load {

  private static final String MODEL_PY = "model.py";

  /** The number of the load in a process that has no other. */
  private static final long ONLY = 1;

  private final TritonPlugins plugins;
  private final PluginSearch.Backend found;
  private final Optional<TritonPlugins.Lease> lease; // empty: another process loads the plug-in
  private final Map<String, String> isolation = new HashMap<>(); // parameters of that process
  private final long number;

  TritonLoad(
      TritonPlugins plugins,
      PluginSearch.Backend found,
      Map<String, String> process,
      UnaryOperator<String> completed) {
    this.plugins = plugins;
    this.found = found;
    if (process.isEmpty()) {
      lease = Optional.of(plugins.lease(found));
      number = PluginUpcalls.addLoad(completed);
      return;
    }
    lease = Optional.empty();
    number = ONLY;
    isolation.putAll(process);
    isolation.putAll(plugins.libraries());
    isolation.put("isolation.plugin", found.library().toString());
    isolation.put("isolation.plugin_name", found.name());
    isolation.put("isolation.plugin_directory", found.directory().toString());
    plugins
        .settings(found.settings())
        .forEach((key, value) -> isolation.put("isolation.setting:" + key, value));
  }

  @Override
  public PluginConfig.Defaults defaults() {
    List<PluginConfig.Preferred> groups =
        lease.map(here -> here.handle().preferredGroups()).orElse(List.of());
    boolean python = !found.settings().equals(found.name());
    Path environment = found.directory().resolve("pb_exec_env_" + MODEL_PY + ".tar.gz");
    return new PluginConfig.Defaults(
        groups,
        plugins.gpus(),
        python ? MODEL_PY : "",
        python && Files.exists(environment)
            ? Map.of("EXECUTION_ENV_PATH", environment.toString())
            : Map.of());
  }

  @Override
  public BackendRecord table(Arena arena) {
    return lease.orElseThrow().handle().table(arena);
  }

  @Override
  public Map<String, String> parameters(
      PluginDraft draft,
      List<InstancePlacement> instances,
      Function<InstancePlacement, String> policy) {
    Map<String, String> parameters = new HashMap<>(isolation);
    parameters.put("nereid.load", Long.toString(number));
    parameters.put("nereid.config", draft.json());
    parameters.put("nereid.directory", draft.directory().toString());
    parameters.put("nereid.auto_complete", draft.autoComplete() ? "1" : "0");
    if (!instances.isEmpty()) {
      parameters.put("nereid.instances", PluginJson.instances(instances, policy));
      parameters.put("nereid.host_policies", PluginJson.policies(plugins.hostPolicies()));
    }
    return parameters;
  }

  @Override
  public void batcher(Arena arena, ModelOptionsRecord options) {
    if (lease.isPresent()) {
      PluginLibrary.batcher(arena, number, options);
    }
  }

  @Override
  public NereidException explained(NereidException failure) {
    return PluginSearch.explained(failure, found);
  }

  @Override
  public void checkReady() {
    if (lease.isPresent()) {
      PluginLibrary.checkReady(number);
    }
  }

  @Override
  public void giveUp() {
    if (lease.isPresent()) {
      PluginLibrary.giveUp(number);
    }
  }

  @Override
  public void close() {
    lease.ifPresent(here -> {
      PluginUpcalls.removeLoad(number);
      here.close();
    });
  }
}
