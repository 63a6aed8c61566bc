package io.nereid.server.metrics;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelState;
import io.nereid.server.shared.ServerState;
import io.nereid.server.trace.TraceExemplars;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.IsolationStatistics;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.SequenceStatistics;
import io.nereid.tensorrt.GraphStatistics;
import io.nereid.tensorrt.TensorRtBackend;
import io.nereid.types.NereidException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Writes metrics of the models' work, read from the core's counters at each scrape. */
final class ModelMetrics {

  /** A version of a model, at one moment. */
  record Figures(
      String labels,
      ModelStatistics statistics,
      List<InstanceStatistics> instances,
      Optional<IsolationStatistics> isolation,
      boolean cached,
      boolean decoupled,
      double loadSeconds,
      List<TraceExemplars.Exemplar> exemplars) {}

  private final List<Figures> models;
  private final Samples<ModelStatistics> all;
  private final MetricsConfig config;
  private final MetricsText text;

  private ModelMetrics(List<Figures> models, MetricsConfig config, MetricsText text) {
    this.models = models;
    this.config = config;
    this.text = text;
    all = samples(model -> Optional.of(model.statistics));
  }

  static void write(
      ServerState state, MetricsConfig config, SummaryMetrics summaries, MetricsText text) {
    Nereid nereid = state.nereid();
    List<Figures> models = new ArrayList<>();
    for (Model model : nereid.models()) {
      if (model.state() == ModelState.READY || model.state() == ModelState.DRAINING) {
        try {
          models.add(figures(state, model));
        } catch (NereidException | IllegalStateException e) {
          // The model was unloaded meanwhile, and has no figures any more.
        }
      }
    }
    states(nereid, text);
    ModelMetrics metrics = new ModelMetrics(models, config, text);
    metrics
        .samples(model -> Optional.of(model.loadSeconds))
        .gauge(
            "nereid_model_load_seconds",
            "Time that the last load of a version took",
            Double::doubleValue);
    metrics.counts();
    metrics.totals();
    if (config.counters()) {
      metrics.durations();
      metrics.cache();
    }
    metrics.sequences();
    ObjectiveMetrics.write(metrics.samples(model -> model.statistics.objective()), text);
    metrics.isolation();
    metrics.instances();
    metrics.histograms();
    if (config.summaries()) {
      summaries.write(models, text);
    }
    graphs(nereid, text);
  }

  /** Writes the state of each version of each model. */
  private static void states(Nereid nereid, MetricsText text) {
    List<Model> models = nereid.models();
    text.gauge("nereid_model_state", "1 for the state that a version of a model is in");
    models.forEach(model ->
        text.sample(
            MetricsText.labels(labels(model), MetricsText.label("state", model.state().name())),
            1));
  }

  private static Figures figures(ServerState state, Model model) {
    return new Figures(
        labels(model),
        model.statistics(),
        model.instanceStatistics(),
        model.isolationStatistics(),
        model.spec().responseCache() && state.nereid().options().cacheByteLimit() > 0,
        model.spec().decoupled(),
        model.loadTimes().total().toNanos() / 1e9,
        state.tracing().exemplars().of(model.namespace(), model.name(), model.version()));
  }

  /** The labels of a model. */
  static String labels(Model model) {
    String labels =
        MetricsText.labels(
            MetricsText.label("model", model.name()),
            MetricsText.label("version", Long.toString(model.version())));
    return model.namespace().isEmpty()
        ? labels
        : MetricsText.labels(MetricsText.label("namespace", model.namespace()), labels);
  }

  /** Returns samples of the models that have the figures. */
  private <F> Samples<F> samples(Function<Figures, Optional<F>> figures) {
    Map<String, F> found = new LinkedHashMap<>();
    models.forEach(model -> figures.apply(model).ifPresent(some -> found.put(model.labels, some)));
    return new Samples<>(text, found);
  }

  private void failures(String labels, String reason, long count) {
    text.sample(MetricsText.sorted(labels, MetricsText.label("reason", reason)), count);
  }

