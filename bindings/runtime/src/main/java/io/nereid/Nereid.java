package io.nereid;

import io.nereid.internal.Checks;
import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.config.TemporaryModel;
import io.nereid.internal.cuda.PageKeeper;
import io.nereid.internal.ffi.NativeLibrary;
import io.nereid.internal.ffi.PoolAllocator;
import io.nereid.internal.ffi.RuntimeHandle;
import io.nereid.internal.model.FlightRecording;
import io.nereid.internal.model.LoadLog;
import io.nereid.internal.model.ModelEntry;
import io.nereid.internal.model.ModelId;
import io.nereid.internal.model.ModelLifecycle;
import io.nereid.internal.model.ModelLoader;
import io.nereid.internal.model.ModelTable;
import io.nereid.internal.model.PluginService;
import io.nereid.internal.model.Shutdown;
import io.nereid.internal.recording.LifecycleRecording;
import io.nereid.internal.request.Diagnostics;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.RequestObserver;
import io.nereid.statistics.CacheStatistics;
import io.nereid.statistics.OpenHandle;
import io.nereid.statistics.PoolStatistics;
import io.nereid.statistics.ResourceStatistics;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * A runtime that loads models and runs requests on them. All methods may be called from any thread.
 *
 * <pre>{@code
 * try (var nereid = Nereid.open(Path.of("examples/models"));
 *     var request = nereid.model("simple").newRequest()
 *         .input("INPUT0", Tensor.ofInts(a, 1, 16))
 *         .input("INPUT1", Tensor.ofInts(b, 1, 16));
 *     var response = request.infer()) {
 *   int[] sum = response.output("OUTPUT0").toIntArray();
 * }
 * }</pre>
 *
 * <p>Failures are thrown as {@link NereidException}; the use of a closed object throws {@link
 * IllegalStateException}.
 */
public final class Nereid implements AutoCloseable {

  /** The time that executions may take beyond the deadline of {@link #close}. */
  private static final Duration LEAVE_TIME = Duration.ofSeconds(5);

  private final NereidOptions options;
  private final NativeRuntime runtime;
  private final PluginService plugins;
  private final ModelTable models = new ModelTable();
  private final ModelLifecycle lifecycle;
  private final Shutdown shutdown;
  private final Repository repository;
  private final FlightRecording recording;

  /** Makes the public object of a model; made once itself, since every request uses it. */
  private final Function<ModelEntry, Object> faces;

  private Nereid(
      RepositoryOptions repositoryOptions,
      NereidOptions options,
      PoolAllocator allocator,
      PageKeeper keeper) {
    NativeLibrary.checkAccess();
    this.options = options;
    plugins = PluginService.of(options.plugins());
    runtime = new NativeRuntime(options.settings(), allocator, keeper);
    ModelLoader loader = new ModelLoader(runtime, plugins, WarmUpRunner::run);
    lifecycle = new ModelLifecycle(models, loader, options.drainTimeout());
    shutdown = new Shutdown(models, lifecycle);
    faces = entry -> new Model(entry, lifecycle);
    repository = new Repository(lifecycle, models, repositoryOptions, loader);
    plugins.attach(
        new PluginService.Owner(
            runtime,
            lifecycle,
            models,
            repositoryOptions,
            repository::index,
            (name, override) ->
                override.ifPresentOrElse(
                    given -> repository.load(name, given), () -> repository.load(name)),
            repository::unload));
    openCache();
    lifecycle.listeners().add(new LoadLog());
    lifecycle.listeners().addAll(repositoryOptions.listeners());
    lifecycle.listeners().add(new LifecycleRecording());
    recording = new FlightRecording(models, this::poolStatistics);
  }

  private void openCache() {
    try {
      plugins.openCache();
    } catch (RuntimeException | Error e) {
      runtime.release();
      plugins.close();
      throw e;
    }
  }

  /** A runtime without models. */
  public static Nereid create() {
    return create(NereidOptions.DEFAULT);
  }

  /** A runtime without models. */
  public static Nereid create(NereidOptions options) {
    Checks.notNull(options, "options");
    return create(options, PoolAllocator.DEFAULT, PageKeeper.CUDA);
  }

  /**
   * A runtime that knows its repositories and has loaded nothing yet; {@link Repository#start}
   * does.
   */
  public static Nereid create(RepositoryOptions repository, NereidOptions options) {
    Checks.notNull(repository, "repository");
    Checks.notNull(options, "options");
    return new Nereid(repository, options, PoolAllocator.DEFAULT, PageKeeper.CUDA);
  }

