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

  /** Held while loading and unloading. */
  private final ReentrantLock lifecycle = new ReentrantLock();

  private volatile ModelState state = ModelState.UNLOADED;
  private volatile LoadedModel current; // takes requests; null: none does
  private volatile RuntimeException failure; // of the last load
  private volatile LoadedModel latest; // the one loaded last, for what can be asked afterwards

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
    return loaded().spec();
  }

  /** What it has done since it was loaded last; after it was unloaded, the final figures. */
  public ModelStatistics statistics() {
    return loaded().statistics();
  }

  private LoadedModel loaded() {
    LoadedModel loaded = latest;
    if (loaded == null) {
      throw notReady();
    }
    return loaded;
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

  /**
   * Unloads it: takes no more requests, finishes those that were sent, and closes its backend.
   * Waits for that, at most {@link NereidOptions#drainTimeout} for requests that wait for their
   * turn, and without limit for what is executing. Open responses stay valid. Does nothing when it
   * is not loaded. Not to be called from a backend.
   */
  public void unload() {
    unload(Checks.deadlineNs(nereid.options().drainTimeout()));
  }

  void unload(long deadlineNs) {
    lifecycle.lock();
    try {
      LoadedModel loaded = current;
      if (loaded == null) {
        return;
      }
      state = ModelState.DRAINING;
      current = null;
      nereid.fire(new ModelEvent.Draining(name, version));
      loaded.finish(deadlineNs, false);
      state = ModelState.UNLOADED;
      nereid.fire(new ModelEvent.Unloaded(name, version));
    } finally {
      lifecycle.unlock();
    }
  }

  /** As {@link #unload()}. */
  @Override
  public void close() {
    unload();
  }

  /** Loads it, or replaces what is loaded; the old one has finished when this returns. */
  void load(NativeRuntime runtime, ModelSpec spec) {
    lifecycle.lock();
    try {
      LoadedModel old = current;
      if (old == null) {
        state = ModelState.LOADING;
      }
      nereid.fire(new ModelEvent.Loading(name, version));
      LoadedModel loaded;
      try {
        loaded = LoadedModel.load(runtime, spec);
      } catch (RuntimeException e) {
        fail(e);
        throw e;
      }
      failure = null;
      latest = loaded;
      current = loaded;
      state = ModelState.READY;
      nereid.fire(new ModelEvent.Ready(name, version));
      if (old != null) {
        nereid.fire(new ModelEvent.Draining(name, version));
        old.finish(Checks.deadlineNs(nereid.options().drainTimeout()), true);
        nereid.fire(new ModelEvent.Unloaded(name, version));
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