  private void counts() {
    all.counter(
        "nv_inference_request_success",
        "Inference requests that were answered",
        figures -> figures.success().count());
    text.counter("nv_inference_request_failure", "Inference requests that failed, by the reason");
    all.figures()
        .forEach((labels, figures) -> {
          failures(labels, "REJECTED", figures.failRejected());
          failures(labels, "CANCELED", figures.failCancelled());
          failures(labels, "BACKEND", figures.failBackend());
          failures(labels, "OTHER", figures.failOther());
        });
    all.counter(
        "nv_inference_count",
        "Inferences: the elements of all batches that were executed",
        ModelStatistics::inferenceCount);
    all.counter(
        "nv_inference_exec_count",
        "Executions of the model, each of one batch",
        ModelStatistics::executionCount);
    text.counter("nereid_batch_ends_total", "Batches that were begun, by what ended them");
    all.each((figures, samples) ->
        figures
            .batchEnds()
            .forEach((end, count) ->
                samples.accept(
                    MetricsText.label("reason", end.name().toLowerCase(Locale.ROOT)), count)));
    all.gauge(
        "nv_inference_pending_request_count",
        "Requests that wait to be executed",
        ModelStatistics::pendingCount);
    all.gauge(
        "nereid_instances", "Executions that may run at once", ModelStatistics::instanceCount);
    all.gauge(
        "nereid_inference_executing_request_count",
        "Requests that are being executed",
        ModelStatistics::executingCount);
  }

  /** Writes totals over all models, for balancers and autoscalers. */
  private void totals() {
    total("queued", "wait to be executed", ModelStatistics::pendingCount);
    total("running", "are being executed", ModelStatistics::executingCount);
  }

  private void total(String what, String help, ToLongFunction<ModelStatistics> value) {
    text.gauge("nereid_requests_" + what, "Requests to all models that " + help)
        .sample("", models.stream().mapToLong(model -> value.applyAsLong(model.statistics)).sum());
  }

  private void durations() {
    duration("request", "Time from submission to answer", ModelStatistics::success);
    duration("queue", "Time that requests waited", ModelStatistics::queue);
    duration("compute_input", "Time for handing inputs over", ModelStatistics::computeInput);
    duration("compute_infer", "Time in the backend", ModelStatistics::computeInfer);
    duration("compute_output", "Time for taking outputs back", ModelStatistics::computeOutput);
  }

  private void duration(
      String what, String help, Function<ModelStatistics, DurationStatistic> value) {
    all.counter(
        "nv_inference_" + what + "_duration_us",
        help + ", in microseconds",
        figures -> us(value.apply(figures)));
  }

  private static long us(DurationStatistic duration) {
    return duration.totalNs() / 1000;
  }

  /** Writes the figures of the cache, for models that use it. */
  private void cache() {
    Samples<ModelStatistics> cached =
        samples(model -> Optional.of(model.statistics).filter(s -> model.cached));
    cached.counter(
        "nv_cache_num_hits_per_model",
        "Requests that the cache answered",
        figures -> figures.cacheHit().count());
    cached.counter(
        "nv_cache_num_misses_per_model",
        "Requests that the cache did not know",
        figures -> figures.cacheMiss().count());
    cached.counter(
        "nv_cache_hit_duration_per_model",
        "Time for finding and copying answers, in microseconds",
        figures -> us(figures.cacheHit()));
    cached.counter(
        "nv_cache_miss_duration_per_model",
        "Time for finding none, and for keeping the new one, in microseconds",
        figures -> us(figures.cacheMiss()));
  }

  /** Writes the figures of sequences, for models that have them; nothing if none has. */
  private void sequences() {
    Samples<SequenceStatistics> sequences = samples(model -> model.statistics.sequences());
    if (sequences.isEmpty()) {
      return;
    }
    String prefix = "nereid_sequences_";
    sequences.gauge(
        prefix + "slots", "Sequences that can be active at a time", SequenceStatistics::slots);
    sequences.gauge(prefix + "active", "Sequences that have a slot", SequenceStatistics::active);
    sequences.gauge(
        prefix + "backlog", "Sequences that wait for a slot", SequenceStatistics::backlog);
    sequences.gauge(
        prefix + "state_bytes",
        "Memory that sequences keep between requests",
        SequenceStatistics::stateBytes);
    sequences.counter(
        prefix + "started_total", "Sequences that have begun", SequenceStatistics::started);
    sequences.counter(
        prefix + "ended_total", "Sequences that their clients ended", SequenceStatistics::ended);
    sequences.counter(
        prefix + "idle_ended_total",
        "Sequences that were ended because no request came for too long",
        SequenceStatistics::idleEnded);
  }

