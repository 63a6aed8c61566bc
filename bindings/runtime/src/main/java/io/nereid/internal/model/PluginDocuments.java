package io.nereid.internal.model;

import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelIndexEntry;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.TensorSpec;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * What plug-ins get to read of the server and its models: the documents that the endpoints of HTTP
 * answer.
 */
public final class PluginDocuments {

  /** What the runtime has beyond the protocol itself, by the protocol's names. */
  private static final List<String> EXTENSIONS =
      List.of(
          "model_configuration",
          "model_repository",
          "model_repository(unload_dependents)",
          "parameters",
          "schedule_policy",
          "sequence",
          "statistics");

  private static final JsonFactory JSON = new JsonFactory();

  private final ModelTable models;
  private final Supplier<List<ModelIndexEntry>> index;

  /**
   * Reads these models.
   *
   * @param index the index of the repositories
   */
  public PluginDocuments(ModelTable models, Supplier<List<ModelIndexEntry>> index) {
    this.models = models;
    this.index = index;
  }

  /**
   * A document.
   *
   * @param kind {@code NRT_SERVER_METADATA} and so on
   * @param name of which model; empty: of all, where a document can be that
   * @param version -1: the one that a client gets who names none, and of statistics all
   */
  String document(int kind, String name, long version) {
    return switch (kind) {
      case 0 -> written(PluginDocuments::server);
      case 1 -> written(json -> model(json, ready(name, version), version));
      case 2 -> configuration(ready(name, version)).toJson();
      case 3 -> written(json -> statistics(json, name, version));
      case 4 -> written(json -> index(json, false));
      case 5 -> written(json -> index(json, true));
      default ->
          throw new NereidException(
              StatusCode.UNIMPLEMENTED, "there is no document of the kind " + kind);
    };
  }

  private static String written(Consumer<JsonGenerator> write) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      write.accept(json);
    }
    return text.toString();
  }

  private ModelEntry ready(String name, long version) {
    return version < 0 ? models.ready(name) : models.ready(name, version);
  }

  private static ModelConfiguration configuration(ModelEntry entry) {
    return entry
        .configuration()
        .orElseThrow(() ->
            new NereidException(
                StatusCode.NOT_FOUND, "model '" + entry.name() + "' has no configuration"));
  }

  private static void server(JsonGenerator json) {
    String version = PluginDocuments.class.getPackage().getImplementationVersion();
    json.writeStartObject();
    json.writeStringProperty("name", "nereid");
    json.writeStringProperty("version", version == null ? "dev" : version);
    strings(json, "extensions", EXTENSIONS);
    json.writeEndObject();
  }

  private static void strings(JsonGenerator json, String name, List<String> values) {
    json.writeName(name);
    json.writeStartArray();
    values.forEach(json::writeString);
    json.writeEndArray();
  }

  private void model(JsonGenerator json, ModelEntry entry, long version) {
    ModelSpec spec = entry.latest().orElseThrow(entry::notReady).spec();
    String configured = configuration(entry).platform();
    String kind = spec.ensemble().isPresent() ? "ensemble" : spec.backendName();
    json.writeStartObject();
    json.writeStringProperty("name", entry.name());
    strings(
        json,
        "versions",
        models.versions(entry.id().key()).reversed().stream()
            .filter(one -> one.state() == ModelState.READY)
            .filter(one -> version < 0 || one == entry)
            .map(one -> Long.toString(one.version()))
            .toList());
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

  private void index(JsonGenerator json, boolean readyOnly) {
    json.writeStartArray();
    for (ModelIndexEntry entry : index.get()) {
      if (readyOnly && entry.state() != ModelIndexEntry.State.READY) {
        continue;
      }
      json.writeStartObject();
      json.writeStringProperty("name", entry.name());
      entry
          .version()
          .ifPresent(version -> json.writeStringProperty("version", Long.toString(version)));
      if (entry.state() != ModelIndexEntry.State.UNKNOWN) {
        json.writeStringProperty("state", entry.state().name());
        json.writeStringProperty("reason", entry.reason());
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  // ---- Statistics ------------------------------------------------------------------------------

  private void statistics(JsonGenerator json, String name, long version) {
    List<ModelEntry> told =
        models.all().stream()
            .filter(entry -> entry.state() == ModelState.READY)
            .filter(entry -> name.isEmpty() || entry.name().equals(name))
            .filter(entry -> name.isEmpty() || version < 0 || entry.version() == version)
            .toList();
    if (told.isEmpty() && !name.isEmpty()) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "requested model '"
              + name
              + (version < 0 ? "'" : "' version " + version)
              + " is not available");
    }
    json.writeStartObject();
    json.writeName("model_stats");
    json.writeStartArray();
    told.forEach(entry -> entry.latest().ifPresent(loaded -> statistics(json, entry, loaded)));
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void statistics(JsonGenerator json, ModelEntry entry, LoadedModel loaded) {
    ModelStatistics statistics = loaded.statistics();
    json.writeStartObject();
    json.writeStringProperty("name", entry.name());
    json.writeStringProperty("version", Long.toString(entry.version()));
    Optional<Instant> last = statistics.lastInference();
    json.writeNumberProperty("last_inference", last.map(Instant::toEpochMilli).orElse(0L));
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
}