  static Nereid create(NereidOptions options, PoolAllocator allocator, PageKeeper keeper) {
    return new Nereid(RepositoryOptions.builder().explicit().build(), options, allocator, keeper);
  }

  /**
   * A runtime with all models of a directory in Triton's layout, or with the model of a file,
   * {@link #model()}. Files {@code NAME.onnx} and {@code NAME.plan} in the directory are models,
   * too. The file tells their inputs and outputs, and they batch if the first dimension of all of
   * these is free.
   */
  public static Nereid open(Path repository) {
    Checks.notNull(repository, "repository");
    return open(RepositoryOptions.builder().repository(repository).build());
  }

  /**
   * A runtime with all models of a repository in an object store; {@code nereid-stores} is needed.
   */
  public static Nereid open(URI repository) {
    Checks.notNull(repository, "repository");
    return open(RepositoryOptions.builder().repository(repository).build());
  }

  /** Does the same as {@link #open(RepositoryOptions, NereidOptions)} with the default options. */
  public static Nereid open(RepositoryOptions repository) {
    Checks.notNull(repository, "repository");
    return open(repository, NereidOptions.DEFAULT);
  }

  /**
   * A runtime with models of directories in Triton's layout. A model that cannot be loaded is there
   * as well, in state {@link ModelState#FAILED} with its {@link Model#failure}: one broken model
   * does not stop the others.
   */
  public static Nereid open(RepositoryOptions repository, NereidOptions options) {
    Checks.notNull(repository, "repository");
    Checks.notNull(options, "options");
    Nereid nereid = create(repository, options);
    try {
      nereid.repository.start();
      return nereid;
    } catch (RuntimeException | Error e) {
      nereid.close();
      throw e;
    }
  }

  /** The settings that this was made with. */
  public NereidOptions options() {
    return options;
  }

  // ---- Models ----------------------------------------------------------------------------------

  /**
   * Loads a version of a model, and returns when it takes requests. When the same version is loaded
   * already, it is replaced: the new one takes over without a gap, requests that were made for the
   * old one finish there, and this returns when they have, or execute longer than {@link
   * NereidOptions#drainTimeout}.
   */
  public Model load(ModelSpec spec) {
    Checks.notNull(spec, "spec");
    lifecycle.checkOpen();
    ModelEntry entry = models.entry(ModelId.of(spec.name()), spec.version());
    lifecycle.load(entry, ModelDraft.of(spec));
    return face(entry);
  }

  /**
   * Does the same as {@link #load(ModelSpec)} for a model whose file comes out of a stream, such as
   * that of {@link Class#getResourceAsStream}. While the model is loaded, its file lies in a
   * temporary directory of this user.
   *
   * @param file is read to its end, and not closed
   */
  public Model load(ModelSpec spec, InputStream file) {
    Checks.notNull(spec, "spec");
    Checks.notNull(file, "file");
    try (TemporaryModel temporary = TemporaryModel.of(spec, file)) {
      return load(temporary.spec());
    }
  }

  /** Does what {@link #load(ModelSpec, InputStream)} does for ONNX with nothing else set. */
  public Model load(String name, InputStream onnx) {
    return load(ModelSpec.builder(name).backend("onnxruntime").build(), onnx);
  }

  /** The directories that models are loaded from by name, and the index of what is in them. */
  public Repository repository() {
    return repository;
  }

  private Model face(ModelEntry entry) {
    return (Model) entry.face(faces);
  }

  /** The highest version of a model that takes requests. */
  public Model model(String name) {
    Checks.notNull(name, "name");
    lifecycle.checkOpen();
    return face(models.ready(name));
  }

  /** The only model there is: that of a file that was opened, for instance. */
  public Model model() {
    lifecycle.checkOpen();
    return face(models.only());
  }

  /** A version of a model, which must take requests. */
  public Model model(String name, long version) {
    Checks.notNull(name, "name");
    lifecycle.checkOpen();
    return face(models.ready(name, version));
  }

  /** All models that were ever loaded, in whatever state, by name, the highest version first. */
  public List<Model> models() {
    return models.all().stream().map(this::face).toList();
  }

  // ---- What happens ----------------------------------------------------------------------------

  /** From now on tells the listener what happens to models. */
  public void addListener(LifecycleListener listener) {
    Checks.notNull(listener, "listener");
    lifecycle.listeners().add(listener);
  }

  /** Stops telling the listener. */
  public void removeListener(LifecycleListener listener) {
    Checks.notNull(listener, "listener");
    lifecycle.listeners().remove(listener);
  }

