package io.nereid.internal.model;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.Checks;
import io.nereid.internal.config.ModelDraft;
import io.nereid.model.Ensemble;
import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Loads, publishes, replaces and unloads models, and keeps ensembles in step with the models that
 * they use. An ensemble is loaded for particular loads of its models; when one of these is replaced
 * or leaves, the ensemble is loaded anew, and the loads that it used go when its last request is
 * answered.
 *
 * <p>All changes of a {@link ModelEntry} are made here, and all listeners are told here. Any thread
 * may call; loading and unloading take as long as the model does.
 */
public final class ModelLifecycle {

  private static final Logger LOGGER = System.getLogger("io.nereid");

  private final ModelTable models;
  private final ModelLoader loader;
  private final Duration drainTimeout;
  private final List<LifecycleListener> listeners = new CopyOnWriteArrayList<>();

  /** Loading holds the read lock, so that closing finds every model. */
  private final ReentrantReadWriteLock open = new ReentrantReadWriteLock();

  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicBoolean finishing = new AtomicBoolean(); // no sequence starts any more

  /** One ensemble at a time, so that no two can come to use each other. */
  private final ReentrantLock ensembles = new ReentrantLock();

  /**
   * The loads that take no new requests, each with the event to fire when its last request is
   * answered.
   */
  private final Map<LoadedModel, Farewell> leaving = new ConcurrentHashMap<>();

  private final Departures departures = new Departures();

  private record Farewell(ModelEntry entry, ModelEvent event) {}

  /**
   * The life of these models.
   *
   * @param drainTimeout how long unloading and replacing wait for requests that wait for their turn
   */
  public ModelLifecycle(ModelTable models, ModelLoader loader, Duration drainTimeout) {
    this.models = models;
    this.loader = loader;
    this.drainTimeout = drainTimeout;
  }

  /** The listeners that are told of all models from now on. */
  public List<LifecycleListener> listeners() {
    return listeners;
  }

  /** Tells the listeners; what one throws is logged. */
  public void fire(ModelEvent event) {
    for (LifecycleListener listener : listeners) {
      try {
        listener.onEvent(event);
      } catch (RuntimeException | Error e) { // the failure is the listener's, not the model's
        LOGGER.log(Level.WARNING, "a listener failed on " + event, e);
      }
    }
  }

  // ---- The end ---------------------------------------------------------------------------------

  /** Throws after {@link #close}. */
  public void checkOpen() {
    if (closed.get()) {
      throw new IllegalStateException("Nereid was closed");
    }
  }

  /** Lets models only leave from now on; false if that was so already. */
  public boolean close() {
    if (open.getReadHoldCount() > 0) {
      throw new IllegalStateException("a listener cannot close what it hears of");
    }
    return closed.compareAndSet(false, true);
  }

  /**
   * Lets no sequence start from now on, in whatever load; false when an earlier call did so. The
   * caller that gets true waits for the sequences that have started ({@link #hasOpenSequences}); no
   * other caller does.
   */
  public boolean finishSequences() {
    boolean first = finishing.compareAndSet(false, true);
    models.all().stream()
        .map(ModelEntry::current)
        .filter(Objects::nonNull)
        .forEach(LoadedModel::finishSequences);
    return first;
  }

  /** True if some model has sequences that have started and not ended. */
  public boolean hasOpenSequences() {
    return models.all().stream().anyMatch(ModelEntry::hasOpenSequences);
  }

  /** Waits until loads that have begun come to their end. */
  public void awaitLoads() {
    open.writeLock().lock();
    open.writeLock().unlock();
  }

  // ---- Loading ---------------------------------------------------------------------------------

  /** Loads a version, or replaces its load, and waits for that as {@link #unload} does. */
  public void load(ModelEntry entry, ModelDraft draft) {
    Departures.run(() -> loadHere(entry, draft));
  }

  /** Loads a draft; null: the one that is served, promoted. */
  private void loadHere(ModelEntry entry, ModelDraft wanted) {
    open.readLock().lock();
    try {
      checkOpen();
      LoadedModel old;
      ModelDraft draft;
      entry.lock.lock();
      try {
        draft = wanted == null ? entry.promote() : wanted;
        old = replace(entry, draft);
      } finally {
        entry.lock.unlock();
      }
      settle(entry, old, Checks.deadlineNs(drainTimeout), true);
      // changes of its steps went unnoticed while it was loading
      if (draft.ensemble().isPresent()) {
        followSteps(entry, Checks.deadlineNs(drainTimeout));
      }
    } finally {
      open.readLock().unlock();
    }
  }

