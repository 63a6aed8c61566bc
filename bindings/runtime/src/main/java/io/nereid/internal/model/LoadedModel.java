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
 * owner and the ensembles that use it call it, and it calls neither: a caller that lets it go gets
 * the loads that went with it. Requests come from any thread.
 */
public final class LoadedModel {

  private static final long POLL_NS = TimeUnit.MICROSECONDS.toNanos(200);

  private final NativeRuntime runtime;
  private final ModelConfiguration configuration;
  private final SlotPool slots;
  private final Backing backing;
  private final List<LoadedModel> steps; // of an ensemble, which uses them; else none

  /**
   * Everything that was made for the backend and goes with the load.
   *
   * @param javaBackend the number of a backend in Java; 0: it is none
   * @param batcher the number of a batcher; 0: there is none
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

  // Ensembles that this is a step of keep it loaded, as do requests of plug-ins, and who waits for
  // its sequences. When the last one of a retired load has left, nobody comes.
  @GuardedBy("this")
  private int users;

  @GuardedBy("this")
  private boolean retired;

  // Written before retired.
  private long deadlineNs;
  private boolean patient;

  /** Steps that the load uses as well by which this was replaced, and their sequences with them. */
  private volatile List<LoadedModel> keptSteps = List.of();

  private LoadTimes times; // set when it is loaded, before anybody finds it

  /**
   * Takes over a model that the core has loaded.
   *
   * @param configuration the configuration that the load is served with
   * @param tensorDevice the GPU on which inputs and outputs may lie; -1: they may lie on none
   * @param steps the loads that an ensemble uses; once it is loaded, their uses go with it
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

  /** The steps of its graph; none when it is no ensemble. */
  List<Ensemble.Step> ensembleSteps() {
    return spec().ensemble().map(Ensemble::steps).orElse(List.of());
  }

  /** The loads that an ensemble uses, in the order of its steps. */
  List<LoadedModel> steps() {
    return steps;
  }

  /** True if its backend, or that of a step, is told of ids and parameters of requests. */
  boolean takesValues() {
    return slots.signature().takesValues();
  }

  /** Throws when its backend says that an instance is not ready, or its processes have died. */
  public void checkReady() {
    backing.plugin().ifPresent(PluginRuntime.Load::checkReady);
    Optional<String> reason = isolationFailure();
    if (reason.isPresent()) {
      throw new NereidException(StatusCode.UNAVAILABLE, reason.get());
    }
  }

  /** The reason why no process takes the place of those that died; empty: one does. */
  Optional<String> isolationFailure() {
    return isolation().filter(IsolationStatistics::failed).map(IsolationStatistics::lastEnd);
  }

  // ---- Sequences -------------------------------------------------------------------------------

  /** True if its requests may belong to sequences: its own, or those of an ensemble's steps. */
  public boolean hasSequences() {
    return spec().sequenceBatching().isPresent()
        || steps.stream().anyMatch(LoadedModel::hasSequences);
  }

  /** Another load takes its requests, and its steps' sequences where it uses those as well. */
  void replacedBy(LoadedModel next) {
    keptSteps = next.steps;
  }

  /** True if this sequence is here, and with no load by which this was replaced. */
  boolean knows(SequenceId id) {
    return inSequences(handle -> handle.hasSequence(id), step -> step.knows(id));
  }

  /** From here on no sequence starts; those that have started go on. */
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

  /** True if there are sequences here that no load has by which this was replaced. */
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

  /** The core's handle; only for who has a use, which keeps it. */
  public ModelHandle handle() {
    return handle;
  }

  /** Statistics so far; after the release those of its whole life. */
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

  /** True if it runs in a process of its own. */
  public boolean isIsolated() {
    return spec().parameters().containsKey(Isolation.PARAMETER) && Isolation.isWanted(spec());
  }

  /** The process that it runs in; empty: it runs in this one, or in none any more. */
  public Optional<IsolationStatistics> isolation() {
    if (!isIsolated()) {
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

  /** Keeps it loaded until {@link #removeUser}; false when it is on its way out already. */
  synchronized boolean addUser() {
    if (retired) {
      return false;
    }
    users++;
    return true;
  }

  /**
   * Does the same as {@link #addUser} for a request of a sequence that this load has: also while
   * the load is on its way out and waits for its sequences.
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
   * Ends what {@link #addUser} began. The last user of a load that was retired finishes it, after
   * its sequences have ended.
   *
   * @return the loads that are gone now
   */
  List<LoadedModel> removeUser() {
    if (tryRemoveUser()) {
      return List.of();
    }
    awaitSequences(); // as a user still, so that their requests may use it meanwhile
    synchronized (this) {
      users--;
      if (users > 0) {
        return List.of();
      }
    }
    return finish();
  }

  /**
   * Nobody finds it any more but requests of sequences that it has: finishes it, now or, when
   * ensembles still use it, with the last of them. Called once.
   *
   * @param deadlineNs when requests that still wait are refused
   * @param patient whether requests that were made but not submitted are waited for as well
   * @return the loads that are gone now: this and the steps that it was the last user of, or none
   *     yet
   */
  List<LoadedModel> retire(long deadlineNs, boolean patient) {
    synchronized (this) {
      retired = true;
      this.deadlineNs = deadlineNs;
      this.patient = patient;
      users++;
    }
    return removeUser();
  }

  /** Waits for the requests of its sequences, until these have ended or the deadline is over. */
  private void awaitSequences() {
    boolean sequences = patient && hasSequences();
    while (sequences
        && (slots.hasUnanswered() || hasOpenSequences())
        && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
  }

  /** Takes no new requests, finishes those that were submitted, and closes the backend. */
  private List<LoadedModel> finish() {
    slots.retire(deadlineNs);
    while (patient && slots.hasUnanswered() && System.nanoTime() - deadlineNs < 0) {
      LockSupport.parkNanos(POLL_NS);
    }
    if (!handle.drain(deadlineNs)) {
      backing.plugin().ifPresent(PluginRuntime.Load::giveUp);
    }
    lock.writeLock().lock();
    try {
      lastStatistics = handle.statistics(runtime.settings().stageHistograms());
    } finally {
      handle.release(); // also where there is no memory for statistics
      handle = null;
      lock.writeLock().unlock();
      backing.remove();
      slots.seal();
    }
    List<LoadedModel> gone = new ArrayList<>();
    gone.add(this);
    if (times != null) { // else loading it failed, and whoever wanted it gives the steps back
      steps.forEach(step -> gone.addAll(step.removeUser()));
    }
    return gone;
  }
}
