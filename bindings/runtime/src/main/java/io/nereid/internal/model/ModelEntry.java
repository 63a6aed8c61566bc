package io.nereid.internal.model;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.request.Slot;
import io.nereid.internal.request.SlotPool;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelState;
import io.nereid.model.SequenceId;
import io.nereid.statistics.ObjectiveStatistics;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * One version of a model: the load that takes its requests now, and the result of the last attempt
 * to load it. The object stays the same while loads come and go. {@link ModelLifecycle} changes it,
 * holding the lock; any thread may read it without.
 */
public final class ModelEntry {

  /** Held while loading and unloading. A thread that holds it takes the lock of no other model. */
  final ReentrantLock lock = new ReentrantLock();

  private final ModelId id;
  private final long version;
  private final AtomicReference<ModelState> state = new AtomicReference<>(ModelState.UNLOADED);
  private volatile LoadedModel current; // takes requests; null: none does

  /** Loads that were replaced and may still have sequences, the youngest first. */
  private final List<LoadedModel> replaced = new CopyOnWriteArrayList<>();

  private volatile LoadedModel latest; // the last load that worked; null: none did
  private volatile RuntimeException failure; // of the last load
  private volatile ModelDraft attempted; // the draft of the last load, whether that worked or not
  private volatile ModelDraft served; // the draft of the last load that worked
  private volatile long shadowOf; // the version that the current load is a shadow of; 0: none
  private volatile boolean passedOver; // a lower version was promoted
  private volatile boolean promoted; // the next load is no shadow, whatever its draft says
  private volatile Object face;

  ModelEntry(ModelId id, long version) {
    this.id = id;
    this.version = version;
  }

  /** The names that the model is known by. */
  public ModelId id() {
    return id;
  }

  /** The name that clients call the model by. */
  public String name() {
    return id.name();
  }

  /** The version; 0 stands for a model of a repository that is broken as a whole. */
  public long version() {
    return version;
  }

  /** The state of the version: loading, ready, draining and so on. */
  public ModelState state() {
    return state.get();
  }

  /** True if a load takes its requests, and all instances report that they can answer. */
  public boolean isReady() {
    LoadedModel now = current;
    if (now == null) {
      return false;
    }
    try {
      now.checkReady();
      return true;
    } catch (NereidException e) {
      return false;
    }
  }

  /** The load that takes the model's requests now; null: none does. */
  public LoadedModel current() {
    return current;
  }

  /** A slot for a new request; throws while no load takes requests. */
  public Slot newSlot() {
    while (true) {
      LoadedModel now = current;
      if (now == null) {
        throw notReady();
      }
      Slot slot = now.slots().acquire();
      if (slot != null) {
        return slot;
      }
      // The load was replaced or unloaded since current was read; current has changed.
    }
  }

  /**
   * Returns the slots for a request of a sequence: those of the load that has its sequence, also
   * when that load was replaced. A sequence that starts, or starts anew, goes to the load that
   * takes requests now.
   */
  private SlotPool route(SequenceId id, boolean starts) {
    LoadedModel now = current;
    if (!starts && !replaced.isEmpty() && (now == null || !now.knows(id))) {
      for (LoadedModel old : replaced) {
        if (old.knows(id)) {
          return old.slots();
        }
      }
    }
    return now == null ? null : now.slots();
  }

  /**
   * Returns the load that takes a request, with a use that the caller must end; null: none does.
   *
   * @param sequence the request's sequence
   */
  public LoadedModel use(SequenceId sequence, boolean starts) {
    while (true) {
      LoadedModel now = current;
      if (!sequence.isNone() && !starts && (now == null || !now.knows(sequence))) {
        for (LoadedModel old : replaced) {
          if (old.knows(sequence) && old.addSequenceUser()) {
            return old;
          }
        }
      }
      if (now == null || now.addUser()) {
        return now;
      }
      Thread.onSpinWait(); // it was replaced or unloaded since current was read
    }
  }

  /** The last load that worked, which may be gone by now; empty: none did. */
  public Optional<LoadedModel> latest() {
    return Optional.ofNullable(latest);
  }

  /**
   * The version whose requests are copied to this one ({@link #takesAny} is then false); 0: this is
   * no shadow.
   */
  public long shadowOf() {
    return shadowOf;
  }

  /** True if requests that name no version may go to this one. */
  boolean takesAny() {
    return shadowOf == 0 && !passedOver;
  }

  /** The terms of its next load. */
  LoadTerms terms() {
    LoadedModel last = latest;
    return new LoadTerms(
        last == null || last.spec().objective().isEmpty()
            ? List.of()
            : last.statistics().objective().map(ObjectiveStatistics::costs).orElse(List.of()),
        promoted);
  }

  /**
   * The configuration of the last load. If the model was never loaded, the configuration has
   * everything that is known without the model's own file or backend.
   */
  public Optional<ModelConfiguration> configuration() {
    LoadedModel loaded = latest;
    ModelDraft tried = attempted;
    return loaded != null
        ? Optional.of(loaded.configuration())
        : Optional.ofNullable(tried).flatMap(ModelDraft::configuration);
  }

  /** The backend's sentences about the files of the last load; none if it cannot read them. */
  public List<String> notes() {
    ModelDraft tried = attempted;
    try {
      return tried == null ? List.of() : BackendFinder.inspect(tried);
    } catch (NereidException e) {
      return List.of(); // the load's own failure has the reason
    }
  }

