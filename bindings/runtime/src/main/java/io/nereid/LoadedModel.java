package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.Checks;
import io.nereid.internal.ffi.ErrorRecord;
import io.nereid.internal.ffi.ModelCalls;
import io.nereid.internal.ffi.RequestCalls;
import io.nereid.internal.request.SlotPool;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** One load of one version of a model: an {@code nrd_model} with the records of its requests. */
final class LoadedModel {

  private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(200);

  private final NativeRuntime runtime;
  private final Signature signature;
  private final SlotPool slots;
  private final long javaBackend; // its number, 0: the backend is the core's
  private final int tensorDevice;
  private final List<LoadedModel> steps; // of an ensemble, which uses them; else none

  /** The handle is used under the read lock and released under the write lock. */
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  private long handle;
  private ModelStatistics lastStatistics;

  // Ensembles that this is a step of keep it loaded. Guarded by this.
  private int users;
  private boolean retired;
  private long deadlineNs;
  private boolean patient;

  private volatile Runnable whenFinished = () -> {};

  /**
   * Takes over a model that the core has loaded.
   *
   * @param tensorDevice the GPU on which inputs and outputs may lie; -1: they may lie on none
   * @param steps what it uses as an ensemble; their uses go with it
   */
  LoadedModel(
      NativeRuntime runtime,
      Signature signature,
      long handle,
      long javaBackend,
      int tensorDevice,
      List<LoadedModel> steps) {
    this.runtime = runtime;
    this.signature = signature;
    this.handle = handle;
    this.javaBackend = javaBackend;
    this.tensorDevice = tensorDevice;
    this.steps = List.copyOf(Checks.notNull(steps, "steps"));
    slots =
        new SlotPool(
            runtime.slots(),
            signature.spec().inputs().size(),
            this::acquireRecord,
            () -> runtime.remove(this));
    runtime.add(this);
  }

  /** The GPU on which inputs may lie; -1: they may lie on none. */
  int tensorDevice() {
    return tensorDevice;
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

  /** What it uses as an ensemble. */
  List<LoadedModel> steps() {
    return steps;
  }

  /** The core's handle; only for who has a use, which keeps it. */
  long handle() {
    return handle;
  }

  /** Statistics so far; after the release those of its whole life. */
  ModelStatistics statistics() {
    lock.readLock().lock();
    try {
      return handle == 0
          ? lastStatistics
          : StatisticsReader.model(handle, runtime.options().stageHistograms());
    } finally {
      lock.readLock().unlock();
    }
  }

  /** What it occupies now. */
  MemoryUsage memory() {
    lock.readLock().lock();
    try {
      return handle == 0 ? MemoryUsage.UNKNOWN : StatisticsReader.memory(handle);
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Keeps it loaded until {@link #removeUser}; false when it is on its way out already. */
  synchronized boolean addUser() {
    if (retired) {
      return false;
    }
    users++;
    return true;
  }

  /** Ends what {@link #addUser} began. The last user of a load that was retired finishes it. */
  void removeUser() {
    synchronized (this) {
      users--;
      if (users > 0 || !retired) {
        return;
      }
    }
    finish();
  }

  /** What happens when its backend is closed. */
  void whenFinished(Runnable action) {
    whenFinished = action;
  }

  /**
   * Nobody finds it any more: finishes it, now or, when ensembles still use it, with the last of
   * them. Called once.
   *
   * @param deadlineNs when requests that still wait are refused
   * @param patient whether requests that were made but not submitted are waited for as well
   */
  void retire(long deadlineNs, boolean patient) {
    synchronized (this) {
      retired = true;
      this.deadlineNs = deadlineNs;
      this.patient = patient;
      if (users > 0) {
        return;
      }
    }
    finish();
  }

  /** Takes no new requests, finishes those that were submitted, and closes the backend. */
  private void finish() {
    slots.retire(deadlineNs);
    while (patient && slots.hasUnanswered() && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
    // At the deadline it answers what waits, which is all that is asked of it here.
    ModelCalls.drain(handle, deadlineNs, 0);
    lock.writeLock().lock();
    try {
      lastStatistics = StatisticsReader.model(handle, runtime.options().stageHistograms());
      ModelCalls.release(handle);
      handle = 0;
    } finally {
      lock.writeLock().unlock();
    }
    JavaBackends.remove(javaBackend);
    slots.seal();
    whenFinished.run();
    steps.forEach(LoadedModel::removeUser);
  }
}
