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
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** A load of a model by a plug-in. The thread that loads makes it; closing it comes last. */
public final class PluginLoad implements AutoCloseable {

  private static final String MODEL_PY = "model.py";

  private final PluginRuntime plugins;
  private final PluginSearch.Backend found;
  private final PluginRuntime.Lease lease;
  private final long number;

  private PluginLoad(
      PluginRuntime plugins,
      PluginSearch.Backend found,
      PluginRuntime.Lease lease,
      UnaryOperator<String> completed) {
    this.plugins = plugins;
    this.found = found;
    this.lease = lease;
    number = PluginUpcalls.addLoad(completed);
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
      return new PluginLoad(plugins, found, lease, completed);
    } catch (Throwable t) {
      lease.close();
      throw t;
    }
  }

  /** The groups of instances that the backend prefers. */
  public List<PreferredGroup> preferredGroups() {
    return lease.handle().preferredGroups();
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
    return lease.handle().table(arena);
  }

  /** The parameters for the backend when it opens the model, before instances are known. */
  public Map<String, String> opening(String config, Path directory, boolean autoComplete) {
    Map<String, String> parameters = new HashMap<>();
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
    PluginLibrary.batcher(arena, number, options);
  }

  /** Fails what the backend still has, after draining took too long. */
  public void giveUp() {
    PluginLibrary.giveUp(number);
  }

  /** Throws when an instance says that it is not ready. */
  public void checkReady() {
    PluginLibrary.checkReady(number);
  }

  /** The model is closed, or could not be opened. */
  @Override
  public void close() {
    PluginUpcalls.removeLoad(number);
    lease.close();
  }
}
