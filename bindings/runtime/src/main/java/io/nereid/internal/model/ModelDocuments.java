package io.nereid.internal.model;

import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSpec;
import io.nereid.model.Objective;
import io.nereid.model.TensorSpec;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.ObjectiveStatistics;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Writes what a model tells of itself, in JSON, as servers and plug-ins get it. */
public final class ModelDocuments {

  private static final JsonFactory JSON = new JsonFactory();

  private ModelDocuments() {}

  /** A text that {@code write} makes. */
  static String written(Consumer<JsonGenerator> write) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      write.accept(json);
    }
    return text.toString();
  }

  static ModelConfiguration configuration(ModelEntry entry) {
    return entry
        .configuration()
        .orElseThrow(() ->
            new NereidException(
                StatusCode.NOT_FOUND, "model '" + entry.name() + "' has no configuration"));
  }

  static void strings(JsonGenerator json, String name, List<String> values) {
    json.writeName(name);
    json.writeStartArray();
    values.forEach(json::writeString);
    json.writeEndArray();
  }

  // ---- Metadata --------------------------------------------------------------------------------

  /** The metadata of a model that was loaded, with these versions. */
  public static String metadata(ModelEntry entry, List<String> versions) {
    return written(json -> metadata(json, entry, versions));
  }

  private static void metadata(JsonGenerator json, ModelEntry entry, List<String> versions) {
    ModelSpec spec = entry.latest().orElseThrow(entry::notReady).spec();
    String configured = configuration(entry).platform();
    String kind = spec.ensemble().isPresent() ? "ensemble" : spec.backendName();
    json.writeStartObject();
    json.writeStringProperty("name", entry.name());
    strings(json, "versions", versions);
    json.writeStringProperty("platform", configured.isEmpty() ? kind : configured);
    tensors(json, "inputs", spec, spec.inputs());
    tensors(json, "outputs", spec, spec.outputs());
    json.writeEndObject();
  }

  private static void tensors(
      JsonGenerator json, String name, ModelSpec model, List<TensorSpec> tensors) {
    json.writeName(name);
    json.writeStartArray();
    for (TensorSpec tensor : tensors) {
      json.writeStartObject();
      json.writeStringProperty("name", tensor.name());
      json.writeStringProperty("datatype", tensor.dataType().name());
      json.writeName("shape");
      json.writeStartArray();
      if (model.maxBatchSize() > 0) {
        json.writeNumber(-1);
      }
      tensor.dims().forEach(json::writeNumber);
      json.writeEndArray();
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  // ---- Statistics ------------------------------------------------------------------------------

  /** The statistics of a model that was loaded. */
  public static String statistics(ModelEntry entry) {
    LoadedModel loaded = entry.latest().orElseThrow(entry::notReady);
    return written(json -> statistics(json, entry, loaded));
  }

  private static void statistics(JsonGenerator json, ModelEntry entry, LoadedModel loaded) {
    ModelStatistics statistics = loaded.statistics();
    json.writeStartObject();
    json.writeStringProperty("name", entry.name());
    json.writeStringProperty("version", Long.toString(entry.version()));
    json.writeNumberProperty(
        "last_inference", statistics.lastInference().map(Instant::toEpochMilli).orElse(0L));
    json.writeNumberProperty("inference_count", statistics.inferenceCount());
    json.writeNumberProperty("execution_count", statistics.executionCount());
    json.writeName("inference_stats");
    json.writeStartObject();
    duration(json, "success", statistics.success());
    duration(json, "fail", statistics.fail());
    duration(json, "queue", statistics.queue());
    duration(json, "compute_input", statistics.computeInput());
    duration(json, "compute_infer", statistics.computeInfer());
    duration(json, "compute_output", statistics.computeOutput());
    duration(json, "cache_hit", statistics.cacheHit());
    duration(json, "cache_miss", statistics.cacheMiss());
    json.writeEndObject();
    json.writeName("response_stats");
    json.writeStartObject();
    json.writeEndObject();
    json.writeName("batch_stats");
    json.writeStartArray();
    for (BatchStatistics batch : statistics.batches()) {
      json.writeStartObject();
      json.writeNumberProperty("batch_size", batch.batchSize());
      duration(json, "compute_input", batch.computeInput());
      duration(json, "compute_infer", batch.computeInfer());
      duration(json, "compute_output", batch.computeOutput());
      json.writeEndObject();
    }
    json.writeEndArray();
    memory(json, loaded.memory());
    waits(json, loaded.instances());
    statistics.objective().ifPresent(figures -> objective(json, figures));
    json.writeEndObject();
  }

  private static void duration(JsonGenerator json, String name, DurationStatistic duration) {
    json.writeName(name);
    json.writeStartObject();
    json.writeNumberProperty("count", duration.count());
    json.writeNumberProperty("ns", duration.totalNs());
    json.writeEndObject();
  }

  private static void memory(JsonGenerator json, MemoryUsage usage) {
    json.writeName("memory_usage");
    json.writeStartArray();
    json.writeStartObject();
    json.writeStringProperty("type", "CPU");
    json.writeNumberProperty("id", 0);
    json.writeNumberProperty("byte_size", usage.weights() + usage.working() + usage.pool());
    json.writeEndObject();
    json.writeEndArray();
  }

  /** Adds what its instances wait for; nothing where none does. */
  private static void waits(JsonGenerator json, List<InstanceStatistics> instances) {
    if (instances.stream().allMatch(instance -> instance.awaited().isEmpty())) {
      return;
    }
    json.writeName("instances");
    json.writeStartArray();
    for (InstanceStatistics instance : instances) {
      json.writeStartObject();
      json.writeStringProperty("state", instance.text());
      json.writeNumberProperty("waits", instance.waits());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  /** Adds what became of its objective. */
  private static void objective(JsonGenerator json, ObjectiveStatistics figures) {
    json.writeName("objective");
    json.writeStartObject();
    json.writeStringProperty(
        "objective", new Objective(figures.percentile(), figures.latency()).text());
    json.writeNumberProperty("latency_ns", figures.latency().toNanos());
    json.writeNumberProperty("max_rows", figures.maxRows());
    json.writeNumberProperty("max_wait_ns", figures.maxWait().toNanos());
    json.writeNumberProperty("backlog", figures.backlog());
    json.writeNumberProperty("backlog_ns", figures.backlogTime().toNanos());
    json.writeNumberProperty("rows_per_second", figures.rowsPerSecond());
    json.writeNumberProperty("kept", figures.kept());
    json.writeNumberProperty("late", figures.late());
    json.writeName("refused");
    json.writeStartObject();
    json.writeNumberProperty("backlog", figures.refusedBacklog());
    json.writeNumberProperty("cost", figures.refusedCost());
    json.writeNumberProperty("waiting", figures.refusedWaiting());
    json.writeEndObject();
    json.writeNumberProperty("refused_deadline", figures.refusedDeadline());
    json.writeNumberProperty("outside_ns", figures.outside().toNanos());
    json.writeName("costs");
    json.writeStartArray();
    for (ObjectiveStatistics.Cost cost : figures.costs()) {
      json.writeStartObject();
      json.writeNumberProperty("kind", cost.kind());
      json.writeNumberProperty("rows", cost.rows());
      json.writeNumberProperty("row_elements", cost.rowElements());
      json.writeNumberProperty("mean_ns", Math.round(cost.meanNs()));
      json.writeNumberProperty("high_ns", Math.round(cost.highNs()));
      json.writeNumberProperty("weight", (float) cost.weight());
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
