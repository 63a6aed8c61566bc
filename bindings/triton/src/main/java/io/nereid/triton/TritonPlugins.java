package io.nereid.triton;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.JsonText;
import io.nereid.internal.config.ReadOptions;
import io.nereid.internal.cuda.CudaDevice;
import io.nereid.internal.cuda.CudaDriver;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.loader.LibraryFiles;
import io.nereid.internal.model.PluginService;
import io.nereid.internal.request.Diagnostics;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.model.HostPolicy;
import io.nereid.model.PluginOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * The plug-ins of one runtime that were made for Triton. Their library is loaded when the first is
 * needed. In a process one runtime at a time has plug-ins, since their calls of the server go to
 * one.
 */
final class TritonPlugins implements PluginService {

  /** The least compute capability of GPUs for Triton, unless a setting changes it. */
  private static final String LEAST_CAPABILITY = "6.0";

  /** The runtime that has plug-ins. */
  @GuardedBy("TritonPlugins.class")
  private static TritonPlugins active;

  private final PluginOptions options;
  private final PluginSearch search;
  private Owner owner;
  private NativeRuntime runtime;
  private PluginCacheHandle cache; // null: none

  @GuardedBy("this")
  private boolean started;

  /** Repository agents by name. */
  @GuardedBy("this")
  private final Map<String, PluginAgentHandle> agents = new HashMap<>();

  /** Backends in use by their libraries. */
  @GuardedBy("leases")
  private final Map<PluginSearch.Backend, Lease> leases = new HashMap<>();

  private TritonPlugins(PluginOptions options) {
    this.options = options;
    search = new PluginSearch(options);
  }

  /** Opens plug-ins for the runtime, which finds it by {@link java.util.ServiceLoader}. */
  public static final class Opener implements Provider {

    @Override
    public PluginService open(PluginOptions options) {
      return new TritonPlugins(options);
    }
  }

  @Override
  public PluginOptions options() {
    return options;
  }

  @Override
  public void attach(Owner owner) {
    this.owner = owner;
    runtime = owner.runtime();
  }

  /** Loads the library of all plug-ins, and makes them use this runtime. */
  private synchronized void start() {
    if (started) {
      return;
    }
    synchronized (TritonPlugins.class) {
      if (active != null) {
        throw new NereidException(
            StatusCode.FAILED_PRECONDITION,
            "another Nereid of this process has plug-ins of Triton, which only one can have at a"
                + " time: close it first");
      }
      PluginLibrary.load(LibraryFiles.pluginLibrary(runtime.settings().nativePath()));
      PluginUpcalls.answer(new PluginHost(owner));
      runtime.use(handle -> {
        PluginLibrary.start(handle, Diagnostics.CHECKED, CudaDriver.isPresent());
        return null;
      });
      active = this;
    }
    PluginLibrary.logLevel(logLevel(), CoreLog.LOGGER.isLoggable(Level.DEBUG) ? 1 : 0);
    started = true;
  }

  private static int logLevel() {
    if (CoreLog.LOGGER.isLoggable(Level.DEBUG)) {
      return 3;
    }
    return CoreLog.LOGGER.isLoggable(Level.INFO) ? 2 : 1;
  }

  // ---- Backends --------------------------------------------------------------------------------

  /** One use of a backend; the backend closes with its last use. */
  static final class Lease {
    private static final int CLOSING = -1;

    private final TritonPlugins plugins;
    private final PluginSearch.Backend found;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private int users; // guarded by the plug-ins' leases

    @GuardedBy("this")
    private PluginBackendHandle handle;

    Lease(TritonPlugins plugins, PluginSearch.Backend found) {
      this.plugins = plugins;
      this.found = found;
    }

    synchronized PluginBackendHandle handle() {
      if (handle == null) {
        handle =
            PluginBackendHandle.open(
                found.name(),
                found.directory().toString(),
                found.library().toString(),
                PythonMemory.named(found.name(), plugins.settings(found.settings())));
      }
      return handle;
    }

    void close() {
      synchronized (plugins.leases) {
        if (--users > 0) {
          return;
        }
        users = CLOSING;
      }
      try {
        finish();
      } finally {
        synchronized (plugins.leases) {
          plugins.leases.remove(found);
        }
        closed.complete(null);
      }
    }

    private synchronized void finish() {
      if (handle != null) {
        handle.close();
        handle = null;
        warnOfHandles(found.name());
      }
    }
  }

  @Override
  public Optional<Path> find(Model model) {
    return search.find(model).map(PluginSearch.Backend::library);
  }

  @Override
  public String missing(Model model) {
    return search.missing(model);
  }

  @Override
  public Load load(Model model, Map<String, String> process, UnaryOperator<String> completed) {
    PluginSearch.Backend found =
        search
            .find(model)
            .orElseThrow(() ->
                new NereidException(
                    StatusCode.NOT_FOUND,
                    "unable to find the plug-in for backend '%s' of model '%s': %s"
                        .formatted(model.backend(), model.name(), search.missing(model))));
    return new TritonLoad(this, found, process, completed);
  }

