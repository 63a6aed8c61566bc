package io.nereid.server.console;

import io.nereid.model.Objective;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.ObjectiveStatistics;
import java.time.Duration;
import java.util.function.ToLongFunction;

/** Tells what a model's objective has it do, what came of it, and what was learned for it. */
final class ObjectiveJson {

  private ObjectiveJson() {}

  /** The objective of a model; null where it has none. */
  static ConsoleJson of(ModelFigures.Work work) {
    return work.now().objective().map(figures -> of(work, figures)).orElse(null);
  }

  private static ConsoleJson of(ModelFigures.Work work, ObjectiveStatistics figures) {
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
        .with("costs", figures.costs().stream().map(ObjectiveJson::cost).toList());
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
