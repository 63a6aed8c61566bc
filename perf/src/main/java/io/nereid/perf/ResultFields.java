package io.nereid.perf;

import java.util.LinkedHashMap;
import java.util.Map;

/** One result as names and values, the same for every machine-readable report. */
final class ResultFields {

  private ResultFields() {}

  /** In a fixed order; null where something is not known. */
  static Map<String, Object> of(LevelResult result) {
    Map<String, Object> fields = new LinkedHashMap<>();
    LoadLevel level = result.level();
    fields.put("load", level.isOpenLoop() ? level.poisson() ? "poisson" : "rate" : "concurrency");
    fields.put("value", level.value());
    fields.put("requests_per_s", result.requestsPerSecond());
    fields.put("rows_per_s", result.rowsPerSecond());
    fields.put("requests", result.requestCount());
    fields.put("errors", result.counts().errorCount());
    fields.put("latency_mean_us", result.meanLatencyUs());
    for (double percentile : PerfReport.PERCENTILES) {
      String name = PerfReport.percentileName(percentile).replace('.', '_');
      fields.put("latency_" + name + "_us", result.latencyUs(percentile));
    }
    fields.put("latency_max_us", result.maxLatencyUs());
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
}
