package io.nereid.server.console;

import io.nereid.model.Objective;
import io.nereid.recording.Shadow;
import io.nereid.recording.compare.OutputFigures;
import io.nereid.statistics.BatchEnd;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.Histogram;
import io.nereid.statistics.InstanceStatistics;
import io.nereid.statistics.IsolationStatistics;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.ObjectiveStatistics;
import io.nereid.statistics.SequenceStatistics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/** Makes the event about one version of a model. */
final class ModelJson {

  /** Bounds of the ranges of the heat map: 10, 15, 20, 30, 50, 70 and so on, in microseconds. */
  private static final long[] HEAT_US = heatBounds();

  private ModelJson() {}

  private static long[] heatBounds() {
    long[] bounds = new long[6 * 8];
    double[] steps = {1, 1.5, 2, 3, 5, 7};
    for (int i = 0; i < bounds.length; i++) {
      bounds[i] = Math.round(steps[i % 6] * Math.pow(10, i / 6 + 1)); // from 10 µs on
    }
    return bounds;
  }

  /** The event for a page; {@code first}: the page has seen none yet. */
  static ConsoleJson of(Snapshot snapshot, ModelFigures model, boolean first) {
    ConsoleJson json =
        OverviewJson.identity(snapshot.head(), model)
            .with(
                "versions",
                snapshot.versions(model).stream()
                    .map(version ->
                        new ConsoleJson()
                            .with("version", version.version())
                            .with("state", version.state())
                            .with("reason", version.reason()))
                    .toList())
            .with("shadow", model.shadow().map(ModelJson::shadow).orElse(null));
    ModelFigures.Work work = model.work().orElse(null);
    if (work == null) {
      json.without("requests_per_s", "inferences_per_s", "executions_per_s", "errors_per_s");
      json.without("inline_per_s", "requests", "inferences", "executions", "inline", "errors");
      json.without("latency", "minute", "heat", "time_us", "batches", "batch_ends", "cache");
      json.without("pending", "executing", "busy", "instances", "sequences", "objective", "memory");
      json.without("isolation");
    } else {
      counts(json, work);
      latencies(json, work);
      executions(json, work);
    }
    return first ? json.with("history", model.history().json()) : json;
  }

  private static ConsoleJson shadow(Shadow.Verdict verdict) {
    return new ConsoleJson()
        .with("of", verdict.primary())
        .with("compared", verdict.compared())
        .with("differing", verdict.differing())
        .with("failed", verdict.failed())
        .with("dropped", verdict.dropped())
        .with("failure", verdict.failure())
        .with("outputs", verdict.outputs().stream().map(ModelJson::output).toList());
  }

  private static ConsoleJson output(OutputFigures figures) {
    return new ConsoleJson()
        .with("output", figures.output())
        .with("differing", figures.differing())
        .with("absolute", figures.absolute())
        .with("relative", figures.relative())
        .with("cosine", figures.cosine())
        .with("top_changes", figures.topChanges())
        .with("not_finite", figures.notFinite())
        .with("other_shapes", figures.otherShapes())
        .with("worst", figures.worst());
  }

  private static void counts(ConsoleJson json, ModelFigures.Work work) {
    ModelStatistics now = work.now();
    OverviewJson.rates(json, work)
        .decimal("inline_per_s", work.perSecond(ModelStatistics::inlineCount))
        .with("requests", now.success().count())
        .with("inferences", now.inferenceCount())
        .with("executions", now.executionCount())
        .with("inline", now.inlineCount())
        .with("errors", OverviewJson.errors(now));
  }

  // ---- Latencies -------------------------------------------------------------------------------

  private static void latencies(ConsoleJson json, ModelFigures.Work work) {
    Histogram total = work.recent(ModelStatistics::totalHistogram);
    Histogram queue = work.recent(ModelStatistics::queueHistogram);
    Histogram compute = work.recent(ModelStatistics::computeHistogram);
    boolean none = Double.isNaN(work.meanUs(ModelStatistics::queue));
    json.with("latency", distributions(List.of(total, queue, compute)))
        .with("minute", distributions(work.minute()))
        .with("heat", heat(total))
        .with("time_us", none ? null : times(work));
  }

  private static ConsoleJson times(ModelFigures.Work work) {
    return new ConsoleJson()
        .decimal("queue", work.meanUs(ModelStatistics::queue))
        .decimal("compute_input", work.meanUs(ModelStatistics::computeInput))
        .decimal("compute_infer", work.meanUs(ModelStatistics::computeInfer))
        .decimal("compute_output", work.meanUs(ModelStatistics::computeOutput));
  }

  private static ConsoleJson distributions(List<Histogram> three) {
    return new ConsoleJson()
        .with("total", distribution(three.get(0)))
        .with("queue", distribution(three.get(1)))
        .with("compute", distribution(three.get(2)));
  }

  private static ConsoleJson distribution(Histogram durations) {
    return new ConsoleJson()
        .with("count", durations.count())
        .decimal("mean_us", meanUs(durations))
        .percentile("p50_us", durations, 50)
        .percentile("p90_us", durations, 90)
        .percentile("p95_us", durations, 95)
        .percentile("p99_us", durations, 99)
        .percentile("max_us", durations, 100);
  }

  /** The mean, taking each duration as the middle of its range. */
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

