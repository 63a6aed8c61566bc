package io.nereid.perf;

import io.nereid.perf.report.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Writes measurements for other programs: as CSV and as JSON. */
final class DataReport {

  private DataReport() {}

  /** Returns the figures in a fixed order; null: unknown. */
  private static Map<String, Object> fields(LevelResult result, Duration within) {
    Map<String, Object> fields = new LinkedHashMap<>();
    LoadLevel level = result.level();
    fields.put("load", level.isOpenLoop() ? level.poisson() ? "poisson" : "rate" : "concurrency");
    fields.put("value", level.value());
    fields.put("requests_per_s", result.requestsPerSecond());
    fields.put("rows_per_s", result.rowsPerSecond());
    fields.put(
        "sequences_per_s", result.counts().sequences() > 0 ? result.sequencesPerSecond() : null);
    fields.put("requests", result.requestCount());
    fields.put("errors", result.counts().errorCount());
    fields.put("latency_mean_us", result.meanLatencyUs());
    for (double percentile : PerfReport.PERCENTILES) {
      String name = PerfReport.percentileName(percentile).replace('.', '_');
      fields.put("latency_" + name + "_us", result.latencyUs(percentile));
    }
    fields.put("latency_max_us", result.maxLatencyUs());
    boolean counted = !within.isZero();
    fields.put("within_per_s", counted ? result.perSecondWithin(within) : null);
    server(result, fields);
    fields.put("server_cpu_us", result.serverCpuUs().orElse(null));
    fields.put("client_cpu_us", result.clientCpuUs());
    fields.put("server_cores", result.serverCores().orElse(null));
    fields.put("client_cores", result.clientCores());
    stream(result, fields);
    open(result, fields);
    fields.put("windows", result.windows());
    fields.put("measured_s", result.seconds());
    fields.put("stable", result.stable());
    return fields;
  }

  private static void server(LevelResult result, Map<String, Object> fields) {
    ServerStatistics server =
        result.server().filter(statistics -> statistics.successCount() > 0).orElse(null);
    boolean known = server != null;
    fields.put("server_queue_us", known ? server.perRequestUs(server.queueNs()) : null);
    fields.put("server_compute_input_us", known ? server.perRequestUs(server.inputNs()) : null);
    fields.put("server_compute_infer_us", known ? server.perRequestUs(server.inferNs()) : null);
    fields.put("server_compute_output_us", known ? server.perRequestUs(server.outputNs()) : null);
    fields.put("server_batch_size", known ? server.batchSize() : null);
    fields.put("server_cache_hits", known ? server.cacheHitCount() : null);
  }

  private static void stream(LevelResult result, Map<String, Object> fields) {
    boolean streamed = result.counts().firstResponse().getTotalCount() > 0;
    Tally.Counts counts = result.counts();
    fields.put("responses_per_s", streamed ? result.responsesPerSecond() : null);
    fields.put(
        "first_response_p50_us",
        streamed ? counts.firstResponse().getValueAtPercentile(50) / 1e3 : null);
    fields.put(
        "first_response_p99_us",
        streamed ? counts.firstResponse().getValueAtPercentile(99) / 1e3 : null);
    boolean several = counts.betweenResponses().getTotalCount() > 0;
    fields.put(
        "between_responses_p50_us",
        several ? counts.betweenResponses().getValueAtPercentile(50) / 1e3 : null);
    fields.put(
        "between_responses_p99_us",
        several ? counts.betweenResponses().getValueAtPercentile(99) / 1e3 : null);
  }

  private static void open(LevelResult result, Map<String, Object> fields) {
    boolean open = result.level().isOpenLoop();
    fields.put(
        "send_delay_p99_us",
        open ? result.counts().sendDelay().getValueAtPercentile(99) / 1e3 : null);
    fields.put("backlog", open ? result.backlog() : null);
    fields.put("keeps_up", open ? result.keepsUp() : null);
  }

  /** Writes a line for each result; empty fields are unknown. */
  static String csv(PerfReport report) {
    StringBuilder csv = new StringBuilder();
    for (LevelResult result : report.results()) {
      Map<String, Object> fields = fields(result, report.options().within());
      if (csv.isEmpty()) {
        csv.append(String.join(",", fields.keySet())).append('\n');
      }
      csv.append(fields.values().stream().map(DataReport::text).collect(Collectors.joining(",")))
          .append('\n');
    }
    return csv.toString();
  }

  private static String text(Object value) {
    return value instanceof Double number
        ? String.format(Locale.ROOT, "%.3f", number)
        : Objects.toString(value, "");
  }

  /** Writes the whole report as JSON. */
  static String json(PerfReport report) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("started", report.started().toString());
    json.put("machine", PerfReport.machine());
    json.put(
        "server", Map.of("name", report.server().name(), "version", report.server().version()));
    json.put("target", report.plan().target().toString());
    json.put("model", report.plan().model().name());
    json.put("request_bytes", report.requestBytes());
    json.put("rows", report.rows());
    json.put("input_form", report.plan().inputForm().name());
    json.put("output_form", report.plan().outputForm().name());
    json.put("request_ids", report.plan().requestIds());
    json.put("sequences", report.plan().sequences());
    json.put("streaming", report.plan().streaming());
    json.put("client_threads", report.clientThreads());
    json.put("window_ms", report.options().window().toMillis());
    json.put("server_cpu_known", report.process().isKnown());
    json.put("failure", report.failure());
    List<Object> results = new ArrayList<>();
    for (LevelResult result : report.results()) {
      Map<String, Object> fields = new LinkedHashMap<>(fields(result, report.options().within()));
      fields.put("errors_by_status", result.counts().errors());
      fields.put("first_error", result.firstError());
      fields.put("notes", result.notes());
      results.add(fields);
    }
    json.put("results", results);
    if (report.slo() != null) {
      json.put("slo", slo(report));
    }
    return Json.text(json);
  }

  private static Map<String, Object> slo(PerfReport report) {
    Map<String, Object> slo = new LinkedHashMap<>();
    slo.put("target", report.slo().text());
    if (report.outcome() == null) {
      return slo; // the search did not end
    }
    LevelResult best = report.outcome().best();
    slo.put("met", best != null);
    slo.put("value", best == null ? null : best.level().value());
    slo.put("requests_per_s", best == null ? null : best.requestsPerSecond());
    slo.put("at_end_of_range", report.outcome().atEnd());
    LevelResult most = report.outcome().mostThroughput();
    slo.put("best_throughput_value", most == null ? null : most.level().value());
    slo.put("best_throughput_per_s", most == null ? null : most.requestsPerSecond());
    List<Object> probes = new ArrayList<>();
    for (SloSearch.Probe probe : report.outcome().probes()) {
      probes.add(
          Map.of(
              "value", probe.result().level().value(),
              "measured_us", report.slo().measuredUs(probe.result()),
              "measurements", probe.measurements(),
              "meets", probe.meets()));
    }
    slo.put("probes", probes);
    return slo;
  }
}
