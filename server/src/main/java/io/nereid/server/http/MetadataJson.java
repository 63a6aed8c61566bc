package io.nereid.server.http;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.TensorSpec;
import io.nereid.server.json.JsonBuffer;
import io.nereid.server.shared.ModelFacts;
import io.nereid.server.shared.ServerFacts;
import io.nereid.server.shared.ServerState;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;

/**
 * Writes what the server, and models, tell about themselves: metadata, configuration, statistics.
 */
final class MetadataJson {

  private MetadataJson() {}

  static void server(ServerState state, JsonBuffer json) {
    json.ascii("{\"name\":").string(state.name());
    json.ascii(",\"version\":").string(ServerFacts.version());
    json.ascii(",\"extensions\":");
    strings(ServerFacts.extensions(state), json);
    json.write('}');
  }

  static void models(List<Model> models, JsonBuffer json) {
    json.ascii("{\"models\":");
    strings(
        models.stream()
            .filter(model -> model.state() == ModelState.READY)
            .map(Model::name)
            .distinct()
            .toList(),
        json);
    json.write('}');
  }

  static void model(Nereid nereid, Model model, Route route, JsonBuffer json) {
    ModelSpec spec = model.spec();
    json.ascii("{\"name\":").string(model.name()).ascii(",\"versions\":");
    strings(ModelFacts.versions(nereid, model, route.version()), json);
    json.ascii(",\"platform\":").string(ModelFacts.platform(model));
    json.ascii(",\"inputs\":");
    tensors(spec, spec.inputs(), json);
    json.ascii(",\"outputs\":");
    tensors(spec, spec.outputs(), json);
    json.write('}');
  }

  private static void tensors(ModelSpec model, List<TensorSpec> specs, JsonBuffer json) {
    json.write('[');
    boolean first = true;
    for (TensorSpec spec : specs) {
      json.ascii(first ? "{\"name\":" : ",{\"name\":").string(spec.name());
      first = false;
      json.ascii(",\"datatype\":\"").ascii(spec.dataType().name()).ascii("\",\"shape\":[");
      boolean firstDim = true;
      for (long dim : ModelFacts.shape(model, spec)) {
        if (!firstDim) {
          json.write(',');
        }
        firstDim = false;
        json.number(dim);
      }
      json.ascii("]}");
    }
    json.write(']');
  }

  static void configuration(Model model, JsonBuffer json) {
    byte[] text = model.configuration().toJson().getBytes(StandardCharsets.UTF_8);
    json.write(text, 0, text.length);
  }

  private static void strings(List<String> values, JsonBuffer json) {
    json.write('[');
    for (int i = 0; i < values.size(); i++) {
      if (i > 0) {
        json.write(',');
      }
      json.string(values.get(i));
    }
    json.write(']');
  }

  // ---- Statistics ------------------------------------------------------------------------------

  /** Writes the statistics of these models. */
  static void statistics(List<Model> models, JsonBuffer json) {
    json.ascii("{\"model_stats\":[");
    boolean first = true;
    for (Model model : models) {
      if (!first) {
        json.write(',');
      }
      first = false;
      statistics(model, json);
    }
    json.ascii("]}");
  }

  private static void statistics(Model model, JsonBuffer json) {
    ModelStatistics statistics = model.statistics();
    json.ascii("{\"name\":").string(model.name());
    json.ascii(",\"version\":\"").number(model.version());
    json.ascii("\",\"last_inference\":")
        .number(statistics.lastInference().map(Instant::toEpochMilli).orElse(0L));
    json.ascii(",\"inference_count\":").number(statistics.inferenceCount());
    json.ascii(",\"execution_count\":").number(statistics.executionCount());
    json.ascii(",\"inference_stats\":{");
    duration("success", statistics.success(), json).write(',');
    duration("fail", statistics.fail(), json).write(',');
    duration("queue", statistics.queue(), json).write(',');
    duration("compute_input", statistics.computeInput(), json).write(',');
    duration("compute_infer", statistics.computeInfer(), json).write(',');
    duration("compute_output", statistics.computeOutput(), json).write(',');
    duration("cache_hit", statistics.cacheHit(), json).write(',');
    duration("cache_miss", statistics.cacheMiss(), json);
    json.ascii("},\"response_stats\":{},\"batch_stats\":[");
    boolean first = true;
    for (BatchStatistics batch : statistics.batches()) {
      json.ascii(first ? "{\"batch_size\":" : ",{\"batch_size\":").number(batch.batchSize());
      first = false;
      json.write(',');
      duration("compute_input", batch.computeInput(), json).write(',');
      duration("compute_infer", batch.computeInfer(), json).write(',');
      duration("compute_output", batch.computeOutput(), json).write('}');
    }
    json.ascii("],\"memory_usage\":[");
    memory(model.memoryUsage(), json);
    json.write(']');
    waits(model.instanceStatistics(), json);
    statistics.objective().ifPresent(figures -> ObjectiveJson.write(figures, json));
    json.write('}');
  }

  /** Adds what its instances wait for; nothing where none does. */
  private static void waits(List<InstanceStatistics> instances, JsonBuffer json) {
    if (instances.stream().allMatch(instance -> instance.awaited().isEmpty())) {
      return;
    }
    json.ascii(",\"instances\":[");
    for (int i = 0; i < instances.size(); i++) {
      InstanceStatistics instance = instances.get(i);
      json.ascii(i == 0 ? "{\"state\":" : ",{\"state\":").string(instance.text());
      json.ascii(",\"waits\":").number(instance.waits());
      json.write('}');
    }
    json.write(']');
  }

  private static JsonBuffer duration(String name, DurationStatistic statistic, JsonBuffer json) {
    json.string(name).ascii(":{\"count\":").number(statistic.count());
    json.ascii(",\"ns\":").number(statistic.totalNs()).write('}');
    return json;
  }

  private static void memory(MemoryUsage usage, JsonBuffer json) {
    json.ascii("{\"type\":\"CPU\",\"id\":0,\"byte_size\":")
        .number(usage.weights() + usage.working() + usage.pool())
        .write('}');
  }
}
