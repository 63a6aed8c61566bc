package io.nereid.internal.request;

import io.nereid.internal.cuda.PageKeeper;
import io.nereid.internal.cuda.PageLocking;
import io.nereid.internal.ffi.NativeLibrary;
import io.nereid.internal.ffi.PoolAllocator;
import io.nereid.internal.ffi.RequestUpcalls;
import io.nereid.internal.ffi.RuntimeHandle;
import io.nereid.internal.loader.LibraryFiles;
import io.nereid.model.HostPolicy;
import io.nereid.model.ModelSpec;
import io.nereid.model.ResourceCount;
import io.nereid.statistics.OpenHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * One {@code nrd_runtime} with Java's objects that belong to it. The handle is used under the read
 * lock and released under the write lock.
 */
public final class NativeRuntime {

  /**
   * The settings that a runtime is made with.
   *
   * @param poolByteLimit cap on the memory of inputs and outputs; 0: the core's default
   * @param pageLockPool whether the pool's memory is page-locked for GPUs once a model runs on one
   * @param cacheByteLimit size of the response cache; 0: no cache
   * @param stageHistograms whether models keep distributions of the times of stages
   * @param nativePath the native library; empty: the one inside the jar
   * @param onnxruntimePath ONNX Runtime's library; empty: the one inside its jar
   * @param rateLimit whether executions hold resources
   * @param resources the amounts of some resources
   * @param hostPolicies the cores and nodes for the threads of instances, by name
   */
  public record Settings(
      long poolByteLimit,
      boolean pageLockPool,
      long cacheByteLimit,
      boolean stageHistograms,
      Optional<Path> nativePath,
      Optional<Path> onnxruntimePath,
      boolean rateLimit,
      List<ResourceCount> resources,
      Map<String, HostPolicy> hostPolicies) {}

  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The time that a thread may take to leave a call that it was in when everything was revoked. */
  private static final long LEAVE_NS = TimeUnit.SECONDS.toNanos(20);

  private final Settings settings;
  private final SlotTable slots = new SlotTable();
  private final PageLocking pageLocking;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private final long number; // the number by which the core names {@code slots}
  private RuntimeHandle handle; // null: it was released

  public NativeRuntime(Settings settings, PoolAllocator allocator, PageKeeper keeper) {
    this.settings = settings;
    pageLocking = new PageLocking(settings.pageLockPool(), keeper);
    if (!NativeLibrary.isLoaded() || settings.nativePath().isPresent()) {
      NativeLibrary.load(LibraryFiles.nativeLibrary(settings.nativePath()));
    }
    number = RequestUpcalls.add(slots);
    try {
      handle =
          RuntimeHandle.create(
              new RuntimeHandle.Settings(
                  settings.poolByteLimit(),
                  settings.cacheByteLimit(),
                  settings.stageHistograms(),
                  Diagnostics.CHECKED),
              allocator,
              number);
    } catch (RuntimeException e) {
      RequestUpcalls.remove(number);
      slots.memory().close();
      throw e;
    }
    if (settings.rateLimit()) {
      handle.limit(settings.resources());
    }
    slots.poolByteLimit(handle.poolStatistics().byteLimit());
  }

  public Settings settings() {
    return settings;
  }

  /** The slots that the requests of this runtime share. */
  public SlotTable slots() {
    return slots;
  }

  /** Page-locks the pool, as GPUs use it from now on; see {@link PageLocking#begin}. */
  public void pageLock(int device) {
    use(handle -> {
      pageLocking.begin(handle, device);
      return null;
    });
  }

  /** The state of the pool's page locking, in words; empty: no GPU uses the pool. */
  public Optional<String> pageLocking() {
    return pageLocking.text();
  }

  /** Calls with the handle, which stays alive meanwhile. */
  public <T> T use(Function<RuntimeHandle, T> call) {
    lock.readLock().lock();
    try {
      if (handle == null) {
        throw new IllegalStateException("Nereid was closed");
      }
      return call.apply(handle);
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Returns the objects that users have not closed, in words; empty if all are closed. */
  public List<String> openHandles() {
    List<String> open = new ArrayList<>();
    for (SlotPool pool : slots.pools()) {
      int count = pool.inUse();
      if (count > 0) {
        ModelSpec spec = pool.signature().spec();
        open.add(count + " of model '" + spec.name() + "' version " + spec.version());
      }
    }
    return open;
  }

  /**
   * Returns the open handles with the places where they were made, as far as these are recorded.
   */
  public List<OpenHandle> recordedHandles() {
    List<OpenHandle> handles = new ArrayList<>();
    slots.pools().forEach(pool -> pool.addOpened(handles));
    return handles;
  }

  /** Waits until users have closed all handles, at most until the deadline. */
  public boolean awaitHandles(long deadlineNs) {
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
   * Gives everything back to the core, after all models were released. Closes the handles that
   * users left open; their records come back as threads leave the calls they are in.
   *
   * @return false when a thread did not leave a call in time; then the core's runtime, with its
   *     memory, is left behind
   */
  public boolean release() {
    lock.writeLock().lock();
    try {
      slots.pools().forEach(SlotPool::revokeAll);
      long deadlineNs = System.nanoTime() + LEAVE_NS;
      if (!await(slots.pools()::isEmpty, deadlineNs) || !closeMemory(deadlineNs)) {
        return false;
      }
      handle.release();
      handle = null;
      RequestUpcalls.remove(number);
      pageLocking.end();
      return true;
    } finally {
      lock.writeLock().unlock();
      slots.stopThreads();
    }
  }

  private boolean closeMemory(long deadlineNs) {
    return await(this::tryCloseMemory, deadlineNs);
  }

  private boolean tryCloseMemory() {
    try {
      slots.memory().close();
      return true;
    } catch (IllegalStateException e) {
      return false; // a thread is inside a call with a segment of it, such as a write to a socket
    }
  }
}
