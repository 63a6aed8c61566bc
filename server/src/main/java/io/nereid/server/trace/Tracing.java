package io.nereid.server.trace;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The tracing of one server: its settings, which change while it runs, and the making of traces.
 * While nothing is traced there is no thread, no file and no connection, and a request costs one
 * read of a field. Any thread may call it.
 */
public final class Tracing {

  /** The most traces that wait for the disk. */
  private static final int FILE_QUEUE_SIZE = 4096;

  private static final int FILE_BATCH_SIZE = 1024;
  private static final Duration FILE_DELAY = Duration.ofMillis(200);

  /** The samplers by model, and the queue for their traces. */
  private record Sampling(TraceSampler global, Map<String, TraceSampler> models, TraceQueue queue) {

    TraceSampler of(String model) {
      return models.getOrDefault(model, global);
    }

    boolean isOn() {
      return global.isOn() || models.values().stream().anyMatch(TraceSampler::isOn);
    }
  }

  private final TraceOptions options;
  private final TraceSettings started;
  private final AtomicLong ids = new AtomicLong();
  private final TraceExemplars exemplars = new TraceExemplars();

  /** The samplers in use; null when nothing is traced. */
  private volatile Sampling active;

  /** The slow requests, while they are watched; null: they are not. */
  private volatile TraceRing watched;

  @GuardedBy("this")
  private Sampling current;

  @GuardedBy("this")
  private Map<String, Object> ownGlobal = Map.of();

  @GuardedBy("this")
  private final Map<String, Map<String, Object>> ownOfModels = new HashMap<>();

  @GuardedBy("this")
  private boolean closed;

  /** Starts with settings that hold until they are changed. */
  public Tracing(TraceOptions options) {
    this.options = options;
    started =
        new TraceSettings(
            options.levels(), options.rate(), options.count(), options.logFrequency());
    set(new TraceSampler(started), Map.of());
  }

  // ---- For requests ----------------------------------------------------------------------------

  /** True if {@link #begin} may return a trace. */
  public boolean isOn() {
    return active != null || watched != null;
  }

  /** Keeps the slowest requests from now on, for which all are watched; false: forgets them. */
  public void watch(boolean wanted) {
    watched = wanted ? new TraceRing() : null;
  }

  /** The slowest requests; empty: they are not {@linkplain #watch watched}. */
  public Optional<TraceRing> slowest() {
    return Optional.ofNullable(watched);
  }

  /**
   * The trace of a request; null when it is not traced.
   *
   * @param version the model's version; 0: none was named
   * @param receiveStartNs when the request began to arrive, by the clock of System.nanoTime
   * @param traceparent the client's header field of this name; null when there is none
   * @param tracestate as traceparent
   */
  public Trace begin(
      Trace.Protocol protocol,
      String model,
      long version,
      long receiveStartNs,
      String traceparent,
      String tracestate) {
    Sampling now = active;
    TraceSampler sampler = now == null ? null : now.of(model);
    TraceParent parent = null;
    boolean written = sampler != null && sampler.isOn();
    if (written) {
      parent =
          options.mode() == TraceMode.OPENTELEMETRY
              ? TraceParent.parse(traceparent, tracestate)
              : null;
      written = sampler.sample(parent != null && parent.sampled());
    }
    TraceRing ring = watched;
    if (!written && ring == null) {
      return null;
    }
    TraceQueue queue = written ? now.queue() : null;
    Trace trace =
        new Trace(ids::incrementAndGet, protocol, model, version, parent, sampler, queue, ring);
    trace.receiveStartNs = receiveStartNs;
    if (protocol == Trace.Protocol.HTTP) {
      trace.headEndNs = System.nanoTime();
    }
    return trace;
  }

  // ---- Changing settings -----------------------------------------------------------------------

