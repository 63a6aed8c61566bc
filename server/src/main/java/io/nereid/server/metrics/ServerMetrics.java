package io.nereid.server.metrics;

import io.nereid.Model;
import io.nereid.model.ModelStore;
import io.nereid.recording.Recorder;
import io.nereid.recording.Shadow;
import io.nereid.recording.compare.OutputFigures;
import io.nereid.server.shared.AnswerCounts;
import io.nereid.server.shared.ConnectionFailures;
import io.nereid.server.shared.ServerState;
import io.nereid.statistics.CacheStatistics;
import io.nereid.statistics.PoolStatistics;
import io.nereid.statistics.ResourceStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * Writes the server's own metrics: answers and failed loads, memory of requests, cached responses,
 * connections, and lost entries of logs and traces.
 */
final class ServerMetrics {

  private ServerMetrics() {}

  static void write(ServerState state, MetricsText text) {
    pool(state, text);
    cache(state.nereid().cacheStatistics(), text);
    resources(state.nereid().resourceStatistics(), text);
    stores(state.nereid().repository().options().store().status(), text);
    text.gauge("nereid_connections", "Open connections");
    state
        .frontends()
        .connections()
        .forEach((protocol, count) -> text.sample(MetricsText.label("protocol", protocol), count));
    text.counter(
        "nereid_connection_failures_total", "Connections that came to nothing, by the reason");
    state
        .frontends()
        .failures()
        .forEach((protocol, failures) -> {
          for (ConnectionFailures.Reason reason : ConnectionFailures.Reason.values()) {
            text.sample(
                MetricsText.labels(
                    MetricsText.label("protocol", protocol),
                    MetricsText.label("reason", reason.name().toLowerCase(Locale.ROOT))),
                failures.count(reason));
          }
        });
    answers("nereid_http_", "HTTP", state.httpAnswers(), text);
    answers("nereid_grpc_", "gRPC", state.grpcAnswers(), text);
    text.counter("nereid_model_load_failures_total", "Loads of models that failed, by the reason");
    state
        .loadFailures()
        .counts()
        .forEach((kind, count) ->
            text.sample(
                MetricsText.labels(
                    MetricsText.label("model", kind.model()),
                    MetricsText.label("reason", kind.reason().name())),
                count.sum()));
    text.gauge("nereid_server_ready", "1 if the server is ready, as its health says")
        .sample("", state.health().isReady() ? 1 : 0);
    state
        .accessLog()
        .ifPresent(log ->
            text.counter(
                    "nereid_access_log_dropped_total", "Requests without a line in the access log")
                .sample("", log.droppedCount()));
    if (state.recording().options().isPresent()) {
      recording(state.recording().statistics(), text);
    }
    shadows(state, text);
    text.counter("nereid_traces_dropped_total", "Traces that were taken and then lost")
        .sample("", state.tracing().droppedCount());
  }

  private static void recording(Recorder.Statistics figures, MetricsText text) {
    text.counter("nereid_recorded_requests_total", "Requests that were recorded")
        .sample("", figures.recorded());
    text.counter("nereid_recording_dropped_total", "Requests that should have been recorded")
        .sample("", figures.dropped());
    text.counter("nereid_recording_written_bytes_total", "Bytes that recordings took on the disk")
        .sample("", figures.writtenBytes());
  }

  /** Writes the verdicts on shadows; nothing if there are none. */
  private static void shadows(ServerState state, MetricsText text) {
    Map<String, Shadow.Verdict> verdicts = new LinkedHashMap<>();
    for (Model model : state.nereid().models()) {
      state
          .shadows()
          .verdict(model)
          .ifPresent(verdict -> verdicts.put(ModelMetrics.labels(model), verdict));
    }
    if (verdicts.isEmpty()) {
      return;
    }
    Samples<Shadow.Verdict> samples = new Samples<>(text, verdicts);
    samples.counter(
        "nereid_shadow_compared_total",
        "Requests whose answers were compared with those of a shadow",
        Shadow.Verdict::compared);
    samples.counter(
        "nereid_shadow_differing_total",
        "Those that a shadow answered otherwise",
        Shadow.Verdict::differing);
    samples.counter(
        "nereid_shadow_failed_total", "Those that a shadow alone failed", Shadow.Verdict::failed);
    samples.counter(
        "nereid_shadow_dropped_total",
        "Requests that a shadow did not get, for lack of time or room",
        Shadow.Verdict::dropped);
    outputs(samples, "absolute_error", "Largest distance of elements", OutputFigures::absolute);
    outputs(samples, "relative_error", "Largest relative distance", OutputFigures::relative);
    outputs(samples, "cosine", "Least cosine of two answers", OutputFigures::cosine);
    outputs(samples, "top_changes", "Rows with another largest one", OutputFigures::topChanges);
  }

  private static void outputs(
      Samples<Shadow.Verdict> samples,
      String name,
      String help,
      ToDoubleFunction<OutputFigures> value) {
    samples.text().gauge("nereid_shadow_" + name, help + ", by output of a shadow");
    samples.each((verdict, sample) ->
        verdict
            .outputs()
            .forEach(one ->
                sample.accept(
                    MetricsText.label(
                        "output", one.output().substring(one.output().lastIndexOf('/') + 1)),
                    value.applyAsDouble(one))));
  }