  /**
   * Tells the observer of all requests, beside other observers, until the returned task has run.
   * Requests to a shadow are not told ({@link Model#shadowOf}).
   */
  public Runnable observeRequests(RequestObserver observer) {
    return runtime.slots().observe(Checks.notNull(observer, "observer"));
  }

  /** The resources that instances of its models need now, where rates are limited. */
  public List<ResourceStatistics> resourceStatistics() {
    return runtime.use(RuntimeHandle::resourceStatistics);
  }

  /** The state of the memory pool. */
  public PoolStatistics poolStatistics() {
    return runtime.use(RuntimeHandle::poolStatistics);
  }

  /**
   * Page-locks the memory pool for all GPUs from now on, as happens by itself before the first
   * model that runs on one is opened; {@link PoolStatistics#lockedBytes} tells what is locked. Does
   * nothing where {@link NereidOptions#pageLockPool} is false, and warns once where it is not
   * possible.
   *
   * @param device number of a GPU that is used anyway
   */
  public void pageLockPool(int device) {
    runtime.pageLock(device);
  }

  /** The state of the pool's page locking, in words; empty: no GPU uses the pool. */
  public Optional<String> pageLocking() {
    return runtime.pageLocking();
  }

  /** The state of the response cache. */
  public CacheStatistics cacheStatistics() {
    return runtime.use(RuntimeHandle::cacheStatistics);
  }

  /** The metrics that Triton's plug-ins made, in Prometheus' text format; empty: none. */
  public String pluginMetrics() {
    return plugins.metrics();
  }

  /**
   * The requests and responses that are open, with the places where they were made, when the
   * program runs with {@code -Dnereid.leaks=record}; else none. {@link #close} names them.
   */
  public List<OpenHandle> openHandles() {
    return runtime.recordedHandles();
  }

  // ---- The end ---------------------------------------------------------------------------------

  /**
   * Lets no sequence start from now on ({@link StatusCode#UNAVAILABLE}), and waits until those that
   * have started have ended, by their last request or by idle time: any thread may go on with them
   * meanwhile. All else goes on as before. A sequence that has not ended by then ends with its
   * model, and {@link #close} does not wait for it again.
   *
   * @param timeout how long to wait
   * @return whether all sequences have ended
   */
  public boolean finishSequences(Duration timeout) {
    Checks.notNegative(timeout, "timeout");
    lifecycle.finishSequences();
    return shutdown.awaitSequences(Checks.deadlineNs(timeout));
  }

  /**
   * Unloads all models, waits until requests and responses are closed, and gives all memory back;
   * {@link NereidOptions#drainTimeout} bounds all waits together. Models with sequences are
   * unloaded last, and take the requests of those that have started until these have ended, unless
   * {@link #finishSequences} has waited for that already. Requests and responses that are still
   * open then are closed from here, all memory is given back all the same, and {@link
   * StatusCode#FAILED_PRECONDITION} names them, since forgetting them is a leak. When a backend
   * does not come back from loading or from an execution, {@link StatusCode#DEADLINE_EXCEEDED}
   * names its model; all memory then stays until it does. Closing twice does nothing. Listeners and
   * backends must not call it.
   */
  @Override
  public void close() {
    if (!lifecycle.close()) {
      return;
    }
    recording.close();
    long deadlineNs = Checks.deadlineNs(options.drainTimeout());
    unloadAll(deadlineNs);
    List<String> open = runtime.awaitHandles(deadlineNs) ? List.of() : runtime.openHandles();
    List<OpenHandle> recorded = open.isEmpty() ? List.of() : runtime.recordedHandles();
    if (!runtime.release()) {
      throw new NereidException(
          StatusCode.DEADLINE_EXCEEDED,
          "threads are still inside calls; the memory of Nereid is left behind");
    }
    plugins.close();
    if (!open.isEmpty()) {
      throw Diagnostics.leak(open, recorded);
    }
  }

  /** Unloads on a thread of its own: else a backend that hangs would block the caller for ever. */
  private void unloadAll(long deadlineNs) {
    AtomicBoolean decided = new AtomicBoolean();
    Runnable unload =
        () -> {
          repository.stop();
          lifecycle.awaitLoads();
          shutdown.unloadModels(deadlineNs);
          repository.close();
          if (!decided.compareAndSet(false, true)) {
            runtime.release(); // the caller gave up in the meantime
            plugins.close();
          }
        };
    Thread thread = Thread.ofPlatform().daemon().name("nrd-close").start(unload);
    if (Shutdown.join(thread, deadlineNs + LEAVE_TIME.toNanos())
        || !decided.compareAndSet(false, true)) {
      return;
    }
    throw shutdown.stuck();
  }
}
