package io.nereid;

import io.nereid.internal.Checks;
import io.nereid.internal.request.Diagnostics;
import io.nereid.internal.request.Slot;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One version of a model. The object stays the same when the version is reloaded, so it can be
 * kept: requests go to whatever is loaded when they are made.
 */
public final class Model implements AutoCloseable {

  private final Nereid nereid;
  private final ModelId id;
  private final String name;
  private final long version;

  /** Held while loading and unloading. Who holds it takes that of no other model. */
  private final ReentrantLock lifecycle = new ReentrantLock();

  private final AtomicReference<ModelState> state = new AtomicReference<>(ModelState.UNLOADED);
  private volatile LoadedModel current; // takes requests; null: none does
  private volatile RuntimeException failure; // of the last load
  private volatile ModelOrigin attempted; // what was loaded last, whether it worked or not
  private volatile ModelOrigin served; // what the last load that worked was made of
  private volatile ModelLoader.Result latest; // the last load that worked

  Model(Nereid nereid, ModelId id, long version) {
    this.nereid = nereid;
    this.id = id;
    name = id.name();
    this.version = version;
  }

  /** The model's name. */
  public String name() {
    return name;
  }

  /**
   * The repository that it is in, where each has names of its own ({@link
   * RepositoryOptions#namespacing}); else empty.
   */
  public String namespace() {
    return id.namespace();
  }

  /** What no other model has. */
  String key() {
    return id.key();
  }

  /** The version; 0 stands for a model of a repository that is broken as a whole. */
  public long version() {
    return version;
  }

  /** Where it is in its life. */
  public ModelState state() {
    return state.get();
  }

  /** What it was loaded from, last. */
  public ModelSpec spec() {
    return latest().model().spec();
  }

  /** What it has done since it was loaded last; after it was unloaded, the final figures. */
  public ModelStatistics statistics() {
    return latest().model().statistics();
  }

  /**
   * The configuration that it was loaded with last, and where its values came from. Of a model that
   * was never loaded: what is known of it without the model's own word.
   */
  public ModelConfiguration configuration() {
    ModelLoader.Result loaded = latest;
    if (loaded != null) {
      return loaded.configuration();
    }
    ModelOrigin tried = attempted;
    return Optional.ofNullable(tried)
        .flatMap(ModelOrigin::configuration)
        .orElseThrow(this::notReady);
  }

  /** How long loading it took, last. */
  public LoadTimes loadTimes() {
    return latest().times();
  }

  /** What it occupies now; nothing when it is not loaded. */
  public MemoryUsage memoryUsage() {
    ModelLoader.Result loaded = latest;
    return loaded == null ? MemoryUsage.UNKNOWN : loaded.model().memory();
  }

  private ModelLoader.Result latest() {
    ModelLoader.Result loaded = latest;
    if (loaded == null) {
      throw notReady();
    }
    return loaded;
  }

  /** What takes its requests now; null: it is not ready. */
  LoadedModel current() {
    return current;
  }

  /**
   * The graph that an ensemble is served with or, while it is not available, would be served with;
   * empty for other models, and for what was unloaded.
   */
  Optional<Ensemble> ensemble() {
    LoadedModel loaded = current;
    if (loaded != null) {
      return loaded.spec().ensemble();
    }
    ModelOrigin wanted = isUnavailable() ? attempted : null;
    return wanted == null ? Optional.empty() : wanted.ensemble();
  }

  /** Whether it takes no requests for a reason that {@link #failure} tells. */
  private boolean isUnavailable() {
    ModelState now = state.get();
    return now == ModelState.FAILED || now == ModelState.INCOMPLETE;
  }

  /** A request to be filled in, sent once, and closed. */
  public InferRequest newRequest() {
    while (true) {
      LoadedModel loaded = current;
      if (loaded == null) {
        throw notReady();
      }
      Slot slot = loaded.slots().acquire();
      if (slot != null) {
        if (Diagnostics.RECORDS_LEAKS) {
          slot.origin(Diagnostics.Origin.ofCaller());
        }
        return new InferRequest(slot);
      }
      // It was replaced or unloaded since current was read, so current has another value now.
    }
  }

  /** Why the last load failed, or what an ensemble lacks; empty when all is well. */
  public Optional<String> failure() {
    return Optional.ofNullable(failure).map(Model::reason);
  }

  /** What a failure says, also one that says nothing. */
  static String reason(RuntimeException failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }

  NereidException notReady() {
    return new NereidException(
        StatusCode.UNAVAILABLE,
        "Request for unknown model: '"
            + name
            + (version == 0 ? "'" : "' version " + version)
            + " is not at ready state",
        isUnavailable() ? failure : null);
  }

  /** What happens to a model that cannot even be tried. */
  void fail(RuntimeException cause) {
    lifecycle.lock();
    try {
      failure = cause;
      if (current == null) {
        state.set(ModelState.FAILED);
      }
      nereid.fire(new ModelEvent.Failed(name, version, cause));
    } finally {
      lifecycle.unlock();
    }
  }

