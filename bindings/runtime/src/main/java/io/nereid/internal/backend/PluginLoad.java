package io.nereid.internal.backend;

import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.ModelOptionsRecord;
import io.nereid.internal.ffi.PluginBackendHandle.PreferredGroup;
import io.nereid.internal.ffi.PluginLibrary;
import io.nereid.internal.ffi.PluginUpcalls;
import io.nereid.model.HostPolicy;
import io.nereid.model.InstancePlacement;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** A load of a model by a plug-in. The thread that loads makes it; closing it comes last. */
public final class PluginLoad implements AutoCloseable {

  private static final String MODEL_PY = "model.py";

  /** The number of the load in a process that has no other. */
  private static final long ONLY = 1;

  private final PluginRuntime plugins;
  private final PluginSearch.Backend found;
  private final Optional<PluginRuntime.Lease> lease; // empty: another process loads the plug-in
  private final Map<String, String> isolation;
  private final long number;

  private PluginLoad(
      PluginRuntime plugins,
      PluginSearch.Backend found,
      Optional<PluginRuntime.Lease> lease,
      Map<String, String> isolation,
      long number) {
    this.plugins = plugins;
    this.found = found;
    this.lease = lease;
    this.isolation = isolation;
    this.number = number;
  }

  /**
   * Begins a load; the backend's library is loaded where that was not so.
   *
   * @param completed takes the configuration that the backend completes, and gives it with all
   *     defaults
   */
  public static PluginLoad begin(
      PluginRuntime plugins, PluginSearch.Backend found, UnaryOperator<String> completed) {
    PluginRuntime.Lease lease = plugins.lease(found);
    try {
      lease.handle();
      long number = PluginUpcalls.addLoad(completed);
      return new PluginLoad(plugins, found, Optional.of(lease), Map.of(), number);
    } catch (Throwable t) {
      lease.close();
      throw t;
    }
  }

  /**
   * Begins a load by a process of the model's own, which is the only one to load the plug-in.
   *
   * @param process what that process is started with
   */
  public static PluginLoad isolated(
      PluginRuntime plugins, PluginSearch.Backend found, Map<String, String> process) {
    Map<String, String> parameters = new HashMap<>(process);
    parameters.putAll(plugins.libraries());
    parameters.put("isolation.plugin", found.library().toString());
    parameters.put("isolation.plugin_name", found.name());
    parameters.put("isolation.plugin_directory", found.directory().toString());
    plugins
        .settings(found.settings())
        .forEach((key, value) -> parameters.put("isolation.setting:" + key, value));
    return new PluginLoad(plugins, found, Optional.empty(), parameters, ONLY);
  }

  /** The groups of instances that the backend prefers, where it can be asked. */
  public List<PreferredGroup> preferredGroups() {
    return lease.map(PluginRuntime.Lease::handle).stream()
        .flatMap(handle -> handle.preferredGroups().stream())
        .toList();
  }

  /** The GPUs that instances may have. */
  public List<Integer> gpus() {
    return plugins.gpus();
  }

  /** The value of {@code runtime} in a configuration that sets none. */
  public String runtime() {
    return found.settings().equals(found.name()) ? "" : MODEL_PY;
  }

  /** Parameters that the configuration gets where they are not there. */
  public Map<String, String> parameters() {
    Path environment = found.directory().resolve("pb_exec_env_" + runtime() + ".tar.gz");
    return runtime().isEmpty() || !Files.exists(environment)
        ? Map.of()
        : Map.of("EXECUTION_ENV_PATH", environment.toString());
  }

  /** The backend's functions, in memory of the arena. */
  public BackendRecord table(Arena arena) {
    return lease
        .map(here -> here.handle().table(arena))
        .orElseGet(() -> plugins.isolatedTable(arena));
  }

  /** The parameters for the backend when it opens the model, before instances are known. */
  public Map<String, String> opening(String config, Path directory, boolean autoComplete) {
    Map<String, String> parameters = new HashMap<>(isolation);
    parameters.put("nereid.load", Long.toString(number));
    parameters.put("nereid.config", config);
    parameters.put("nereid.directory", directory.toString());
    parameters.put("nereid.auto_complete", autoComplete ? "1" : "0");
    return parameters;
  }

  /** Adds the instances to the parameters for opening the model. */
  public static Map<String, String> withInstances(
      Map<String, String> opening,
      List<InstancePlacement> placements,
      Function<InstancePlacement, String> policy,
      Map<String, HostPolicy> policies) {
    Map<String, String> parameters = new HashMap<>(opening);
    parameters.put("nereid.instances", PluginJson.instances(placements, policy));
    parameters.put("nereid.host_policies", PluginJson.policies(policies));
    return parameters;
  }

  /** Lets the backend say which requests go together, where it does. */
  public void batcher(Arena arena, ModelOptionsRecord options) {
    if (lease.isPresent()) {
      PluginLibrary.batcher(arena, number, options);
    }
  }

  /** Fails what the backend still has, after draining took too long. */
  public void giveUp() {
    if (lease.isPresent()) {
      PluginLibrary.giveUp(number);
    }
  }

  /** Throws when an instance says that it is not ready. */
  public void checkReady() {
    if (lease.isPresent()) {
      PluginLibrary.checkReady(number);
    }
  }

  /** The model is closed, or could not be opened. */
  @Override
  public void close() {
    lease.ifPresent(here -> {
      PluginUpcalls.removeLoad(number);
      here.close();
    });
  }
}