  /**
   * Returns a use of a backend, which the caller closes; loads the backend's library if necessary.
   */
  Lease lease(PluginSearch.Backend found) {
    start();
    Lease lease = use(found);
    try {
      lease.handle();
      return lease;
    } catch (Throwable t) {
      lease.close();
      throw t;
    }
  }

  /**
   * Counts a use. A backend that closes is waited for: until its library is unloaded, the system
   * would load the same one again, with what the plug-in left in its variables.
   */
  private Lease use(PluginSearch.Backend found) {
    while (true) {
      Lease lease;
      synchronized (leases) {
        lease = leases.computeIfAbsent(found, made -> new Lease(this, made));
        if (lease.users != Lease.CLOSING) {
          lease.users++;
          return lease;
        }
      }
      lease.closed.join();
    }
  }

  /** The settings of a backend: those for all backends, overridden by its own. */
  Map<String, String> settings(String backend) {
    Map<String, String> settings = new HashMap<>();
    settings.put("auto-complete-config", Boolean.toString(owner.options().autoComplete()));
    settings.put("backend-directory", options.backendDirectory().toString());
    settings.put("default-max-batch-size", Integer.toString(owner.options().defaultMaxBatchSize()));
    settings.put("min-compute-capability", LEAST_CAPABILITY);
    settings.putAll(options.backends().getOrDefault("", Map.of()));
    settings.putAll(options.backends().getOrDefault(backend, Map.of()));
    settings.remove(PluginOptions.IMPLEMENTATION);
    return settings;
  }

  /** The paths of the libraries that run a plug-in in a separate process. */
  Map<String, String> libraries() {
    Optional<Path> named = runtime.settings().nativePath();
    return Map.of(
        "isolation.core", LibraryFiles.nativeLibrary(named).toString(),
        "isolation.triton", LibraryFiles.pluginLibrary(named).toString());
  }

  /** The host policies of the server by name. */
  Map<String, HostPolicy> hostPolicies() {
    return runtime.settings().hostPolicies();
  }

  /** The GPUs that plug-ins may use. */
  List<Integer> gpus() {
    if (!CudaDriver.isPresent()) {
      return List.of();
    }
    String least = settings("").get("min-compute-capability");
    double capability;
    try {
      capability = Double.parseDouble(least);
    } catch (NumberFormatException e) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "expected min-compute-capability as a number such as 6.0, got '" + least + "'");
    }
    return CudaDriver.instance().devices().stream()
        .filter(device -> device.major() + device.minor() / 10.0 >= capability)
        .map(CudaDevice::number)
        .toList();
  }

  private static void warnOfHandles(String backend) {
    String owner = " of backend '" + backend + "'";
    List<String> left =
        PluginLibrary.handles().lines().filter(line -> line.endsWith(owner)).toList();
    if (!left.isEmpty()) {
      CoreLog.LOGGER.log(Level.WARNING, "unloaded, but it still holds: " + String.join(", ", left));
    }
  }

  // ---- Repository agents -----------------------------------------------------------------------

  @Override
  public Path agentLibrary(String name) {
    return search.agent(name);
  }

  @Override
  public Agent agent(ReadOptions.Agent agent, String model, String config, Path location) {
    return agent(agent.name()).open(model, config, location, agent.parameters());
  }

  /** A repository agent, which stays open from the first use until the runtime is closed. */
  private synchronized PluginAgentHandle agent(String name) {
    return agents.computeIfAbsent(
        name,
        added -> {
          Path library = search.agent(name);
          start();
          return PluginAgentHandle.open(name, library.toString());
        });
  }

  // ---- Caches and figures ----------------------------------------------------------------------

  @Override
  public void openCache() {
    for (Map.Entry<String, Map<String, String>> wanted : options.caches().entrySet()) {
      Path library = search.cache(wanted.getKey());
      start();
      Map<String, String> settings = new HashMap<>(wanted.getValue());
      settings.remove(PluginOptions.IMPLEMENTATION);
      cache =
          runtime.use(handle ->
              PluginCacheHandle.use(
                  handle, wanted.getKey(), library.toString(), JsonText.of(settings)));
    }
  }

  @Override
  public boolean hasCache() {
    return cache != null;
  }

  @Override
  public String metrics() {
    synchronized (this) {
      if (!started) {
        return "";
      }
    }
    return PluginLibrary.metrics();
  }

  @Override
  public synchronized void close() {
    if (!started) {
      return;
    }
    started = false;
    agents.values().forEach(PluginAgentHandle::close);
    agents.clear();
    if (cache != null) {
      cache.close();
    }
    PluginUpcalls.answer(null);
    synchronized (TritonPlugins.class) {
      active = null;
    }
  }
}