  /**
   * Sends requests that name no version to this one, even if there are higher ones. A shadow is
   * loaded anew for that, since its threads cannot regain their priority; nothing else changes
   * until it is ready.
   */
  public void promote(ModelEntry entry) {
    Departures.run(() -> promoteHere(entry));
  }

  private void promoteHere(ModelEntry entry) {
    open.readLock().lock();
    try {
      checkOpen();
      if (entry.current() == null) {
        throw entry.notReady();
      }
      if (entry.shadowOf() != 0) {
        loadHere(entry, null);
      }
      entry.passOver(false);
      models
          .versions(entry.id().key())
          .forEach(one -> one.passOver(one.version() > entry.version()));
      follow(entry, Checks.deadlineNs(drainTimeout));
    } finally {
      open.readLock().unlock();
    }
  }

  /** Loads the draft. Returns the load that it replaced; null: none. */
  @GuardedBy("entry.lock")
  private LoadedModel replace(ModelEntry entry, ModelDraft draft) {
    LoadedModel old = entry.begin(draft);
    fire(new ModelEvent.Loading(entry.name(), entry.version()));
    LoadedModel loaded;
    try {
      loaded = publish(entry, draft);
    } catch (RuntimeException e) {
      failed(entry, e);
      throw e;
    } catch (Error e) { // a backend's class cannot be linked, or memory is exhausted
      NereidException failure =
          new NereidException(StatusCode.INTERNAL, "the model could not be loaded", e);
      failed(entry, failure);
      throw failure;
    }
    if (finishing.get()) { // after it was published: finishSequences may not have found it
      loaded.finishSequences();
    }
    if (old != null) {
      leaving.put(old, new Farewell(entry, new ModelEvent.Replaced(entry.name(), entry.version())));
    }
    fire(new ModelEvent.Ready(entry.name(), entry.version(), loaded.times()));
    return old;
  }

  @GuardedBy("entry.lock")
  private LoadedModel publish(ModelEntry entry, ModelDraft draft) {
    if (draft.ensemble().isEmpty()) {
      LoadedModel loaded = loader.load(draft, List.of(), entry.terms());
      entry.publish(draft, loaded);
      return loaded;
    }
    List<LoadedModel> used = new ArrayList<>();
    ensembles.lock();
    try {
      List<Ensemble.Step> steps = draft.ensemble().get().steps();
      EnsembleGraph.checkAcyclic(entry.id(), steps, models::current);
      steps.forEach(step -> used.add(models.use(step)));
      LoadedModel loaded = loader.load(draft, used, entry.terms());
      used.clear(); // the load gives them back itself
      entry.publish(draft, loaded);
      return loaded;
    } finally {
      ensembles.unlock();
      used.forEach(step -> finished(step.removeUser(() -> {})));
    }
  }

  /** Marks a model as failed whose load cannot even be tried. */
  public void fail(ModelEntry entry, RuntimeException cause) {
    entry.lock.lock();
    try {
      failed(entry, cause);
    } finally {
      entry.lock.unlock();
    }
  }

  @GuardedBy("entry.lock")
  private void failed(ModelEntry entry, RuntimeException cause) {
    entry.fail(cause);
    fire(new ModelEvent.Failed(entry.name(), entry.version(), cause));
  }

  /** Says more about why the last load failed. */
  public void explain(ModelEntry entry, RuntimeException cause) {
    entry.lock.lock();
    try {
      entry.explain(cause);
    } finally {
      entry.lock.unlock();
    }
  }

  // ---- Leaving ---------------------------------------------------------------------------------

  /** Does the same as {@link #unload(ModelEntry, long)}, with the timeout for draining. */
  public void unload(ModelEntry entry) {
    unload(entry, Checks.deadlineNs(drainTimeout));
  }

