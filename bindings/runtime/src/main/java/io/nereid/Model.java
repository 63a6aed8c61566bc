package io.nereid;

import io.nereid.internal.request.Slot;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One version of a model. The object stays the same when the version is reloaded, so it can be
 * kept: requests go to whatever is loaded when they are made.
 */
public final class Model implements AutoCloseable {

  private final Nereid nereid;
  private final String name;
  private final long version;

  /**
   * Held while loading and unloading. A thread that holds it may take that of an ensemble that uses
   * this model, never the other way round.
   */
  private final ReentrantLock lifecycle = new ReentrantLock();

  private volatile ModelState state = ModelState.UNLOADED;
  private volatile LoadedModel current; // takes requests; null: none does
  private volatile RuntimeException failure; // of the last load
  private volatile ModelOrigin origin; // of the last load, failed or not
  private volatile ModelLoader.Result latest; // the last that could be loaded

  Model(Nereid nereid, String name, long version) {
    this.nereid = nereid;
    this.name = name;
    this.version = version;
  }

  /** The model's name. */
  public String name() {
    return name;
  }

  /** The version; 0 stands for a model of a repository that is broken as a whole. */
  public long version() {
    return version;
  }

  /** Where it is in its life. */
  public ModelState state() {
    return state;
  }

  /** What it was loaded from, last. */
  public ModelSpec spec() {
    return latest().model().spec();
  }

  /** What it has done since it was loaded last; after it was unloaded, the final figures. */
  public ModelStatistics statistics() {
    return latest().model().statistics();
  }

  /** The configuration that it was loaded with last, and where its values came from. */
  public ModelConfiguration configuration() {
    return latest().configuration();
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

  /** The graph of an ensemble, loaded or not; empty for other models. */
  Optional<Ensemble> ensemble() {
    return Optional.ofNullable(origin).flatMap(ModelOrigin::ensemble);
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
        return new InferRequest(loaded, slot);
      }
      // It was replaced or unloaded since current was read, so current has another value now.
    }
  }

  /** Why the last load failed; empty when it did not. */
  public Optional<String> failure() {
    return Optional.ofNullable(failure).map(RuntimeException::getMessage);
  }

  NereidException notReady() {
    return new NereidException(
        StatusCode.UNAVAILABLE,
        "Request for unknown model: '"
            + name
            + (version == 0 ? "'" : "' version " + version)
            + " is not at ready state",
        state == ModelState.FAILED ? failure : null);
  }

  /** What happens to a model that cannot even be tried. */
  void fail(RuntimeException cause) {
    lifecycle.lock();
    try {
      failure = cause;
      if (current == null) {
        state = ModelState.FAILED;
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
    lifecycle.lock();
    try {
      if (current != null) {
        leave(deadlineNs);
      }
      if (state != ModelState.UNLOADED) {
        state = ModelState.UNLOADED;
        failure = null;
        nereid.fire(new ModelEvent.Unloaded(name, version));
      }
    } finally {
      lifecycle.unlock();
    }
  }

  private void leave(long deadlineNs) {
    LoadedModel loaded = current;
    state = ModelState.DRAINING;
    current = null;
    nereid.fire(new ModelEvent.Draining(name, version));
    nereid.ensembles().follow(this, deadlineNs);
    loaded.retire(deadlineNs, false);
  }

  /** As {@link #unload()}. */
  @Override
  public void close() {
    unload();
  }

  /** Loads it, or replaces what is loaded; the old one has finished when this returns. */
  void load(ModelOrigin origin) {
    lifecycle.lock();
    try {
      this.origin = origin;
      LoadedModel old = current;
      if (old == null) {
        state = ModelState.LOADING;
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
      nereid.fire(new ModelEvent.Ready(name, version, latest.times()));
      long deadlineNs = Checks.deadlineNs(nereid.options().drainTimeout());
      nereid.ensembles().follow(this, deadlineNs);
      if (old != null) {
        nereid.fire(new ModelEvent.Draining(name, version));
        old.retire(deadlineNs, true);
        nereid.fire(new ModelEvent.Unloaded(name, version));
      }
    } finally {
      lifecycle.unlock();
    }
  }

  /** From here on requests go there. */
  void publish(ModelLoader.Result loaded) {
    failure = null;
    latest = loaded;
    current = loaded.model();
    state = ModelState.READY;
  }

  /**
   * For an ensemble, one of whose models was loaded, replaced or is leaving: takes what is there
   * now. Where it does not work with that, it stays with what it has. Where a model is missing it
   * becomes unavailable, until the model is there again.
   */
  void followSteps(long deadlineNs) {
    lifecycle.lock();
    try {
      EnsembleGraph graph = nereid.ensembles();
      if (state == ModelState.UNLOADED || graph.isUpToDate(this)) {
        return;
      }
      if (graph.isComplete(this)) {
        try {
          load(origin);
        } catch (RuntimeException e) {
          // The listeners have heard of it, and the reason stays with the model.
        }
      } else if (current != null) {
        leave(deadlineNs);
        fail(graph.missing(this));
      }
    } finally {
      lifecycle.unlock();
    }
  }

  /** Name, version and state. */
  @Override
  public String toString() {
    return "Model[" + name + ", version " + version + ", " + state + "]";
  }
}
