package io.nereid.server.console;

import io.nereid.model.Objective;
import io.nereid.server.json.JsonBuffer;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.ObjectiveStatistics;
import java.time.Duration;
import java.util.function.ToLongFunction;

/** Writes what a model's objective has it do, what came of it, and what was learned for it. */
final class ObjectiveJson {

  private ObjectiveJson() {}

  /** Writes the objective of a model, or null where it has none. */
  static void write(ModelFigures.Work work, JsonBuffer json) {
    ObjectiveStatistics figures = work.now().objective().orElse(null);
    if (figures == null) {
      json.ascii("null");
      return;
    }
    json.ascii("{\"objective\":");
    json.string(new Objective(figures.percentile(), figures.latency()).text());
    OverviewJson.rate("kept", work.perSecond(of(ObjectiveStatistics::kept)), json);
    OverviewJson.rate("late", work.perSecond(of(ObjectiveStatistics::late)), json);
    OverviewJson.rate("refused", work.perSecond(of(ObjectiveStatistics::refused)), json);
    json.ascii(",\"kept\":").number(figures.kept());
    json.ascii(",\"late\":").number(figures.late());
    json.ascii(",\"refused\":{\"backlog\":").number(figures.refusedBacklog());
    json.ascii(",\"cost\":").number(figures.refusedCost());
    json.ascii(",\"waiting\":").number(figures.refusedWaiting());
    json.ascii("},\"refused_deadline\":").number(figures.refusedDeadline());
    json.ascii(",\"max_rows\":").number(figures.maxRows());
    us(",\"max_wait_us\":", figures.maxWait(), json);
    us(",\"backlog_us\":", figures.backlogTime(), json);
    us(",\"outside_us\":", figures.outside(), json);
    json.ascii(",\"rows_per_s\":").number(figures.rowsPerSecond());
    json.ascii(",\"costs\":");
    ConsoleJson.array(json, figures.costs(), cost -> cost(cost, json));
    json.write('}');
  }

  private static ToLongFunction<ModelStatistics> of(ToLongFunction<ObjectiveStatistics> counter) {
    return model -> model.objective().map(counter::applyAsLong).orElse(0L);
  }

  private static void us(String name, Duration time, JsonBuffer json) {
    ConsoleJson.decimal(json.ascii(name), time.toNanos() / 1e3);
  }

  private static void cost(ObjectiveStatistics.Cost cost, JsonBuffer json) {
    json.ascii("{\"kind\":").number(cost.kind());
    json.ascii(",\"rows\":").number(cost.rows());
    json.ascii(",\"row_elements\":").number(cost.rowElements());
    ConsoleJson.decimal(json.ascii(",\"mean_us\":"), cost.meanNs() / 1e3);
    ConsoleJson.decimal(json.ascii(",\"high_us\":"), cost.highNs() / 1e3).write('}');
  }
}
