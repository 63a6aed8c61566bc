package io.nereid.internal.model;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.Checks;
import io.nereid.internal.backend.JavaBackends;
import io.nereid.internal.ffi.BatcherUpcalls;
import io.nereid.internal.ffi.ModelHandle;
import io.nereid.internal.request.NativeRuntime;
import io.nereid.internal.request.Signature;
import io.nereid.internal.request.SlotPool;
import io.nereid.model.Ensemble;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceId;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.IsolationStatistics;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Predicate;

/**
 * One load of one version of a model: an {@code nrd_model} with the records of its requests. Its
 * owner and the ensembles that use it call it, and it calls neither: a caller that ends its use
 * gets back the loads that ended with it. Requests come from any thread.
 */
public final class LoadedModel {

  private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(200);

  private final NativeRuntime runtime;
  private final ModelConfiguration configuration;
  private final SlotPool slots;
  private final Backing backing;
  private final boolean isolated;
  private final List<LoadedModel> steps; // the loads that an ensemble uses; else none

  /**
   * Everything that was made for the backend and is released with the load.
   *
   * @param javaBackend the number of a backend in Java; 0: none
   * @param batcher the number of a batcher; 0: none
   * @param plugin the load as a plug-in knows it; empty: the backend is no plug-in
   */
  record Backing(long javaBackend, long batcher, Optional<PluginRuntime.Load> plugin) {

    static final Backing NONE = new Backing(0, 0, Optional.empty());

    void remove() {
      JavaBackends.remove(javaBackend);
      BatcherUpcalls.remove(batcher);
      plugin.ifPresent(PluginRuntime.Load::close);
    }
  }

  /** The handle is used under the read lock and released under the write lock. */
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  private ModelHandle handle; // null: it was released
  private ModelStatistics lastStatistics;

  // The uses that keep this loaded: ensembles with this as a step, requests of plug-ins, and
  // waiting for its sequences. A retired load without uses gets no new ones.
  @GuardedBy("this")
  private int users;

  @GuardedBy("this")
  private boolean retired;

  // Written before retired.
  private long deadlineNs;
  private boolean patient;

  /** The steps, with their sequences, that the replacing load uses too. */
  private volatile List<LoadedModel> keptSteps = List.of();

  private LoadTimes times; // set when it is loaded, before it is published

  /**
   * Takes over a model that the core has loaded.
   *
   * @param configuration the configuration that the load is served with
   * @param tensorDevice the GPU on which inputs and outputs may lie; -1: they may lie on none
   * @param steps the loads that an ensemble uses; once it is loaded, it owns these uses
   */
  LoadedModel(
      NativeRuntime runtime,
      Signature signature,
      ModelConfiguration configuration,
      ModelHandle handle,
      Backing backing,
      int tensorDevice,
      List<LoadedModel> steps) {
    this.runtime = runtime;
    this.configuration = configuration;
    this.handle = handle;
    this.backing = backing;
    this.steps = List.copyOf(Checks.notNull(steps, "steps"));
    slots = new SlotPool(runtime.slots(), signature, tensorDevice, handle::acquire);
    isolated = hasProcess() || steps.stream().anyMatch(LoadedModel::isIsolated);
  }

  public ModelSpec spec() {
    return slots.signature().spec();
  }

  public SlotPool slots() {
    return slots;
  }

  /** The configuration that the load is served with. */
  public ModelConfiguration configuration() {
    return configuration;
  }

  /** The time that loading took. */
  public LoadTimes times() {
    return times;
  }

  void took(LoadTimes times) {
    this.times = times;
  }

  /** The steps of its graph; none if the model is no ensemble. */
  List<Ensemble.Step> ensembleSteps() {
    return spec().ensemble().map(Ensemble::steps).orElse(List.of());
  }

  /** The loads that an ensemble uses, in the order of its steps. */
  List<LoadedModel> steps() {
    return steps;
  }

  /** True if its backend, or a step's, takes ids and parameters of requests. */
  boolean takesValues() {
    return slots.signature().takesValues();
  }

  /** Throws if its backend reports an instance that is not ready, or its processes have died. */
  public void checkReady() {
    backing.plugin().ifPresent(PluginRuntime.Load::checkReady);
    Optional<String> reason = isolationFailure();
    if (reason.isPresent()) {
      throw new NereidException(StatusCode.UNAVAILABLE, reason.get());
    }
  }

  /** The reason why dead processes are not replaced; empty: they are, or none died. */
  Optional<String> isolationFailure() {
    return isolation().filter(IsolationStatistics::failed).map(IsolationStatistics::lastEnd);
  }

  // ---- Sequences -------------------------------------------------------------------------------

  /** True if requests may belong to sequences, of the model or of an ensemble's steps. */
  public boolean hasSequences() {
    return spec().sequenceBatching().isPresent()
        || steps.stream().anyMatch(LoadedModel::hasSequences);
  }

  /** Notes the load that takes its requests now, and the sequences of those steps that both use. */
  void replacedBy(LoadedModel next) {
    keptSteps = next.steps;
  }

  /** True if this load has the sequence, and the load that replaced it has not. */
  boolean knows(SequenceId id) {
    return inSequences(handle -> handle.hasSequence(id), step -> step.knows(id));
  }

  /** Lets no new sequence start; those that have started go on. */
  void finishSequences() {
    inSequences(
        own -> {
          own.finishSequences();
          return false;
        },
        step -> {
          step.finishSequences();
          return false;
        });
  }