  private static ConsoleJson heat(Histogram total) {
    long[] counts = new long[HEAT_US.length + 1];
    int range = 0;
    for (int i = 0; i < total.bucketCount(); i++) {
      while (range < HEAT_US.length && total.bucketNs(i) > HEAT_US[range] * 1000) {
        range++;
      }
      counts[range] += total.count(i);
    }
    return new ConsoleJson().with("bounds_us", HEAT_US).with("counts", counts);
  }

  // ---- Executions ------------------------------------------------------------------------------

  private static void executions(ConsoleJson json, ModelFigures.Work work) {
    ModelStatistics now = work.now();
    ConsoleJson ends = new ConsoleJson();
    for (BatchEnd end : BatchEnd.values()) {
      ends.with(end.name().toLowerCase(Locale.ROOT), now.batchEnds().get(end));
    }
    json.with("batches", now.batches().stream().map(batch -> batch(work, batch)).toList())
        .with("batch_ends", ends)
        .with("cache", work.cached() ? cache(work) : null);
    List<ConsoleJson> instances = new ArrayList<>();
    for (int i = 0; i < Math.max(work.instances().size(), now.instanceCount()); i++) {
      instances.add(instance(i, i < work.instances().size() ? work.instances().get(i) : null));
    }
    OverviewJson.queue(json, work)
        .with("instances", instances)
        .with("sequences", now.sequences().map(ModelJson::sequences).orElse(null))
        .with("objective", objective(work))
        .with("memory", OverviewJson.memory(work.memory()))
        .with("isolation", work.isolation().map(ModelJson::isolation).orElse(null));
  }

  private static ConsoleJson isolation(IsolationStatistics process) {
    return new ConsoleJson()
        .with("up", process.up())
        .with("failed", process.failed())
        .with("process", process.process())
        .with("restarts", process.restarts())
        .with("resident_bytes", process.residentBytes())
        .with("last_end", process.lastEnd());
  }

  private static ConsoleJson cache(ModelFigures.Work work) {
    return new ConsoleJson()
        .with("cached", true)
        .decimal("hits_per_s", work.perSecond(figures -> figures.cacheHit().count()))
        .decimal("misses_per_s", work.perSecond(figures -> figures.cacheMiss().count()))
        .with("hits", work.now().cacheHit().count())
        .with("misses", work.now().cacheMiss().count());
  }

  private static ConsoleJson sequences(SequenceStatistics sequences) {
    return new ConsoleJson()
        .with("slots", sequences.slots())
        .with("active", sequences.active())
        .with("backlog", sequences.backlog())
        .with("started", sequences.started())
        .with("ended", sequences.ended())
        .with("idle_ended", sequences.idleEnded())
        .with("state_bytes", sequences.stateBytes());
  }

  private static ConsoleJson batch(ModelFigures.Work work, BatchStatistics batch) {
    long total = batch.computeInfer().count();
    return new ConsoleJson()
        .with("size", batch.batchSize())
        .with("executions", total - work.executionsBefore(batch.batchSize()))
        .with("total", total)
        .decimal("compute_us", batch.computeInfer().meanNs() / 1e3);
  }

  /**
   * Describes an instance; waiting and holding are known only for instances with shared resources.
   */
  private static ConsoleJson instance(int index, InstanceStatistics instance) {
    boolean limited =
        instance != null
            && (instance.holds() || instance.awaited().isPresent() || instance.waits() > 0);
    return new ConsoleJson()
        .with("index", index)
        .with("state", limited ? instance.text() : null)
        .with("waits", instance == null ? 0 : instance.waits());
  }

  // ---- The objective ---------------------------------------------------------------------------

  /** The objective of a model; null: none. */
  private static ConsoleJson objective(ModelFigures.Work work) {
    return work.now().objective().map(figures -> objective(work, figures)).orElse(null);
  }

  private static ConsoleJson objective(ModelFigures.Work work, ObjectiveStatistics figures) {
    return new ConsoleJson()
        .with("objective", new Objective(figures.percentile(), figures.latency()).text())
        .decimal("kept_per_s", work.perSecond(counter(ObjectiveStatistics::kept)))
        .decimal("late_per_s", work.perSecond(counter(ObjectiveStatistics::late)))
        .decimal("refused_per_s", work.perSecond(counter(ObjectiveStatistics::refused)))
        .with("kept", figures.kept())
        .with("late", figures.late())
        .with(
            "refused",
            new ConsoleJson()
                .with("backlog", figures.refusedBacklog())
                .with("cost", figures.refusedCost())
                .with("waiting", figures.refusedWaiting()))
        .with("refused_deadline", figures.refusedDeadline())
        .with("max_rows", figures.maxRows())
        .decimal("max_wait_us", us(figures.maxWait()))
        .decimal("backlog_us", us(figures.backlogTime()))
        .decimal("outside_us", us(figures.outside()))
        .with("rows_per_s", figures.rowsPerSecond())
        .with("costs", figures.costs().stream().map(ModelJson::cost).toList());
  }

  private static ToLongFunction<ModelStatistics> counter(
      ToLongFunction<ObjectiveStatistics> counter) {
    return model -> model.objective().map(counter::applyAsLong).orElse(0L);
  }

  private static double us(Duration time) {
    return time.toNanos() / 1e3;
  }

  private static ConsoleJson cost(ObjectiveStatistics.Cost cost) {
    return new ConsoleJson()
        .with("kind", cost.kind())
        .with("rows", cost.rows())
        .with("row_elements", cost.rowElements())
        .decimal("mean_us", cost.meanNs() / 1e3)
        .decimal("high_us", cost.highNs() / 1e3);
  }
}
