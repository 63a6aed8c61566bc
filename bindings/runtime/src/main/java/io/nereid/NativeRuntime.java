package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.ErrorRecord;
import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.ModelLayout;
import io.nereid.internal.ffi.NativeLibrary;
import io.nereid.internal.ffi.PoolAllocator;
import io.nereid.internal.ffi.RuntimeCalls;
import io.nereid.internal.loader.LibraryFiles;
import io.nereid.internal.request.Diagnostics;
import io.nereid.internal.request.Opened;
import io.nereid.internal.request.Registry;
import io.nereid.internal.request.Slot;
import io.nereid.internal.request.SlotTable;
import io.nereid.statistics.OpenHandle;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;

/**
 * One {@code nrd_runtime} and what Java keeps with it. The handle is used under the read lock and
 * released under the write lock.
 */
final class NativeRuntime {

  /** How the core names a runtime when it reports completions. */
  private static final Registry<NativeRuntime> RUNTIMES = new Registry<>();

  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** How long a thread may take to leave a call that it was in when everything was revoked. */
  private static final long LEAVE_NS = TimeUnit.SECONDS.toNanos(1);

  private final NereidOptions options;
  private final SlotTable slots = new SlotTable(task -> Thread.startVirtualThread(task));

  /** Closed before the pool's memory goes, so that segments fail instead of faulting. */
  private final Arena arena = Arena.ofShared();

  private final MemorySegment memory = Memory.whole(arena);
  private final MemorySegment readOnlyMemory = memory.asReadOnly();

  /** Models with records, from load until the last record went back to the core. */
  private final Set<LoadedModel> models = ConcurrentHashMap.newKeySet();

  private final PageLocking pageLocking;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private final long number;
  private final long poolByteLimit;
  private long handle;
  private ScheduledThreadPoolExecutor deadlines;

  NativeRuntime(NereidOptions options, PoolAllocator allocator, PageKeeper keeper) {
    this.options = options;
    pageLocking = new PageLocking(this, keeper);
    if (!NativeLibrary.isLoaded() || options.nativePath().isPresent()) {
      NativeLibrary.load(LibraryFiles.nativeLibrary(options.nativePath()));
    }
    number = RUNTIMES.add(this);
    try {
      handle = create(allocator);
    } catch (RuntimeException e) {
      RUNTIMES.remove(number);
      arena.close();
      throw e;
    }
    poolByteLimit = StatisticsReader.pool(handle).byteLimit();
  }

