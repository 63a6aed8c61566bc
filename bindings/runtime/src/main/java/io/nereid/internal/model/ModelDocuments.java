package io.nereid.internal.model;

import static io.nereid.internal.JsonText.object;

import io.nereid.internal.JsonText;
import io.nereid.internal.JsonText.Members;
import io.nereid.model.ModelConfiguration;
import io.nereid.model.ModelSpec;
import io.nereid.model.Objective;
import io.nereid.model.TensorSpec;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.ObjectiveStatistics;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Writes a model's metadata, configuration and statistics as JSON, for servers and plug-ins. */
public final class ModelDocuments {

  private ModelDocuments() {}

  /** The configuration that a model is served with. */
  public static ModelConfiguration configuration(ModelEntry entry) {
    return entry
        .configuration()
        .orElseThrow(() ->
            new NereidException(
                StatusCode.NOT_FOUND, "model '" + entry.name() + "' has no configuration"));
  }

  // ---- Metadata --------------------------------------------------------------------------------

  /** The metadata of a model that was loaded, with these versions. */
  public static String metadata(ModelEntry entry, List<String> versions) {
    ModelSpec spec = entry.latest().orElseThrow(entry::notReady).spec();
    String configured = configuration(entry).platform();
    String kind = spec.ensemble().isPresent() ? "ensemble" : spec.backendName();
    return JsonText.of(
        object()
            .with("name", entry.name())
            .with("versions", versions)
            .with("platform", configured.isEmpty() ? kind : configured)
            .with("inputs", tensors(spec, spec.inputs()))
            .with("outputs", tensors(spec, spec.outputs())));
  }

  private static List<Members> tensors(ModelSpec model, List<TensorSpec> tensors) {
    List<Members> all = new ArrayList<>();
    for (TensorSpec tensor : tensors) {
      List<Long> shape = new ArrayList<>(tensor.dims());
      if (model.maxBatchSize() > 0) {
        shape.addFirst(-1L);
      }
      all.add(
          object()
              .with("name", tensor.name())
              .with("datatype", tensor.dataType().name())
              .with("shape", shape));
    }
    return all;
  }

  // ---- Statistics ------------------------------------------------------------------------------

  /** The statistics of a model that was loaded. */
  public static String statistics(ModelEntry entry) {
    LoadedModel loaded = entry.latest().orElseThrow(entry::notReady);
    ModelStatistics statistics = loaded.statistics();
    MemoryUsage usage = loaded.memory();
    Members all =
        object()
            .with("name", entry.name())
            .with("version", Long.toString(entry.version()))
            .with(
                "last_inference", statistics.lastInference().map(Instant::toEpochMilli).orElse(0L))
            .with("inference_count", statistics.inferenceCount())
            .with("execution_count", statistics.executionCount())
            .with("inference_stats", durations(statistics))
            .with("response_stats", object())
            .with("batch_stats", batches(statistics))
            .with(
                "memory_usage", List.of(memory(usage.weights() + usage.working() + usage.pool())));
    List<InstanceStatistics> instances = loaded.instances();
    if (instances.stream().anyMatch(instance -> instance.awaited().isPresent())) {
      all.with("instances", waits(instances));
    }
    statistics.objective().ifPresent(figures -> all.with("objective", objective(figures)));
    return JsonText.of(all);
  }

  private static Members durations(ModelStatistics statistics) {
    return object()
        .with("success", duration(statistics.success()))
        .with("fail", duration(statistics.fail()))
        .with("queue", duration(statistics.queue()))
        .with("compute_input", duration(statistics.computeInput()))
        .with("compute_infer", duration(statistics.computeInfer()))
        .with("compute_output", duration(statistics.computeOutput()))
        .with("cache_hit", duration(statistics.cacheHit()))
        .with("cache_miss", duration(statistics.cacheMiss()));
  }

  private static Members duration(DurationStatistic duration) {
    return object().with("count", duration.count()).with("ns", duration.totalNs());
  }

  private static List<Members> batches(ModelStatistics statistics) {
    return statistics.batches().stream()
        .map(batch ->
            object()
                .with("batch_size", batch.batchSize())
                .with("compute_input", duration(batch.computeInput()))
                .with("compute_infer", duration(batch.computeInfer()))
                .with("compute_output", duration(batch.computeOutput())))
        .toList();
  }

  private static Members memory(long byteSize) {
    return object().with("type", "CPU").with("id", 0).with("byte_size", byteSize);
  }

  /** The resources that the model's instances wait for. */
  private static List<Members> waits(List<InstanceStatistics> instances) {
    return instances.stream()
        .map(instance -> object().with("state", instance.text()).with("waits", instance.waits()))
        .toList();
  }

  /** The figures of the model's objective. */
  private static Members objective(ObjectiveStatistics figures) {
    return object()
        .with("objective", new Objective(figures.percentile(), figures.latency()).text())
        .with("latency_ns", figures.latency().toNanos())
        .with("max_rows", figures.maxRows())
        .with("max_wait_ns", figures.maxWait().toNanos())
        .with("backlog", figures.backlog())
        .with("backlog_ns", figures.backlogTime().toNanos())
        .with("rows_per_second", figures.rowsPerSecond())
        .with("kept", figures.kept())
        .with("late", figures.late())
        .with(
            "refused",
            object()
                .with("backlog", figures.refusedBacklog())
                .with("cost", figures.refusedCost())
                .with("waiting", figures.refusedWaiting()))
        .with("refused_deadline", figures.refusedDeadline())
        .with("outside_ns", figures.outside().toNanos())
        .with("costs", figures.costs().stream().map(ModelDocuments::cost).toList());
  }

  private static Members cost(ObjectiveStatistics.Cost cost) {
    return object()
        .with("kind", cost.kind())
        .with("rows", cost.rows())
        .with("row_elements", cost.rowElements())
        .with("mean_ns", Math.round(cost.meanNs()))
        .with("high_ns", Math.round(cost.highNs()))
        .with("weight", (float) cost.weight());
  }
}
