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

  /** The state of the model: loading, ready, draining and so on. */
  public ModelState state() {
    return entry.state();
  }

  /**
   * True if it takes requests, and all of its instances say that they can answer them: a plug-in of
   * Triton's may know that one cannot, and the processes of an isolated model may have died.
   */
  public boolean isReady() {
    return entry.isReady();
  }

  /** The specification that the model was last loaded from. */
  public ModelSpec spec() {
    return latest().spec();
  }

  /**
   * The sentences for people that the model's backend makes of the first bytes of the model's
   * files, also when the load failed ({@link io.nereid.model.Backend#inspect}).
   */
  public List<String> notes() {
    return entry.notes();
  }

  /** The figures of the model since it was loaded last; after it was unloaded, the final ones. */
  public ModelStatistics statistics() {
    return latest().statistics();
  }

  /**
   * The configuration that it was loaded with last, and where its values came from. If the model
   * was never loaded, the configuration has everything that is known without the model's own file
   * or backend.
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

  /** True if it runs in a process of its own, as loaded last. */
  public boolean isIsolated() {
    return entry.latest().map(LoadedModel::isIsolated).orElse(false);
  }

  /** The process that it runs in; empty: it is not isolated, or not loaded. */
  public Optional<IsolationStatistics> isolationStatistics() {
    return entry.latest().flatMap(LoadedModel::isolation);
  }

  /** Its statistics and what it occupies, as JSON that the inference protocol has for them. */
  public String statisticsJson() {
    return ModelDocuments.statistics(entry);
  }

  /** Its metadata, as JSON that the inference protocol has for it, with these versions. */
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
   * The version of the model whose requests it gets copies of, if it is a shadow: it then gets no
   * requests that name no version, and executes in time that nobody else wants. A parameter {@code
   * shadow_of} of its specification says so, and {@code nereid-recording} makes the copies.
   */
  public OptionalLong shadowOf() {
    long primary = entry.shadowOf();
    return primary == 0 ? OptionalLong.empty() : OptionalLong.of(primary);
  }

  /**
   * Lets requests that name no version go to this version, which must take requests, and not to
   * higher ones that there are now; until it is unloaded. A shadow is loaded anew for that, and is
   * none any more. The version that got them before serves until then, and stays loaded.
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
   * Unloads it: takes no more requests, finishes those that were sent, and closes its backend.
   * Waits for that, at most {@link NereidOptions#drainTimeout} for requests that wait for their
   * turn, and without limit for what is executing. Open responses stay valid. Ensembles that use it
   * become unavailable first. Does nothing when it is not loaded. Backends must not call it.
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
   * <p>Its first request starts it, by itself: the first that is sent, and when that one fails the
   * next one. {@link #lastRequest} ends it. Closing sends nothing: a sequence that was not ended by
   * then keeps its place until the model's idle time is over. Any thread may call; who sends from
   * several sees to the order.
   */
  public static final class Sequence implements AutoCloseable {

    private final Model model;
    private final SequenceId id;

    /** True if the next request that is sent has to start it. */
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

    /** Its next request, to be filled in, sent once, and closed. */
    public InferRequest newRequest() {
      if (ended.get()) {
        throw ended();
      }
      return model.newRequest().sequence(id, startDue);
    }

    /** Its last request: the sequence ends with it, and has no more. */
    public InferRequest lastRequest() {
      if (ended.getAndSet(true)) {
        throw ended();
      }
      return model.newRequest().sequence(id, startDue).sequenceEnd(true);
    }

    private IllegalStateException ended() {
      return new IllegalStateException("sequence " + id + " has had its last request");
    }

    /** From here on it has no more requests; what was sent is answered. */
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
