package io.nereid.server.http;

import io.nereid.Model;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import java.time.Instant;
import java.util.List;

/** The statistics extension. */
final class StatisticsJson {

  private StatisticsJson() {}

  /** Of these models. */
  static void write(List<Model> models, JsonBuffer json) {
    json.ascii("{\"model_stats\":[");
    boolean first = true;
    for (Model model : models) {
      if (!first) {
        json.write(',');
      }
      first = false;
      write(model, json);
    }
    json.ascii("]}");
  }

  private static void write(Model model, JsonBuffer json) {
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
    json.ascii("]}");
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
