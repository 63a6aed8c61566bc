package io.nereid;

import io.nereid.internal.Checks;
import io.nereid.internal.config.ProtobufConfiguration;
import io.nereid.internal.model.LoadedModel;
import io.nereid.internal.model.ModelEntry;
import io.nereid.internal.model.ModelLifecycle;
import io.nereid.internal.request.Diagnostics;
import io.nereid.internal.request.Slot;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.SequenceId;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import java.util.Optional;

/**
 * One version of a model. The object stays the same when the version is reloaded, so it can be
 * kept: requests go to whatever is loaded when they are made. All methods may be called from any
 * thread.
 */
public final class Model implements AutoCloseable {

  private final ModelEntry entry;
  private final ModelLifecycle lifecycle;

  Model(ModelEntry entry, ModelLifecycle lifecycle) {
    this.entry = entry;
    this.lifecycle = lifecycle;
  }

  /** The model's name. */
  public String name() {
    return entry.name();
  }

  /**
   * The repository that it is in, where each has names of its own ({@link
   * io.nereid.model.RepositoryOptions#namespacing}); else empty.
   */
  public String namespace() {
    return entry.id().namespace();
  }

  /** The version; 0 stands for a model of a repository that is broken as a whole. */
  public long version() {
    return entry.version();
  }

  /** Where it is in its life. */
  public ModelState state() {
    return entry.state();
  }

  /** What it was loaded from, last. */
  public ModelSpec spec() {
    return latest().spec();
  }

  /** What it has done since it was loaded last; after it was unloaded, the final figures. */
  public ModelStatistics statistics() {
    return latest().statistics();
  }

  /**
   * The configuration that it was loaded with last, and where its values came from. Of a model that
   * was never loaded: what is known of it without the model's own word.
   */
  public ModelConfiguration configuration() {
    return entry.configuration().orElseThrow(entry::notReady);
  }

  /** The configuration of a model that a program describes. Its outputs' labels are not in it. */
  public static ModelConfiguration configurationOf(ModelSpec spec) {
    return ProtobufConfiguration.of(Checks.notNull(spec, "spec"));
  }

  /** How long loading it took, last. */
  public LoadTimes loadTimes() {
    return latest().times();
  }

  /** What it occupies now; nothing when it is not loaded. */
  public MemoryUsage memoryUsage() {
    return entry.latest().map(LoadedModel::memory).orElse(MemoryUsage.UNKNOWN);
  }

  private LoadedModel latest() {
    return entry.latest().orElseThrow(entry::notReady);
  }

  /** A request to be filled in, sent once, and closed. */
  public InferRequest newRequest() {
    while (true) {
      LoadedModel loaded = entry.current();
      if (loaded == null) {
        throw entry.notReady();
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

  /**
   * A sequence of requests, for models that execute those ({@link
   * io.nereid.model.SequenceBatching}).
   *
   * @param number its id, not 0
   */
  public Sequence sequence(long number) {
    return sequence(SequenceId.of(number));
  }

  /**
   * A sequence of requests.
   *
   * @param name its id, not empty and at most {@value SequenceId#MAX_NAME_BYTES} bytes of UTF-8
   */
  public Sequence sequence(String name) {
    return sequence(SequenceId.of(name));
  }

  /** A sequence of requests; the id is not {@link SequenceId#NONE}. */
  public Sequence sequence(SequenceId id) {
    return new Sequence(this, id);
  }

  /** Why the last load failed, or what an ensemble lacks; empty when all is well. */
  public Optional<String> failure() {
    return entry.failure();
  }

  /**
   * Unloads it: takes no more requests, finishes those that were sent, and closes its backend.
   * Waits for that, at most {@link NereidOptions#drainTimeout} for requests that wait for their
   * turn, and without limit for what is executing. Open responses stay valid. Ensembles that use it
   * become unavailable first. Does nothing when it is not loaded. Not to be called from a backend.
   */
  public void unload() {
    lifecycle.unload(entry);
  }

  /** As {@link #unload()}. */
  @Override
  public void close() {
    unload();
  }

  /** Name, version and state. */
  @Override
  public String toString() {
    return entry.toString();
  }
}
