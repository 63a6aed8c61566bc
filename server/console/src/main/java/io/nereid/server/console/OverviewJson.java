package io.nereid.server.console;

import io.nereid.statistics.Histogram;
import io.nereid.statistics.MemoryUsage;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.SequenceStatistics;
import java.time.Instant;

/** Writes the figures of a model that the overview and the model's page have in common. */
final class OverviewJson {

  private OverviewJson() {}

  /** Writes a model for the overview. */
  static ConsoleJson model(ModelFigures model) {
    ConsoleJson json = identity(new ConsoleJson(), model);
    ModelFigures.Work work = model.work().orElse(null);
    if (work == null) {
      json.without("requests_per_s", "inferences_per_s", "executions_per_s", "errors_per_s");
      json.without("requests", "errors", "p50_us", "p99_us", "batch_mean", "pending", "executing");
      return json.without("instances", "busy", "memory", "sequences", "last_ms");
    }
    ModelStatistics now = work.now();
    Histogram minute = work.minute().getFirst();
    long executions = work.added(ModelStatistics::executionCount);
    double rows = work.added(ModelStatistics::inferenceCount);
    rates(json, work)
        .with("requests", now.success().count())
        .with("errors", errors(now))
        .percentile("p50_us", minute, 50)
        .percentile("p99_us", minute, 99)
        .decimal("batch_mean", executions == 0 ? Double.NaN : rows / executions);
    return queue(json, work)
        .with("instances", now.instanceCount())
        .with("memory", memory(work.memory()))
        .with("sequences", now.sequences().map(SequenceStatistics::active).orElse(null))
        .with("last_ms", now.lastInference().map(Instant::toEpochMilli).orElse(null));
  }

  static ConsoleJson identity(ConsoleJson json, ModelFigures model) {
    return json.with("key", model.key())
        .with("namespace", model.namespace())
        .with("name", model.name())
        .with("version", model.version())
        .with("state", model.state())
        .with("backend", model.backend())
        .with("reason", model.reason())
        .with("place", ConsoleJson.place(model.reason()));
  }

  static ConsoleJson rates(ConsoleJson json, ModelFigures.Work work) {
    return json.decimal("requests_per_s", work.perSecond(figures -> figures.success().count()))
        .decimal("inferences_per_s", work.perSecond(ModelStatistics::inferenceCount))
        .decimal("executions_per_s", work.perSecond(ModelStatistics::executionCount))
        .decimal("errors_per_s", work.perSecond(figures -> figures.fail().count()));
  }

  static ConsoleJson errors(ModelStatistics now) {
    return new ConsoleJson()
        .with("rejected", now.failRejected())
        .with("cancelled", now.failCancelled())
        .with("backend", now.failBackend())
        .with("other", now.failOther());
  }

  static ConsoleJson queue(ConsoleJson json, ModelFigures.Work work) {
    return json.with("pending", work.now().pendingCount())
        .with("executing", work.now().executingCount())
        .decimal("busy", work.busy());
  }

  static ConsoleJson memory(MemoryUsage memory) {
    return new ConsoleJson()
        .with("weights_bytes", memory.weights())
        .with("working_bytes", memory.working())
        .with("pool_bytes", memory.pool());
  }
}