  /** True if this load has sequences that the load that replaced it has not. */
  boolean hasOpenSequences() {
    return inSequences(LoadedModel::hasOpen, LoadedModel::hasOpenSequences);
  }

  private static boolean hasOpen(ModelHandle handle) {
    return handle
        .sequences()
        .filter(figures -> figures.active() + figures.backlog() > 0)
        .isPresent();
  }

  private boolean inSequences(Predicate<ModelHandle> own, Predicate<LoadedModel> step) {
    if (spec().sequenceBatching().isEmpty()) {
      return steps.stream().filter(one -> !keptSteps.contains(one)).anyMatch(step);
    }
    lock.readLock().lock();
    try {
      return handle != null && own.test(handle);
    } finally {
      lock.readLock().unlock();
    }
  }

  // ---- The end ---------------------------------------------------------------------------------

  /** The core's handle; only for callers with a use, which keeps it open. */
  public ModelHandle handle() {
    return handle;
  }

  /** The statistics so far; after the release, those of the load's whole life. */
  public ModelStatistics statistics() {
    lock.readLock().lock();
    try {
      return handle == null
          ? lastStatistics
          : handle.statistics(runtime.settings().stageHistograms());
    } finally {
      lock.readLock().unlock();
    }
  }

  /** True if a process runs the load, or a step of it. */
  public boolean isIsolated() {
    return isolated;
  }

  private boolean hasProcess() {
    return spec().parameters().containsKey(Isolation.PARAMETER) && Isolation.isWanted(spec());
  }

  /** The process that the load runs in; empty: this process, or none any more. */
  public Optional<IsolationStatistics> isolation() {
    if (!hasProcess()) {
      return Optional.empty();
    }
    lock.readLock().lock();
    try {
      return handle == null ? Optional.empty() : handle.isolation();
    } finally {
      lock.readLock().unlock();
    }
  }

  /** The memory that the load occupies now. */
  public MemoryUsage memory() {
    lock.readLock().lock();
    try {
      return handle == null ? MemoryUsage.UNKNOWN : handle.memory();
    } finally {
      lock.readLock().unlock();
    }
  }

  /** The resources that the load's instances wait for now, by the index of the instance. */
  public List<InstanceStatistics> instances() {
    lock.readLock().lock();
    try {
      return handle == null ? List.of() : handle.instances();
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Keeps the load until {@link #removeUser}; false if it has been retired already. */
  synchronized boolean addUser() {
    if (retired) {
      return false;
    }
    users++;
    return true;
  }

  /**
   * Does the same as {@link #addUser} for a request of a sequence that this load has: even while a
   * retired load waits for its sequences.
   */
  synchronized boolean addSequenceUser() {
    if (retired && (users == 0 || System.nanoTime() - deadlineNs >= 0)) {
      return false;
    }
    users++;
    return true;
  }

  /**
   * Does the same as {@link #removeUser}, unless that would have to finish the load: then it
   * returns false and changes nothing.
   */
  synchronized boolean tryRemoveUser() {
    if (retired && users == 1) {
      return false;
    }
    users--;
    return true;
  }

  /**
   * Ends what {@link #addUser} began. The last user of a retired load finishes it.
   *
   * @param overdue is told if requests still execute at the deadline; this waits for them
   * @return the loads that are gone now
   */
  List<LoadedModel> removeUser(Runnable overdue) {
    synchronized (this) {
      users--;
      if (!retired || users > 0) {
        return List.of();
      }
    }
    return finish(overdue);
  }

  /**
   * Finishes the load, which only requests of its own sequences find from now on: at once, or when
   * the last ensemble stops using it. Called once.
   *
   * @param deadlineNs when requests that still wait are refused
   * @param patient whether to wait for requests that were made but not submitted, too
   * @param overdue is told if requests still execute at the deadline; this waits for them
   * @return the loads that are gone now: this load and the steps that only it used, or none yet
   */
  List<LoadedModel> retire(long deadlineNs, boolean patient, Runnable overdue) {
    synchronized (this) {
      retired = true;
      this.deadlineNs = deadlineNs;
      this.patient = patient;
      users++;
    }
    awaitSequences(); // as a user, so that requests of the sequences can use the load
    return removeUser(overdue);
  }

  /** Waits until the load's sequences have ended or the deadline is over. */
  private void awaitSequences() {
    boolean sequences = patient && hasSequences();
    while (sequences
        && (slots.hasUnanswered() || hasOpenSequences())
        && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
  }

  /** Takes no new requests, finishes those that were submitted, and closes the backend. */
  private List<LoadedModel> finish(Runnable overdue) {
    slots.retire(deadlineNs);
    while (patient && slots.hasUnanswered() && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
    ModelHandle ending = handle;
    if (!ending.drain(deadlineNs)) {
      backing.plugin().ifPresent(PluginRuntime.Load::giveUp);
      Departures.awaitExecutions(spec(), ending, overdue);
    }
    try {
      keepStatistics();
    } finally {
      ending.release(); // may take long, so that nobody may wait for it with the lock
      backing.remove();
      slots.seal();
    }
    List<LoadedModel> gone = new ArrayList<>();
    gone.add(this);
    if (times != null) { // else loading failed, and the caller of the load gives the steps back
      steps.forEach(step -> gone.addAll(step.removeUser(overdue)));
    }
    return gone;
  }

  private void keepStatistics() {
    lock.writeLock().lock();
    try {
      lastStatistics = handle.statistics(runtime.settings().stageHistograms());
    } finally {
      handle = null; // also where there is no memory for statistics
      lock.writeLock().unlock();
    }
  }
}
