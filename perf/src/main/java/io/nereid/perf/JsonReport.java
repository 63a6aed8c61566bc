package io.nereid.perf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.jr.ob.JSON;

/** All of a report as JSON. */
final class JsonReport {

  private JsonReport() {}

  static String of(PerfReport report) throws IOException {
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
      Map<String, Object> fields = new LinkedHashMap<>(ResultFields.of(result));
      fields.put("errors_by_status", result.counts().errors());
      fields.put("first_error", result.firstError());
      fields.put("notes", result.notes());
      results.add(fields);
    }
    json.put("results", results);
    if (report.slo() != null) {
      json.put("slo", slo(report));
    }
    try {
      return JSON.std
              .with(JSON.Feature.PRETTY_PRINT_OUTPUT)
              .with(JSON.Feature.WRITE_NULL_PROPERTIES)
              .asString(json)
          + "\n";
    } catch (JacksonException e) {
      throw new IOException("the report cannot be written as JSON: " + e.getMessage(), e);
    }
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