  /** Writes the state of repositories in object stores; nothing where there are none. */
  private static void stores(List<ModelStore.Status> repositories, MetricsText text) {
    if (repositories.isEmpty()) {
      return;
    }
    Map<String, ModelStore.Status> byLabel = new TreeMap<>();
    repositories.forEach(
        one -> byLabel.put(MetricsText.label("repository", one.repository()), one));
    Samples<ModelStore.Status> samples = new Samples<>(text, byLabel);
    samples.gauge(
        "nereid_store_reachable",
        "1 if the store of a repository answered when it was asked for its list last",
        one -> one.reachable() ? 1 : 0);
    samples.counter(
        "nereid_store_fetched_bytes_total",
        "Bytes that were fetched from the store",
        ModelStore.Status::fetchedBytes);
    samples.gauge(
        "nereid_store_waiting_bytes",
        "Bytes that are still to be fetched",
        ModelStore.Status::waitingBytes);
    samples.gauge(
        "nereid_store_waiting_models",
        "Models that are not as the store has them",
        one -> one.waiting().size());
    samples.counter(
        "nereid_store_faults_total",
        "Answers of the store that were no use, and connections that broke",
        ModelStore.Status::faultCount);
  }

  /** Writes the counts of a protocol's answers, including those that no model was involved in. */
  private static void answers(
      String prefix, String protocol, AnswerCounts counts, MetricsText text) {
    Map<String, AnswerCounts.Count> byLabels = new TreeMap<>();
    counts.all().forEach((kind, count) -> byLabels.put(labels(kind), count));
    Samples<AnswerCounts.Count> samples = new Samples<>(text, byLabels);
    samples.counter(
        prefix + "requests_total", "Answers over " + protocol, AnswerCounts.Count::answers);
    samples.counter(
        prefix + "request_seconds_total",
        "Time from the first byte of requests over " + protocol + " to the end of their answers",
        count -> count.tookNs() / 1e9);
  }

  private static String labels(AnswerCounts.Kind kind) {
    String method = MetricsText.label("method", kind.method());
    return kind.route().isEmpty()
        ? MetricsText.labels(method, MetricsText.label("code", kind.status()))
        : MetricsText.labels(
            MetricsText.labels(method, MetricsText.label("route", kind.route())),
            MetricsText.label("status", kind.status()));
  }

  private static void pool(ServerState state, MetricsText text) {
    PoolStatistics pool = state.nereid().poolStatistics();
    text.gauge("nv_pinned_memory_pool_total_bytes", "Most that inputs and outputs may take")
        .sample("", pool.byteLimit());
    text.gauge("nv_pinned_memory_pool_used_bytes", "What inputs and outputs take now")
        .sample("", pool.liveBytes());
    text.gauge("nereid_pool_reserved_bytes", "What the pool has taken from the system")
        .sample("", pool.reservedBytes());
    text.gauge("nereid_pool_locked_bytes", "What of that is page-locked for GPUs")
        .sample("", pool.lockedBytes());
    text.gauge("nereid_pool_high_water_bytes", "Most that inputs and outputs ever took")
        .sample("", pool.highWaterBytes());
    text.gauge("nereid_pool_buffers", "Inputs and outputs that are in use")
        .sample("", pool.liveBuffers());
    text.counter("nereid_pool_failures_total", "Inputs and outputs for which there was no memory")
        .sample("", pool.failures() + state.refusedTensors().sum());
  }

  /** Writes the resources that executions share; nothing if they share none. */
  private static void resources(List<ResourceStatistics> resources, MetricsText text) {
    if (resources.isEmpty()) {
      return;
    }
    text.gauge("nereid_resource_total", "How much there is of what executions share");
    resources.forEach(resource -> text.sample(labels(resource), resource.total()));
    text.gauge("nereid_resource_free", "What of that no execution holds");
    resources.forEach(resource -> text.sample(labels(resource), resource.free()));
    text.gauge("nereid_resource_waiting_instances", "Instances that need it and wait");
    resources.forEach(resource -> text.sample(labels(resource), resource.waiting()));
  }

  /** The labels of a resource; a resource for all devices has no device. */
  static String labels(ResourceStatistics resource) {
    String name = MetricsText.label("resource", resource.name());
    return resource.device().isEmpty()
        ? name
        : MetricsText.labels(
            name, MetricsText.label("device", Integer.toString(resource.device().getAsInt())));
  }

  private static void cache(CacheStatistics cache, MetricsText text) {
    if (cache.byteLimit() > 0) {
      text.gauge("nereid_cache_limit_bytes", "Most that cached responses may take")
          .sample("", cache.byteLimit());
      text.gauge("nereid_cache_used_bytes", "What cached responses take now")
          .sample("", cache.bytes());
      text.gauge("nereid_cache_entries", "Responses that are cached").sample("", cache.entries());
      text.counter("nereid_cache_evictions_total", "Cached responses that had to make room")
          .sample("", cache.evictions());
    }
  }
}
