package io.nereid.server.console;

import io.nereid.server.json.JsonBuffer;
import io.nereid.statistics.BatchEnd;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.Histogram;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.ModelStatistics;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** Writes the event about one version of a model. */
final class ModelJson {

  /** Bounds of the ranges of the heat map: 10, 15, 20, 30, 50, 70 and so on, in microseconds. */
  private static final long[] HEAT_US = heatBounds();

  private final Snapshot snapshot;
  private final ModelFigures model;

  ModelJson(Snapshot snapshot, ModelFigures model) {
    this.snapshot = snapshot;
    this.model = model;
  }

  private static long[] heatBounds() {
    long[] bounds = new long[6 * 8];
    double[] steps = {1, 1.5, 2, 3, 5, 7};
    for (int i = 0; i < bounds.length; i++) {
      bounds[i] = Math.round(steps[i % 6] * Math.pow(10, i / 6 + 1)); // from 10 µs on
    }
    return bounds;
  }

  void write(boolean first, JsonBuffer json) {
    json.ascii("{\"seq\":").number(snapshot.seq());
    json.ascii(",\"time_ms\":").number(snapshot.timeMs());
    json.ascii(",\"interval_ms\":").number(snapshot.intervalMs()).write(',');
    OverviewJson.identity(model, json);
    json.ascii(",\"versions\":");
    ConsoleJson.array(json, snapshot.versions(model), version -> version(version, json));
    ModelFigures.Work work = model.work().orElse(null);
    if (work == null) {
      json.ascii(
          ",\"requests_per_s\":null,\"inferences_per_s\":null,\"executions_per_s\":null,"
              + "\"errors_per_s\":null,\"inline_per_s\":null,\"requests\":null,"
              + "\"inferences\":null,\"executions\":null,\"inline\":null,\"errors\":null,"
              + "\"latency\":null,\"minute\":null,\"heat\":null,\"time_us\":null,"
              + "\"batches\":null,\"batch_ends\":null,\"cache\":null,\"pending\":null,\"executing\":null,"
              + "\"busy\":null,\"instances\":null,\"sequences\":null,\"objective\":null,"
              + "\"memory\":null");
    } else {
      counts(work, json);
      latencies(work, json);
      executions(work, json);
    }
    if (first) {
      json.ascii(",\"history\":");
      model.history().write(json);
    }
    json.write('}');
  }

  private static void version(ModelFigures version, JsonBuffer json) {
    json.ascii("{\"version\":\"").ascii(version.version());
    json.ascii("\",\"state\":\"").ascii(version.state());
    ConsoleJson.text(json.ascii("\",\"reason\":"), version.reason()).write('}');
  }

  private static void counts(ModelFigures.Work work, JsonBuffer json) {
    ModelStatistics now = work.now();
    OverviewJson.rates(work, json);
    OverviewJson.rate("inline", work.perSecond(ModelStatistics::inlineCount), json);
    json.ascii(",\"requests\":").number(now.success().count());
    json.ascii(",\"inferences\":").number(now.inferenceCount());
    json.ascii(",\"executions\":").number(now.executionCount());
    json.ascii(",\"inline\":").number(now.inlineCount());
    OverviewJson.errors(now, json);
  }

  // ---- Latencies -------------------------------------------------------------------------------

  private static void latencies(ModelFigures.Work work, JsonBuffer json) {
    Histogram total = work.recent(ModelStatistics::totalHistogram);
    json.ascii(",\"latency\":");
    distributions(
        List.of(
            total,
            work.recent(ModelStatistics::queueHistogram),
            work.recent(ModelStatistics::computeHistogram)),
        json);
    json.ascii(",\"minute\":");
    distributions(work.minute(), json);
    json.ascii(",\"heat\":");
    heat(total, json);
    json.ascii(",\"time_us\":");
    Function<ModelStatistics, DurationStatistic> queue = ModelStatistics::queue;
    if (Double.isNaN(work.meanUs(queue))) {
      json.ascii("null");
      return;
    }
    ConsoleJson.decimal(json.ascii("{\"queue\":"), work.meanUs(queue));
    ConsoleJson.decimal(
        json.ascii(",\"compute_input\":"), work.meanUs(ModelStatistics::computeInput));
    ConsoleJson.decimal(
        json.ascii(",\"compute_infer\":"), work.meanUs(ModelStatistics::computeInfer));
    ConsoleJson.decimal(
        json.ascii(",\"compute_output\":"), work.meanUs(ModelStatistics::computeOutput));
    json.write('}');
  }

  private static void distributions(List<Histogram> three, JsonBuffer json) {
    distribution("{\"total\":", three.get(0), json);
    distribution(",\"queue\":", three.get(1), json);
    distribution(",\"compute\":", three.get(2), json);
    json.write('}');
  }