  /** Says more about why the last load failed. */
  void explain(RuntimeException cause) {
    lifecycle.lock();
    try {
      if (failure != null) {
        failure = cause;
      }
    } finally {
      lifecycle.unlock();
    }
  }

  /**
   * Unloads it: takes no more requests, finishes those that were sent, and closes its backend.
   * Waits for that, at most {@link NereidOptions#drainTimeout} for requests that wait for their
   * turn, and without limit for what is executing. Open responses stay valid. Ensembles that use it
   * become unavailable first. Does nothing when it is not loaded. Not to be called from a backend.
   */
  public void unload() {
    unload(Checks.deadlineNs(nereid.options().drainTimeout()));
  }

  void unload(long deadlineNs) {
    LoadedModel left;
    lifecycle.lock();
    try {
      left = current;
      failure = null;
      if (left == null) {
        if (isUnavailable()) {
          state.set(ModelState.UNLOADED);
          nereid.fire(new ModelEvent.Unloaded(name, version));
        }
        return;
      }
      leave(ModelState.DRAINING);
    } finally {
      lifecycle.unlock();
    }
    settle(left, deadlineNs, false);
  }

  /** Takes no more requests; what it has is finished by {@link #settle}. */
  private void leave(ModelState now) {
    LoadedModel left = current;
    state.set(now);
    current = null;
    left.whenFinished(this::finished);
    nereid.fire(new ModelEvent.Draining(name, version));
  }

  /** The load that was left is gone. Without the lock: who ends a load may hold other ones. */
  private void finished() {
    state.compareAndSet(ModelState.DRAINING, ModelState.UNLOADED);
    nereid.fire(new ModelEvent.Unloaded(name, version));
  }

  /**
   * After a change: lets ensembles take what is there now, and finishes the load that is not. Not
   * with the lock held, since ensembles have locks of their own.
   */
  private void settle(LoadedModel old, long deadlineNs, boolean patient) {
    try {
      nereid.ensembles().follow(this, deadlineNs);
    } finally {
      if (old != null) {
        old.retire(deadlineNs, patient);
      }
    }
  }

  /** As {@link #unload()}. */
  @Override
  public void close() {
    unload();
  }

  /** Loads it, or replaces what is loaded; the old one has finished when this returns. */
  void load(ModelOrigin origin) {
    LoadedModel old;
    lifecycle.lock();
    try {
      old = replace(origin);
    } finally {
      lifecycle.unlock();
    }
    settle(old, Checks.deadlineNs(nereid.options().drainTimeout()), true);
  }

  /** With the lock held. Returns what it replaced, null: nothing. */
  private LoadedModel replace(ModelOrigin origin) {
    attempted = origin;
    LoadedModel old = current;
    if (old == null) {
      state.set(ModelState.LOADING);
    }
    nereid.fire(new ModelEvent.Loading(name, version));
    try {
      nereid.ensembles().load(this, origin);
    } catch (RuntimeException e) {
      fail(e);
      throw e;
    } catch (Error e) { // a backend's class that cannot be linked, or no memory left
      NereidException failure =
          new NereidException(StatusCode.INTERNAL, "the model could not be loaded", e);
      fail(failure);
      throw failure;
    }
    if (old != null) {
      old.whenFinished(() -> nereid.fire(new ModelEvent.Replaced(name, version)));
    }
    nereid.fire(new ModelEvent.Ready(name, version, latest.times()));
    return old;
  }

  /** From here on requests go there. */
  void publish(ModelOrigin origin, ModelLoader.Result loaded) {
    failure = null;
    served = origin;
    latest = loaded;
    current = loaded.model();
    state.set(ModelState.READY);
  }

  /**
   * For an ensemble, one of whose models was loaded, replaced or is leaving: takes what is there
   * now. Where it does not work with that, it stays with what it has. Where a model was unloaded it
   * becomes incomplete, until the model is there again.
   */
  void followSteps(long deadlineNs) {
    LoadedModel old;
    lifecycle.lock();
    try {
      EnsembleGraph graph = nereid.ensembles();
      if (ensemble().isEmpty() || graph.isUpToDate(this)) {
        return;
      }
      old = current;
      Optional<NereidException> missing = graph.missing(this);
      if (missing.isEmpty()) {
        replace(old == null ? attempted : served);
      } else if (old == null) {
        return;
      } else {
        attempted = served;
        failure = missing.get();
        leave(ModelState.INCOMPLETE);
        nereid.fire(new ModelEvent.Failed(name, version, failure));
      }
    } catch (RuntimeException e) {
      return; // the listeners have heard of it, and the reason stays with the model
    } finally {
      lifecycle.unlock();
    }
    settle(old, deadlineNs, true);
  }

  /** Name, version and state. */
  @Override
  public String toString() {
    return "Model[" + name + ", version " + version + ", " + state.get() + "]";
  }
}
