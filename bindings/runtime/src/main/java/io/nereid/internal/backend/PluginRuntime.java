package io.nereid.internal.backend;

import io.nereid.internal.JsonText;
import io.nereid.internal.cuda.CudaDevice;
import io.nereid.internal.cuda.CudaDriver;
import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.ffi.PluginAgentHandle;
import io.nereid.internal.ffi.PluginBackendHandle;
import io.nereid.internal.ffi.PluginCacheHandle;
import io.nereid.internal.ffi.PluginLibrary;
import io.nereid.internal.ffi.PluginUpcalls;
import io.nereid.internal.loader.LibraryFiles;
import io.nereid.internal.request.Diagnostics;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.model.PluginOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The plug-ins of one runtime that were made for Triton. Their library is loaded when the first is
 * needed. In a process one runtime at a time has plug-ins, since what they ask of the server goes
 * to one.
 */
public final class PluginRuntime implements AutoCloseable {

  /** The compute capability that Triton asks of GPUs unless a setting says otherwise. */
  private static final String LEAST_CAPABILITY = "6.0";

  /** The core's name for all plug-ins in processes of their own. */
  public static final String ISOLATED = "triton";

  /** The runtime that has plug-ins. Guarded by the class. */
  private static PluginRuntime active;

  private final NativeRuntime runtime;
  private final PluginOptions options;
  private final Map<String, String> defaults;
  private final PluginSearch search;
  private PluginUpcalls.Host host;
  private boolean started; // guarded by this
  private PluginCacheHandle cache; // null: none

  /** Repository agents by name. Guarded by this. */
  private final Map<String, PluginAgentHandle> agents = new HashMap<>();

  /** Backends in use by their libraries. Guarded by itself. */
  private final Map<PluginSearch.Backend, Lease> leases = new HashMap<>();

  /**
   * The plug-ins of a runtime; none is loaded yet.
   *
   * @param autoComplete whether backends may complete configurations
   * @param defaultMaxBatchSize what they take for models that tell no size
   */
  public PluginRuntime(
      NativeRuntime runtime, PluginOptions options, boolean autoComplete, int defaultMaxBatchSize) {
    this.runtime = runtime;
    this.options = options;
    search = new PluginSearch(options);
    defaults =
        Map.of(
            "auto-complete-config", Boolean.toString(autoComplete),
            "backend-directory", options.backendDirectory().toString(),
            "default-max-batch-size", Integer.toString(defaultMaxBatchSize),
            "min-compute-capability", LEAST_CAPABILITY);
  }

  /** Sets the host that answers plug-ins, before the first plug-in is loaded. */
  public void answer(PluginUpcalls.Host answering) {
    host = answering;
  }

  /** The search for plug-ins in the directories of the options. */
  public PluginSearch search() {
    return search;
  }

  /** The settings. */
  public PluginOptions options() {
    return options;
  }

  /** Loads the library of all plug-ins, and makes this runtime the one that they ask. */
  public synchronized void start() {
    if (started) {
      return;
    }
    synchronized (PluginRuntime.class) {
      if (active != null) {
        throw new NereidException(
            StatusCode.FAILED_PRECONDITION,
            "another Nereid of this process has plug-ins of Triton, which only one can have at a"
                + " time: close it first");
      }
      PluginLibrary.load(LibraryFiles.pluginLibrary(runtime.settings().nativePath()));
      PluginUpcalls.answer(host);
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

  /** True if any plug-in was needed so far. */
  public synchronized boolean isStarted() {
    return started;
  }

  // ---- Backends --------------------------------------------------------------------------------

  /** A use of a backend, which is open as long as there is one. */
  static final class Lease {
    private final PluginRuntime plugins;
    private final PluginSearch.Backend found;
    private int users; // guarded by the plug-ins' leases
    private PluginBackendHandle handle; // guarded by this

    Lease(PluginRuntime plugins, PluginSearch.Backend found) {
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
        plugins.leases.remove(found);
      }
      synchronized (this) {
        if (handle != null) {
          handle.close();
          handle = null;
          warnOfHandles(found.name());
        }
      }
    }
  }

  /** A use of a backend, to be closed. */
  Lease lease(PluginSearch.Backend found) {
    start();
    synchronized (leases) {
      Lease lease = leases.computeIfAbsent(found, made -> new Lease(this, made));
      lease.users++;
      return lease;
    }
  }

  /** The settings of a backend: those for all backends, and over them its own. */
  Map<String, String> settings(String backend) {
    Map<String, String> settings = new HashMap<>(defaults);
    settings.putAll(options.backends().getOrDefault("", Map.of()));
    settings.putAll(options.backends().getOrDefault(backend, Map.of()));
    settings.remove(PluginOptions.IMPLEMENTATION);
    return settings;
  }

  /** The libraries that run a plug-in, for a process of its own. */
  Map<String, String> libraries() {
    Optional<Path> named = runtime.settings().nativePath();
    return Map.of(
        "isolation.core", LibraryFiles.nativeLibrary(named).toString(),
        "isolation.triton", LibraryFiles.pluginLibrary(named).toString());
  }

  /** The functions of plug-ins that run in processes of their own, in memory of the arena. */
  BackendRecord isolatedTable(Arena arena) {
    return runtime.use(handle -> BackendRecord.isolated(arena, handle, ISOLATED));
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

  /** A repository agent, which is open from when it is first needed until the runtime is closed. */
  public synchronized PluginAgentHandle agent(String name) {
    PluginAgentHandle agent = agents.get(name);
    if (agent == null) {
      Path library = search.agent(name);
      start();
      agent = PluginAgentHandle.open(name, library.toString());
      agents.put(name, agent);
    }
    return agent;
  }

  // ---- Caches and figures ----------------------------------------------------------------------

  /** Opens the response cache that the options name, before models are loaded. */
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

  /** True if a plug-in keeps the responses. */
  public boolean hasCache() {
    return cache != null;
  }

  /** The metrics that plug-ins made, in the text format of Prometheus; empty: none. */
  public String metrics() {
    return isStarted() ? PluginLibrary.metrics() : "";
  }

  /** Lets all of it go; the runtime is gone, or is left behind. */
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
    synchronized (PluginRuntime.class) {
      active = null;
    }
  }
}