  private static void distribution(String name, Histogram durations, JsonBuffer json) {
    json.ascii(name).ascii("{\"count\":").number(durations.count());
    ConsoleJson.decimal(json.ascii(",\"mean_us\":"), meanUs(durations));
    ConsoleJson.decimal(json.ascii(",\"p50_us\":"), ConsoleJson.percentileUs(durations, 50));
    ConsoleJson.decimal(json.ascii(",\"p90_us\":"), ConsoleJson.percentileUs(durations, 90));
    ConsoleJson.decimal(json.ascii(",\"p95_us\":"), ConsoleJson.percentileUs(durations, 95));
    ConsoleJson.decimal(json.ascii(",\"p99_us\":"), ConsoleJson.percentileUs(durations, 99));
    ConsoleJson.decimal(json.ascii(",\"max_us\":"), ConsoleJson.percentileUs(durations, 100))
        .write('}');
  }

  /** The mean, with each duration taken as the middle of its range. */
  private static double meanUs(Histogram durations) {
    double sum = 0;
    for (int i = 0; i < durations.bucketCount(); i++) {
      if (durations.count(i) > 0) {
        long below = i == 0 ? 0 : durations.bucketNs(i - 1);
        sum += durations.count(i) * (below / 2.0 + durations.bucketNs(i) / 2.0);
      }
    }
    return sum / durations.count() / 1e3; // NaN when there are none
  }

  private static void heat(Histogram total, JsonBuffer json) {
    json.ascii("{\"bounds_us\":[");
    for (int i = 0; i < HEAT_US.length; i++) {
      json.ascii(i == 0 ? "" : ",").number(HEAT_US[i]);
    }
    long[] counts = new long[HEAT_US.length + 1];
    int range = 0;
    for (int i = 0; i < total.bucketCount(); i++) {
      while (range < HEAT_US.length && total.bucketNs(i) > HEAT_US[range] * 1000) {
        range++;
      }
      counts[range] += total.count(i);
    }
    json.ascii("],\"counts\":[");
    for (int i = 0; i < counts.length; i++) {
      json.ascii(i == 0 ? "" : ",").number(counts[i]);
    }
    json.ascii("]}");
  }

  // ---- Executions ------------------------------------------------------------------------------

  private static void executions(ModelFigures.Work work, JsonBuffer json) {
    ModelStatistics now = work.now();
    json.ascii(",\"batches\":");
    ConsoleJson.array(json, now.batches(), batch -> batch(work, batch, json));
    String separator = ",\"batch_ends\":{";
    for (BatchEnd end : BatchEnd.values()) {
      ConsoleJson.text(json.ascii(separator), end.name().toLowerCase(Locale.ROOT));
      json.ascii(":").number(now.batchEnds().get(end));
      separator = ",";
    }
    json.ascii("},\"cache\":");
    if (work.cached()) {
      OverviewJson.rate(
          "hits", work.perSecond(s -> s.cacheHit().count()), json.ascii("{\"cached\":true"));
      OverviewJson.rate("misses", work.perSecond(s -> s.cacheMiss().count()), json);
      json.ascii(",\"hits\":").number(now.cacheHit().count());
      json.ascii(",\"misses\":").number(now.cacheMiss().count()).write('}');
    } else {
      json.ascii("null");
    }
    OverviewJson.queue(work, json);
    json.ascii(",\"instances\":[");
    for (int i = 0; i < Math.max(work.instances().size(), now.instanceCount()); i++) {
      json.ascii(i == 0 ? "" : ",");
      instance(i, i < work.instances().size() ? work.instances().get(i) : null, json);
    }
    json.ascii("],\"sequences\":");
    if (now.sequences().isPresent()) {
      OverviewJson.sequences(now.sequences().get(), json);
    } else {
      json.ascii("null");
    }
    ObjectiveJson.write(work, json.ascii(",\"objective\":"));
    OverviewJson.memory(work.memory(), json);
  }

  private static void batch(ModelFigures.Work work, BatchStatistics batch, JsonBuffer json) {
    long total = batch.computeInfer().count();
    json.ascii("{\"size\":").number(batch.batchSize());
    json.ascii(",\"executions\":").number(total - work.executionsBefore(batch.batchSize()));
    json.ascii(",\"total\":").number(total);
    ConsoleJson.decimal(json.ascii(",\"compute_us\":"), batch.computeInfer().meanNs() / 1e3)
        .write('}');
  }

  /** Only an instance that shares something with others is known to wait or to hold. */
  private static void instance(int index, InstanceStatistics instance, JsonBuffer json) {
    boolean limited =
        instance != null
            && (instance.holds() || instance.awaited().isPresent() || instance.waits() > 0);
    json.ascii("{\"index\":").number(index);
    ConsoleJson.text(json.ascii(",\"state\":"), limited ? instance.text() : null);
    json.ascii(",\"waits\":").number(instance == null ? 0 : instance.waits()).write('}');
  }
}
