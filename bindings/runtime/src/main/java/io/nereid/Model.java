package io.nereid;

import io.nereid.internal.Checks;
import io.nereid.internal.config.ProtobufConfiguration;
import io.nereid.internal.model.LoadedModel;
import io.nereid.internal.model.ModelDocuments;
import io.nereid.internal.model.ModelEntry;
import io.nereid.internal.model.ModelLifecycle;
import io.nereid.internal.request.Diagnostics;
import io.nereid.internal.request.Slot;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.SequenceId;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.IsolationStatistics;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;

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
   * The model's repository, if each has names of its own ({@link
   * io.nereid.model.RepositoryOptions#namespacing}); else empty.
   */
  public String namespace() {
    return entry.id().namespace();
  }

  /** The version; 0 stands for a model of a repository that is broken as a whole. */
  public long version() {
    return entry.version();
  }

  /** The state of the model: loading, ready, draining and so on. */
  public ModelState state() {
    return entry.state();
  }

  /**
   * True if the model takes requests and all its instances report that they can answer: a plug-in
   * of Triton's may report that one cannot, and the processes of an isolated model may have died.
   */
  public boolean isReady() {
    return entry.isReady();
  }

  /** The specification that the model was last loaded from. */
  public ModelSpec spec() {
    return latest().spec();
  }

  /**
   * Sentences for people that the backend writes about the first bytes of the model's files, also
   * when the load failed ({@link io.nereid.model.Backend#inspect}).
   */
  public List<String> notes() {
    return entry.notes();
  }

  /** The figures of the model since it was loaded last; after it was unloaded, the final ones. */
  public ModelStatistics statistics() {
    return latest().statistics();
  }

  /**
   * The configuration of the last load, and where its values came from. If the model was never
   * loaded, the configuration has everything that is known without the model's own file or backend.
   */
  public ModelConfiguration configuration() {
    return entry.configuration().orElseThrow(entry::notReady);
  }

  /** The configuration of a model that a program describes. Its outputs' labels are not in it. */
  public static ModelConfiguration configurationOf(ModelSpec spec) {
    return ProtobufConfiguration.of(Checks.notNull(spec, "spec"));
  }

  /** The time that the last load took. */
  public LoadTimes loadTimes() {
    return latest().times();
  }

  /** The memory that the model occupies now; nothing when it is not loaded. */
  public MemoryUsage memoryUsage() {
    return entry.latest().map(LoadedModel::memory).orElse(MemoryUsage.UNKNOWN);
  }

  /**
   * The resources that the model's instances wait for now, by the index of the instance; none when
   * the model is not loaded, or an ensemble.
   */
  public List<InstanceStatistics> instanceStatistics() {
    return entry.latest().map(LoadedModel::instances).orElse(List.of());
  }

  /** True if the last load put the model, or a step of the ensemble, into another process. */
  public boolean isIsolated() {
    return entry.latest().map(LoadedModel::isIsolated).orElse(false);
  }

  /** The process that the model runs in; empty: the model is not isolated, or not loaded. */
  public Optional<IsolationStatistics> isolationStatistics() {
    return entry.latest().flatMap(LoadedModel::isolation);
  }

  /** The model's statistics and memory, in the inference protocol's JSON. */
  public String statisticsJson() {
    return ModelDocuments.statistics(entry);
  }

  /** The model's metadata, in the inference protocol's JSON, with these versions. */
  public String metadataJson(List<String> versions) {
    return ModelDocuments.metadata(entry, Checks.notNull(versions, "versions"));
  }

  private LoadedModel latest() {
    return entry.latest().orElseThrow(entry::notReady);
  }

  /** A request to be filled in, sent once, and closed. */
  public InferRequest newRequest() {
    Slot slot = entry.newSlot();
    if (Diagnostics.RECORDS_LEAKS) {
      slot.origin(Diagnostics.Origin.ofCaller());
    }
    return new InferRequest(slot);
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

  /**
   * Returns the version whose requests are copied to this model, if it is a shadow: a shadow gets
   * no requests without a version, and executes only when no other model wants to. A parameter
   * {@code shadow_of} of its specification says so, and {@code nereid-recording} makes the copies.
   */
  public OptionalLong shadowOf() {
    long primary = entry.shadowOf();
    return primary == 0 ? OptionalLong.empty() : OptionalLong.of(primary);
  }

  /**
   * Directs requests that name no version to this version, which must take requests, although there
   * are higher ones, until it is unloaded. A shadow is loaded anew for that and stops being a
   * shadow. The version that got these requests before serves until then, and stays loaded.
   */
  public void promote() {
    lifecycle.promote(entry);
  }

  /** True if its requests may belong to sequences: its own, or those of an ensemble's steps. */
  public boolean hasSequences() {
    LoadedModel loaded = entry.current();
    return loaded != null && loaded.hasSequences();
  }

  /**
   * The reason why the last load failed, why an ensemble is incomplete, or why an isolated model
   * has no process any more; empty when all is well.
   */
  public Optional<String> failure() {
    return entry.failure();
  }

  /**
   * Unloads the model: takes no more requests, finishes those that were sent, and closes its
   * backend. Waits for that, at most {@link NereidOptions#drainTimeout}: then requests that wait
   * for their turn are refused, and the backend is closed when what is executing ends. Open
   * responses stay valid. Ensembles that use it become unavailable first. Does nothing when it is
   * not loaded. Backends must not call it.
   */
  public void unload() {
    lifecycle.unload(entry);
  }

  /** Does the same as {@link #unload()}. */
  @Override
  public void close() {
    unload();
  }

  /** Name, version and state. */
  @Override
  public String toString() {
    return entry.toString();
  }

  /**
   * A sequence of requests to a model, which executes them in the order in which they are sent:
   *
   * {@snippet :
   * try (Model.Sequence sequence = model.sequence(42)) {
   *   for (Tensor part : parts) {
   *     try (InferRequest request = sequence.newRequest().input("AUDIO", part);
   *         InferResponse response = request.infer()) {
   *       // ...
   *     }
   *   }
   *   try (InferRequest request = sequence.lastRequest().input("AUDIO", silence);
   *       InferResponse response = request.infer()) {
   *     // ...
   *   }
   * }
   * }
   *
   * <p>The first request that is sent starts the sequence; when it fails, the next one does. {@link
   * #lastRequest} ends it. Closing sends nothing: a sequence that was not ended by then keeps its
   * place until the model's idle time is over. Any thread may call; a caller with several threads
   * sees to the order.
   */
  public static final class Sequence implements AutoCloseable {

    private final Model model;
    private final SequenceId id;

    /** True if the next request that is sent starts the sequence. */
    private final AtomicBoolean startDue = new AtomicBoolean(true);

    private final AtomicBoolean ended = new AtomicBoolean();

    private Sequence(Model model, SequenceId id) {
      this.model = model;
      this.id = Checks.notNull(id, "id");
      if (id.isNone()) {
        throw new IllegalArgumentException("a sequence needs an id that is not 0 or empty");
      }
    }

    /** The name or number of the sequence. */
    public SequenceId id() {
      return id;
    }

    /** The sequence's next request, to be filled in, sent once, and closed. */
    public InferRequest newRequest() {
      if (ended.get()) {
        throw ended();
      }
      return model.newRequest().sequence(id, startDue);
    }

    /** The sequence's last request, which ends it. */
    public InferRequest lastRequest() {
      if (ended.getAndSet(true)) {
        throw ended();
      }
      return model.newRequest().sequence(id, startDue).sequenceEnd(true);
    }

    private IllegalStateException ended() {
      return new IllegalStateException("sequence " + id + " has had its last request");
    }

    /** Ends the object's use: it makes no more requests; those that were sent are answered. */
    @Override
    public void close() {
      ended.set(true);
    }

    /** The model and the id. */
    @Override
    public String toString() {
      return "Sequence[" + model.name() + ", " + id + "]";
    }
  }
}
