package io.nereid.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.nereid.Model;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Registers the meters of one version of a model. */
final class ModelMeters {

  private static final double[] PERCENTILES = {0.5, 0.95, 0.99};

  private final Model model;
  private final MeterRegistry registry;
  private final Tags tags;
  private final List<Meter> meters = new ArrayList<>();

  ModelMeters(Model model, MeterRegistry registry, Tags tags) {
    this.model = model;
    this.registry = registry;
    this.tags = tags.and("model", model.name(), "version", Long.toString(model.version()));
  }

  List<Meter> register() {
    String requests = "Requests, from submission to answer";
    timer("requests", requests, "outcome", "success", ModelStatistics::success);
    timer("requests", requests, "outcome", "failure", ModelStatistics::fail);
    failures("rejected", ModelStatistics::failRejected);
    failures("cancelled", ModelStatistics::failCancelled);
    failures("backend", ModelStatistics::failBackend);
    failures("other", ModelStatistics::failOther);
    timer("queue", "Time of requests in the queue", "stage", "queue", ModelStatistics::queue);
    String compute = "Time of requests in a stage of their execution";
    timer("compute", compute, "stage", "input", ModelStatistics::computeInput);
    timer("compute", compute, "stage", "infer", ModelStatistics::computeInfer);
    timer("compute", compute, "stage", "output", ModelStatistics::computeOutput);
    percentiles();
    gauge("requests.pending", "Requests that wait", ModelStatistics::pendingCount);
    gauge("requests.executing", "Requests that execute", ModelStatistics::executingCount);
    counter("rows", "Rows that were executed", tags, ModelStatistics::inferenceCount);
    counter("batches", "Batches that were executed", tags, ModelStatistics::executionCount);
    gauge("batch.size.max", "The largest batch that was executed", ModelMeters::largestBatch);
    String cache = "Requests that asked the response cache";
    counter("cache", cache, tags.and("result", "hit"), figures -> figures.cacheHit().count());
    counter("cache", cache, tags.and("result", "miss"), figures -> figures.cacheMiss().count());
    memory("weights", MemoryUsage::weights);
    memory("working", MemoryUsage::working);
    memory("pool", MemoryUsage::pool);
    return meters;
  }

  private static double largestBatch(ModelStatistics figures) {
    return figures.batches().stream().mapToLong(BatchStatistics::batchSize).max().orElse(0);
  }

  private void timer(
      String name,
      String help,
      String tag,
      String value,
      Function<ModelStatistics, DurationStatistic> figure) {
    meters.add(
        FunctionTimer.builder(
                "nereid.model." + name,
                model,
                its -> figure.apply(its.statistics()).count(),
                its -> figure.apply(its.statistics()).totalNs(),
                TimeUnit.NANOSECONDS)
            .description(help)
            .tags(tags.and(tag, value))
            .register(registry));
  }

  private void failures(String reason, ToDoubleFunction<ModelStatistics> figure) {
    counter("failures", "Requests that failed, by reason", tags.and("reason", reason), figure);
  }

  private void counter(
      String name, String help, Tags all, ToDoubleFunction<ModelStatistics> figure) {
    meters.add(
        FunctionCounter.builder(
                "nereid.model." + name, model, its -> figure.applyAsDouble(its.statistics()))
            .description(help)
            .tags(all)
            .register(registry));
  }

  private void gauge(String name, String help, ToDoubleFunction<ModelStatistics> figure) {
    meters.add(
        Gauge.builder("nereid.model." + name, model, its -> figure.applyAsDouble(its.statistics()))
            .description(help)
            .tags(tags)
            .register(registry));
  }

  private void memory(String area, ToDoubleFunction<MemoryUsage> figure) {
    meters.add(
        Gauge.builder("nereid.model.memory", model, its -> figure.applyAsDouble(its.memoryUsage()))
            .description("What the model occupies")
            .baseUnit(BaseUnits.BYTES)
            .tags(tags.and("area", area))
            .register(registry));
  }

  /**
   * Registers percentiles of the last minute or two, since a distribution since the load hardly
   * changes.
   */
  private void percentiles() {
    RecentTimes recent = new RecentTimes(model);
    for (double percentile : PERCENTILES) {
      meters.add(
          TimeGauge.builder(
                  "nereid.model.requests.recent",
                  recent,
                  TimeUnit.NANOSECONDS,
                  its -> its.percentileNs(percentile * 100))
              .description("A percentile of the time from submission to answer, of late")
              .tags(tags.and("phi", Double.toString(percentile)))
              .strongReference(true)
              .register(registry));
    }
  }
}
