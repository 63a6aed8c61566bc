package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.backend.Backend;
import io.nereid.internal.ffi.ErrorRecord;
import io.nereid.internal.ffi.ModelCalls;
import io.nereid.internal.ffi.ModelLayout;
import io.nereid.internal.ffi.RequestCalls;
import io.nereid.internal.loader.LibraryFiles;
import io.nereid.internal.request.SlotPool;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** One load of one version of a model: an {@code nrd_model} with the records of its requests. */
final class LoadedModel {

  private static final String ONNXRUNTIME = "onnxruntime";
  private static final String ONNXRUNTIME_PATH = "onnxruntime_path";
  private static final String SHARED_THREAD_COUNT = "shared_thread_count";
  private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(200);

  private final NativeRuntime runtime;
  private final Signature signature;
  private final SlotPool slots;
  private final long javaBackend; // its number, 0: the backend is the core's

  /** The handle is used under the read lock and released under the write lock. */
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  private long handle;
  private ModelStatistics lastStatistics;

  private LoadedModel(NativeRuntime runtime, Signature signature, long handle, long javaBackend) {
    this.runtime = runtime;
    this.signature = signature;
    this.handle = handle;
    this.javaBackend = javaBackend;
    slots =
        new SlotPool(
            runtime.slots(),
            signature.spec().inputs().size(),
            this::acquireRecord,
            () -> runtime.remove(this));
    runtime.add(this);
  }

  /** Opens the backend and its instances; when this returns, the model can run requests. */
  static LoadedModel load(NativeRuntime runtime, ModelSpec spec) {
    Signature signature = new Signature(spec);
    if (spec.responseCache() && runtime.options().cacheByteLimit() == 0) {
      RuntimeUpcalls.LOGGER.log(
          Level.WARNING,
          "model ''{0}'' asks for the response cache, which has no memory: nothing is cached; set"
              + " NereidOptions.cacheByteLimit",
          spec.name());
    }
    Optional<Backend> javaBackend = BackendFinder.find(spec);
    List<Integer> devices = javaBackend.map(Backend::devices).orElse(List.of());
    List<InstancePlacement> placements = InstancePlacement.of(spec.instanceGroups(), devices);
    long number =
        javaBackend
            .map(backend -> JavaBackends.add(backend, signature, runtime, placements))
            .orElse(0L);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment table = ModelOptionsWriter.sized(arena, ModelLayout.BACKEND);
      long error = ErrorRecord.allocate(arena);
      if (javaBackend.isPresent()) {
        JavaBackends.write(table, number, javaBackend.get());
      } else {
        findNative(arena, spec.backendName(), table.address(), error);
      }
      MemorySegment options =
          ModelOptionsWriter.write(
              arena, spec, placements.size(), table.address(), parameters(runtime, spec));
      MemorySegment out = arena.allocate(JAVA_LONG);
      int status = runtime.use(at -> ModelCalls.load(at, options.address(), 0, out.address(), error));
      ErrorRecord.check(status, error);
      return new LoadedModel(runtime, signature, out.get(JAVA_LONG, 0), number);
    } catch (RuntimeException e) {
      JavaBackends.remove(number);
      throw e;
    }
  }

  /** Whether the core has a backend of this name. */
  static boolean isNative(String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment table = ModelOptionsWriter.sized(arena, ModelLayout.BACKEND);
      return find(arena, name, table.address(), 0) == StatusCode.OK.number();
    }
  }

  private static void findNative(Arena arena, String name, long table, long error) {
    ErrorRecord.check(find(arena, name, table, error), error);
  }

  private static int find(Arena arena, String name, long table, long error) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    MemorySegment text = arena.allocateFrom(JAVA_BYTE, bytes);
    return ModelCalls.backendFind(text.address(), bytes.length, table, error);
  }

  /**
   * What the backend onnxruntime needs to know of this process, where the model does not say it.
   */
  private static Map<String, String> parameters(NativeRuntime runtime, ModelSpec spec) {
    if (spec.backend().isPresent() || !spec.backendName().equals(ONNXRUNTIME)) {
      return spec.parameters();
    }
    Map<String, String> parameters = new HashMap<>(spec.parameters());
    parameters.computeIfAbsent(
        ONNXRUNTIME_PATH,
        key -> LibraryFiles.onnxruntime(runtime.options().onnxruntimePath()).toString());
    // The JVM knows a container's share of the processors, which the library would not see.
    parameters.putIfAbsent(
        SHARED_THREAD_COUNT, Integer.toString(Runtime.getRuntime().availableProcessors()));
    return parameters;
  }

  /** For the pool of slots, which does not call it after it was retired. */
  private long acquireRecord() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      long error = ErrorRecord.allocate(arena);
      ErrorRecord.check(RequestCalls.acquire(handle, out.address(), error), error);
      return out.get(JAVA_LONG, 0);
    }
  }

  NativeRuntime runtime() {
    return runtime;
  }

  Signature signature() {
    return signature;
  }

  ModelSpec spec() {
    return signature.spec();
  }

  SlotPool slots() {
    return slots;
  }

  /** Statistics so far; after the release those of its whole life. */
  ModelStatistics statistics() {
    lock.readLock().lock();
    try {
      return handle == 0 ? lastStatistics : StatisticsReader.model(handle);
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Takes no new requests, finishes those that were submitted, and closes the backend. Called once.
   *
   * @param deadlineNs when requests that still wait are refused
   * @param patient whether requests that were made but not submitted are waited for as well
   */
  void finish(long deadlineNs, boolean patient) {
    slots.retire();
    while (patient && slots.hasUnanswered() && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
    // At the deadline it answers what waits, which is all that is asked of it here.
    ModelCalls.drain(handle, deadlineNs, 0);
    lock.writeLock().lock();
    try {
      lastStatistics = StatisticsReader.model(handle);
      ModelCalls.release(handle);
      handle = 0;
    } finally {
      lock.writeLock().unlock();
    }
    JavaBackends.remove(javaBackend);
    slots.seal();
  }
}