  /** Writes the figures of processes, for models that have one of their own. */
  private void isolation() {
    Samples<IsolationStatistics> isolated = samples(Figures::isolation);
    if (isolated.isEmpty()) {
      return;
    }
    isolated.counter(
        "nereid_isolation_restarts_total",
        "Processes of the model that were lost",
        IsolationStatistics::restarts);
    isolated.gauge(
        "nereid_isolation_up", "1 while a process executes the model", up -> up.up() ? 1 : 0);
    isolated.gauge(
        "nereid_isolation_resident_bytes",
        "Memory of the model's process",
        IsolationStatistics::residentBytes);
  }

  /** Writes the resources that instances wait for, if any had to wait. */
  private void instances() {
    if (models.stream().allMatch(model -> model.instances.stream().allMatch(i -> i.waits() == 0))) {
      return;
    }
    text.counter("nereid_instance_waits_total", "How often an instance waited for a resource");
    eachInstance((labels, instance) -> text.sample(labels, instance.waits()));
    text.gauge("nereid_instance_awaited", "How much an instance needs of what it waits for");
    eachInstance((labels, instance) ->
        instance
            .awaited()
            .ifPresent(resource ->
                text.sample(
                    MetricsText.labels(labels, ServerMetrics.labels(resource)),
                    instance.needed())));
  }

  private void eachInstance(BiConsumer<String, InstanceStatistics> write) {
    for (Figures model : models) {
      for (int i = 0; i < model.instances.size(); i++) {
        String label = MetricsText.label("instance", Integer.toString(i));
        write.accept(MetricsText.labels(model.labels, label), model.instances.get(i));
      }
    }
  }

  private void histograms() {
    if (config.histograms()) {
      firstResponses();
    }
    text.histogram("nereid_inference_request_duration_seconds", "Time from submission to answer");
    for (Figures model : models) {
      ModelStatistics figures = model.statistics;
      Buckets.SECONDS.write(
          text,
          model.labels,
          figures.totalHistogram(),
          figures.success().totalNs(),
          model.exemplars);
    }
    text.histogram("nereid_inference_queue_duration_seconds", "Time that requests waited");
    for (Figures model : models) {
      ModelStatistics figures = model.statistics;
      Buckets.SECONDS.write(
          text, model.labels, figures.queueHistogram(), figures.queue().totalNs());
    }
    text.histogram(
        "nereid_inference_compute_duration_seconds",
        "Time of the executions that requests were part of");
    for (Figures model : models) {
      Buckets.SECONDS.write(
          text, model.labels, model.statistics.computeHistogram(), computeNs(model.statistics));
    }
    text.histogram("nereid_inference_batch_size", "Sizes of the batches that were executed");
    for (Figures model : models) {
      Buckets.SIZES.write(text, model.labels, model.statistics.batches());
    }
  }

  private void firstResponses() {
    text.histogram("nv_inference_first_response_histogram_ms", "Time to the first response");
    for (Figures model : models) {
      if (!model.decoupled) { // the first response is the only one
        ModelStatistics figures = model.statistics;
        Buckets.MILLISECONDS.write(
            text, model.labels, figures.totalHistogram(), figures.success().totalNs());
      }
    }
  }

  private static long computeNs(ModelStatistics figures) {
    return figures.computeInput().totalNs()
        + figures.computeInfer().totalNs()
        + figures.computeOutput().totalNs();
  }

  // ---- CUDA graphs -----------------------------------------------------------------------------

  /**
   * Writes figures of CUDA graphs of models with the backend {@code tensorrt}; nothing without any.
   */
  private static void graphs(Nereid nereid, MetricsText text) {
    Map<String, GraphStatistics> figures = new LinkedHashMap<>();
    for (Model model : nereid.models()) {
      try {
        if (model.state() == ModelState.READY
            && model.spec().backendName().equals(TensorRtBackend.NAME)) {
          figures.put(
              labels(model), TensorRtBackend.graphStatistics(model.name(), model.version()));
        }
      } catch (NereidException | IllegalStateException e) {
        // The model was unloaded meanwhile, and has no figures any more.
      }
    }
    Samples<GraphStatistics> all = new Samples<>(text, figures);
    if (all.isEmpty()) {
      return;
    }
    all.gauge("nereid_cuda_graphs", "CUDA graphs that were captured", GraphStatistics::graphs);
    all.counter(
        "nereid_cuda_graph_hits_total",
        "Batches that were executed by a CUDA graph",
        GraphStatistics::hits);
    all.counter(
        "nereid_cuda_graph_misses_total",
        "Batches that were executed without one",
        GraphStatistics::misses);
  }
}