  /**
   * Takes no more requests of a model, finishes the others, and closes its backend; ensembles that
   * use it become unavailable first. Does nothing if the model is not loaded. If requests still
   * execute at the deadline, the backend is closed later.
   *
   * @param deadlineNs when requests that still wait are refused
   */
  public void unload(ModelEntry entry, long deadlineNs) {
    LoadedModel left;
    entry.lock.lock();
    try {
      if (entry.current() == null) {
        if (entry.isUnavailable()) {
          entry.forget();
          fire(new ModelEvent.Unloaded(entry.name(), entry.version()));
        }
        return;
      }
      left = leave(entry, ModelState.DRAINING, null);
    } finally {
      entry.lock.unlock();
    }
    settle(entry, left, deadlineNs, false);
  }

  /** Takes no more requests; {@link #settle} finishes those that were taken. */
  @GuardedBy("entry.lock")
  private LoadedModel leave(ModelEntry entry, ModelState now, RuntimeException why) {
    LoadedModel left = entry.leave(now, why);
    leaving.put(left, new Farewell(entry, new ModelEvent.Unloaded(entry.name(), entry.version())));
    fire(new ModelEvent.Draining(entry.name(), entry.version()));
    return left;
  }

  /**
   * Makes ensembles use the loads that are current after a change, and finishes the old load. The
   * caller does not hold the lock, since ensembles have locks of their own.
   */
  private void settle(ModelEntry changed, LoadedModel old, long deadlineNs, boolean patient) {
    try {
      // when closed, ensembles are unloaded on their own, and keep their steps until then
      if (!closed.get()) {
        follow(changed, deadlineNs);
      }
    } finally {
      if (old != null) {
        finished(
            departures.depart(overdue -> old.retire(deadlineNs, patient, overdue), this::finished));
      }
    }
  }

  /** Waits until no load is about to finish. */
  void awaitDepartures() {
    departures.await();
  }

  /** Completes the departure of loads that have answered their last requests. */
  private void finished(List<LoadedModel> gone) {
    for (LoadedModel model : gone) {
      Farewell farewell = leaving.remove(model);
      if (farewell != null) {
        farewell.entry.gone(model);
        if (farewell.event instanceof ModelEvent.Unloaded) {
          farewell.entry.finished();
        }
        fire(farewell.event);
      }
    }
  }

  /** Ends a use of a load, from {@link ModelEntry#use}, on whatever thread; it does not wait. */
  public void giveBack(LoadedModel used) {
    if (!used.tryRemoveUser()) {
      departures.start(() -> finished(used.removeUser(() -> {})));
    }
  }

  // ---- Ensembles -------------------------------------------------------------------------------

  /** Updates the ensembles that name a model after a change of it. */
  private void follow(ModelEntry changed, long deadlineNs) {
    String key = changed.id().key();
    for (ModelEntry entry : models.all()) {
      if (entry.steps().stream().anyMatch(step -> step.model().equals(key))) {
        followSteps(entry, deadlineNs);
      }
    }
  }

  /**
   * Makes an ensemble use the current loads, after one of its models was loaded, replaced or is
   * leaving. If the ensemble does not work with these, it keeps its loads. If one of its models was
   * unloaded, the ensemble becomes incomplete until that model is there again.
   */
  private void followSteps(ModelEntry ensemble, long deadlineNs) {
    LoadedModel old;
    ensemble.lock.lock();
    try {
      List<Ensemble.Step> steps = ensemble.steps();
      old = ensemble.current();
      if (steps.isEmpty() || (old != null && models.isUpToDate(old))) {
        return;
      }
      Optional<Ensemble.Step> missing =
          steps.stream().filter(step -> models.current(step) == null).findFirst();
      if (missing.isEmpty()) {
        replace(ensemble, ensemble.again());
      } else if (old == null) {
        return;
      } else {
        ensemble.again();
        NereidException lacking = EnsembleGraph.lacking(ensemble.name(), missing.get());
        leave(ensemble, ModelState.INCOMPLETE, lacking);
        fire(new ModelEvent.Failed(ensemble.name(), ensemble.version(), lacking));
      }
    } catch (RuntimeException e) {
      return; // the listeners have been told, and the entry keeps the reason
    } finally {
      ensemble.lock.unlock();
    }
    settle(ensemble, old, deadlineNs, true);
  }
}