  /**
   * The present settings, by Triton's names.
   *
   * @param model the model; empty: the settings of all models without their own
   */
  public synchronized Map<String, List<String>> settings(String model) {
    TraceSettings settings = current.of(model).settings();
    Map<String, List<String>> named = new LinkedHashMap<>();
    named.put(TraceSettings.LEVEL, TraceLevel.names(settings.levels()));
    named.put(TraceSettings.RATE, List.of(Long.toString(settings.rate())));
    named.put(TraceSettings.COUNT, List.of(Long.toString(settings.count())));
    if (options.mode() == TraceMode.TRITON) {
      named.put(TraceSettings.LOG_FREQUENCY, List.of(Long.toString(settings.logFrequency())));
      named.put(TraceSettings.FILE, List.of(options.file()));
    }
    named.put(TraceSettings.MODE, List.of(options.mode().toString()));
    if (options.mode() == TraceMode.OPENTELEMETRY) {
      named.put("url", List.of(options.otlp().url().toString()));
    }
    return named;
  }

  /** Throws if no setting can be changed by this name, or it cannot have these values. */
  public static void check(String name, List<String> values) {
    TraceSettings.parse(name, values);
  }

  /**
   * Changes all given settings or, if it throws, none.
   *
   * @param model the model, which must exist; empty: all models
   * @param given settings by Triton's names; without values: as the server's, or as at the start
   */
  public synchronized void update(String model, Map<String, List<String>> given) {
    boolean global = model.isEmpty();
    Map<String, Object> own = global ? ownGlobal : ownOfModels.get(model);
    Map<String, Object> updated = TraceSettings.apply(withCount(own, current.of(model)), given);
    if (!global) {
      TraceSampler sampler = sampler(updated, current.global().settings());
      Map<String, TraceSampler> samplers = new HashMap<>(current.models());
      if (updated.isEmpty()) {
        ownOfModels.remove(model);
        samplers.remove(model);
      } else {
        ownOfModels.put(model, updated);
        samplers.put(model, sampler);
      }
      set(current.global(), samplers);
      return;
    }
    TraceSampler sampler = sampler(updated, started);
    Map<String, TraceSampler> samplers = new HashMap<>();
    Sampling before = current;
    ownOfModels.replaceAll((name, ownOf) -> withCount(ownOf, before.of(name)));
    ownOfModels.forEach((name, ownOf) -> samplers.put(name, sampler(ownOf, sampler.settings())));
    ownGlobal = updated;
    set(sampler, samplers);
  }

  /** Puts the present value of a model's own count into its settings. */
  private static Map<String, Object> withCount(Map<String, Object> own, TraceSampler sampler) {
    if (own == null || !own.containsKey(TraceSettings.COUNT)) {
      return own;
    }
    Map<String, Object> updated = new HashMap<>(own);
    updated.put(TraceSettings.COUNT, sampler.settings().count());
    return updated;
  }

  private TraceSampler sampler(Map<String, Object> own, TraceSettings fallback) {
    TraceSettings settings = fallback.with(own);
    String fault = settings.fault(options.mode(), options.file());
    if (fault != null) {
      throw TraceSettings.invalid("Attempting to set invalid trace setting :" + fault);
    }
    return new TraceSampler(settings);
  }

  @GuardedBy("this")
  private void set(TraceSampler global, Map<String, TraceSampler> models) {
    TraceQueue queue = current == null ? null : current.queue();
    current = new Sampling(global, Map.copyOf(models), queue);
    if (current.isOn() && !closed) {
      if (queue == null) {
        current = new Sampling(global, current.models(), start());
      }
      active = current;
    } else {
      active = null;
    }
  }

  private TraceQueue start() {
    if (options.mode() == TraceMode.TRITON) {
      return new TraceQueue(
          new TraceFile(options.file()), FILE_QUEUE_SIZE, FILE_BATCH_SIZE, FILE_DELAY);
    }
    OtlpOptions otlp = options.otlp();
    return new TraceQueue(
        new OtlpExporter(otlp, System.getenv(), exemplars),
        otlp.queueSize(),
        otlp.batchSize(),
        otlp.delay());
  }

  /** Examples of requests that were traced by OpenTelemetry. */
  public TraceExemplars exemplars() {
    return exemplars;
  }

  /** The number of lost traces since the start. */
  public synchronized long droppedCount() {
    return current.queue() == null ? 0 : current.queue().droppedCount();
  }

  /** Takes no more traces, and writes the waiting ones; true if that worked within the timeout. */
  public boolean close(Duration timeout) {
    TraceQueue queue;
    synchronized (this) {
      closed = true;
      active = null;
      queue = current.queue();
    }
    return queue == null || queue.close(timeout);
  }
}