  private long create(PoolAllocator allocator) {
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment target = ModelOptionsWriter.sized(scratch, ModelLayout.RUNTIME_OPTIONS);
      int flags = options.stageHistograms() ? ModelLayout.RUNTIME_STAGE_HISTOGRAMS : 0;
      if (Diagnostics.CHECKED) {
        flags |= ModelLayout.RUNTIME_POISON_FREED;
      }
      target.set(JAVA_INT, ModelLayout.RUNTIME_FLAGS, flags);
      target.set(JAVA_LONG, ModelLayout.RUNTIME_POOL_BYTE_LIMIT, options.poolByteLimit());
      target.set(JAVA_LONG, ModelLayout.RUNTIME_CACHE_BYTE_LIMIT, options.cacheByteLimit());
      target.set(JAVA_LONG, ModelLayout.RUNTIME_ALLOCATOR_CONTEXT, allocator.context());
      target.set(JAVA_LONG, ModelLayout.RUNTIME_ALLOCATE, allocator.allocate());
      target.set(JAVA_LONG, ModelLayout.RUNTIME_DEALLOCATE, allocator.deallocate());
      target.set(JAVA_LONG, ModelLayout.RUNTIME_COMPLETE_CONTEXT, number);
      target.set(JAVA_LONG, ModelLayout.RUNTIME_COMPLETE, RuntimeUpcalls.COMPLETE);
      target.set(JAVA_LONG, ModelLayout.RUNTIME_RESPOND_CONTEXT, number);
      target.set(JAVA_LONG, ModelLayout.RUNTIME_RESPOND, RuntimeUpcalls.RESPOND);
      target.set(JAVA_LONG, ModelLayout.RUNTIME_LOG, RuntimeUpcalls.LOG);
      MemorySegment out = scratch.allocate(JAVA_LONG);
      long error = ErrorRecord.allocate(scratch);
      ErrorRecord.check(RuntimeCalls.create(target.address(), out.address(), error), error);
      return out.get(JAVA_LONG, 0);
    }
  }

  static NativeRuntime find(long number) {
    return RUNTIMES.find(number);
  }

  /** What the core calls it. */
  long number() {
    return number;
  }

  PageLocking pageLocking() {
    return pageLocking;
  }

  NereidOptions options() {
    return options;
  }

  SlotTable slots() {
    return slots;
  }

  /** Cap on the pool's memory. */
  long poolByteLimit() {
    return poolByteLimit;
  }

  /** The pool's memory for those who fill it in. */
  MemorySegment memory() {
    return memory;
  }

  /** The pool's memory for those who read it. */
  MemorySegment readOnlyMemory() {
    return readOnlyMemory;
  }

  /** Calls with the handle, which stays alive meanwhile. */
  <T> T use(LongFunction<T> call) {
    lock.readLock().lock();
    try {
      if (handle == 0) {
        throw new IllegalStateException("Nereid was closed");
      }
      return call.apply(handle);
    } finally {
      lock.readLock().unlock();
    }
  }

  void add(LoadedModel model) {
    models.add(model);
  }

  void remove(LoadedModel model) {
    models.remove(model);
  }

  /** Runs tasks when deadlines of asynchronous requests pass; they must not run users' code. */
  synchronized ScheduledThreadPoolExecutor deadlines() {
    if (deadlines == null) {
      deadlines =
          new ScheduledThreadPoolExecutor(
              1, task -> Thread.ofPlatform().daemon().name("nrd-deadlines").unstarted(task));
      deadlines.setRemoveOnCancelPolicy(true);
    }
    return deadlines;
  }

  /** What users have not closed, in words; empty when nothing is left. */
  List<String> openHandles() {
    List<String> open = new ArrayList<>();
    for (LoadedModel model : models) {
      int count = model.slots().inUse();
      if (count > 0) {
        open.add(
            count + " of model '" + model.spec().name() + "' version " + model.spec().version());
      }
    }
    return open;
  }

  /** The same with the places where they were made, as far as these are recorded. */
  List<OpenHandle> recordedHandles() {
    List<OpenHandle> handles = new ArrayList<>();
    for (LoadedModel model : models) {
      for (Opened opened : model.slots().opened()) {
        OpenHandle.Kind kind =
            switch (opened.bit()) {
              case Slot.REQUEST -> OpenHandle.Kind.REQUEST;
              case Slot.RESPONSE -> OpenHandle.Kind.RESPONSE;
              default -> OpenHandle.Kind.UNFINISHED;
            };
        handles.add(
            new OpenHandle(
                kind,
                model.spec().name(),
                model.spec().version(),
                opened.origin().thread(),
                opened.origin().stack()));
      }
    }
    return handles;
  }

  /** Waits until users have closed all handles, at most until the deadline. */
  boolean awaitHandles(long deadlineNs) {
    return await(() -> openHandles().isEmpty(), deadlineNs);
  }

  private static boolean await(BooleanSupplier condition, long deadlineNs) {
    boolean interrupted = false;
    try {
      while (!condition.getAsBoolean()) {
        if (System.nanoTime() - deadlineNs >= 0) {
          return false;
        }
        interrupted |= Thread.interrupted();
        LockSupport.parkNanos(POLL_NS);
      }
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Gives everything back to the core. All models were released before. Handles that are open are
   * closed in the users' stead; then the records come back as threads leave the calls they are in.
   *
   * @return false when a thread did not leave a call in time; then the core's runtime, with its
   *     memory, is left behind
   */
  boolean release() {
    lock.writeLock().lock();
    try {
      models.forEach(model -> model.slots().revokeAll());
      long deadlineNs = System.nanoTime() + LEAVE_NS;
      if (!await(models::isEmpty, deadlineNs) || !closeArena(deadlineNs)) {
        return false;
      }
      try (Arena scratch = Arena.ofConfined()) {
        long error = ErrorRecord.allocate(scratch);
        ErrorRecord.check(RuntimeCalls.release(handle, error), error);
      }
      handle = 0;
      RUNTIMES.remove(number);
      return true;
    } finally {
      lock.writeLock().unlock();
      stopDeadlines();
    }
  }

  private synchronized void stopDeadlines() {
    if (deadlines != null) {
      deadlines.shutdownNow();
    }
  }

  private boolean closeArena(long deadlineNs) {
    return await(this::tryCloseArena, deadlineNs);
  }

  private boolean tryCloseArena() {
    try {
      arena.close();
      return true;
    } catch (IllegalStateException e) {
      return false; // a thread is inside a call with a segment of it, such as a write to a socket
    }
  }
}