  /**
   * The steps of an ensemble that is served or, while it is unavailable, would be served; none for
   * other models and after unloading.
   */
  public List<Ensemble.Step> steps() {
    LoadedModel loaded = current;
    if (loaded != null) {
      return loaded.ensembleSteps();
    }
    ModelDraft wanted = isUnavailable() ? attempted : null;
    return wanted == null ? List.of() : wanted.ensemble().map(Ensemble::steps).orElse(List.of());
  }

  /**
   * The reason why the last load failed, why an ensemble is incomplete, or why an isolated model
   * has no process any more; empty when all is well.
   */
  public Optional<String> failure() {
    LoadedModel now = current;
    return Optional.ofNullable(failure)
        .map(ModelEntry::reason)
        .or(() -> now == null ? Optional.empty() : now.isolationFailure());
  }

  /** Returns the message of a failure, or its class if it has no message. */
  public static String reason(RuntimeException failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }

  /** The exception for a request that comes while no load takes requests. */
  public NereidException notReady() {
    return new NereidException(
        StatusCode.UNAVAILABLE,
        "Request for unknown model: '%s%s is not at ready state"
            .formatted(id.name(), version == 0 ? "'" : "' version " + version),
        isUnavailable() ? failure : null);
  }

  /** True if the version takes no requests, and {@link #failure} has the reason. */
  boolean isUnavailable() {
    ModelState now = state.get();
    return now == ModelState.FAILED || now == ModelState.INCOMPLETE;
  }

  /** Returns the object that the public API shows for this model, which is made once. */
  public Object face(Function<ModelEntry, Object> make) {
    Object made = face;
    return made != null ? made : makeFace(make);
  }

  private synchronized Object makeFace(Function<ModelEntry, Object> make) {
    if (face == null) {
      face = make.apply(this);
    }
    return face;
  }

  /** True if some load of this version has sequences that have not ended. */
  boolean hasOpenSequences() {
    LoadedModel now = current;
    return (now != null && now.hasOpenSequences())
        || replaced.stream().anyMatch(LoadedModel::hasOpenSequences);
  }

  // ---- Changes, with the lock held ------------------------------------------------------------

  /**
   * Notes that the model is about to be loaded. Returns the load that takes requests meanwhile;
   * null: none does.
   */
  @GuardedBy("lock")
  LoadedModel begin(ModelDraft draft) {
    attempted = draft;
    if (current == null) {
      state.set(ModelState.LOADING);
    }
    return current;
  }

  /** Sends requests to this load from now on. */
  @GuardedBy("lock")
  void publish(ModelDraft draft, LoadedModel loaded) {
    if (current != null && current.hasSequences()) {
      current.replacedBy(loaded);
      replaced.addFirst(current);
    }
    if (loaded.hasSequences() || !replaced.isEmpty()) {
      loaded.slots().route(this::route);
    }
    failure = null;
    served = draft;
    shadowOf = new LoadTerms(List.of(), promoted).primary(loaded.spec());
    latest = loaded;
    current = loaded;
    state.set(ModelState.READY);
  }

  /** Notes that the model could not be loaded; an earlier load goes on. */
  @GuardedBy("lock")
  void fail(RuntimeException cause) {
    failure = cause;
    promoted &= shadowOf == 0;
    if (current == null) {
      state.set(ModelState.FAILED);
    }
  }

  /** Says more about why the last load failed. */
  @GuardedBy("lock")
  void explain(RuntimeException cause) {
    if (failure != null) {
      failure = cause;
    }
  }

  /** Forgets a replaced load that is gone, with its sequences. Called without the lock. */
  void gone(LoadedModel old) {
    replaced.remove(old);
  }

  /** Takes no more requests and enters the state. Returns the load that took them. */
  @GuardedBy("lock")
  LoadedModel leave(ModelState now, RuntimeException why) {
    LoadedModel left = current;
    failure = why;
    state.set(now);
    current = null;
    promoted = false;
    passedOver = false;
    return left;
  }

  /**
   * Makes the version no shadow from its next load on, if that works. Returns the draft for it,
   * which a load that has just ended may have replaced.
   */
  @GuardedBy("lock")
  ModelDraft promote() {
    if (current == null) {
      throw notReady();
    }
    promoted = true;
    return served;
  }

  /** Sets whether requests that name no version pass this one over. Called without the lock. */
  void passOver(boolean now) {
    passedOver = now;
  }

  /** Notes that the model was not loaded and is not waited for any more. */
  @GuardedBy("lock")
  void forget() {
    failure = null;
    state.set(ModelState.UNLOADED);
  }

  /** Returns the draft of an ensemble's next load: the one that it was served with. */
  @GuardedBy("lock")
  ModelDraft again() {
    if (current != null) {
      attempted = served;
    }
    return attempted;
  }

  /**
   * Notes that the load that left is gone. Called without the lock: a thread that ends a load may
   * hold the locks of other models.
   */
  void finished() {
    state.compareAndSet(ModelState.DRAINING, ModelState.UNLOADED);
  }

  /** Name, version and state. */
  @Override
  public String toString() {
    return "Model[" + id.name() + ", version " + version + ", " + state.get() + "]";
  }
}
