package io.nereid.server.metrics;

import io.nereid.statistics.ObjectiveStatistics;
import java.time.Duration;
import java.util.function.ToDoubleFunction;

/** The outcome of the objectives of models, and the settings that follow from them. */
final class ObjectiveMetrics {

  private static final double NANOS = 1e9;

  private final Samples<ObjectiveStatistics> models;
  private final MetricsText text;

  private ObjectiveMetrics(Samples<ObjectiveStatistics> models, MetricsText text) {
    this.models = models;
    this.text = text;
  }

  /** Writes the figures of models that have an objective; nothing where none has. */
  static void write(Samples<ObjectiveStatistics> models, MetricsText text) {
    if (!models.isEmpty()) {
      ObjectiveMetrics metrics = new ObjectiveMetrics(models, text);
      metrics.outcome();
      metrics.now();
      metrics.costs();
    }
  }

  private void outcome() {
    text.gauge("nereid_objective_seconds", "In how long a model is to answer, by the quantile");
    models.each((objective, samples) -> {
      String quantile = Double.toString(Math.rint(objective.percentile() * 10) / 1000);
      samples.accept(MetricsText.label("quantile", quantile), seconds(objective.latency()));
    });
    counter("kept", "Requests that were answered in time", ObjectiveStatistics::kept);
    counter("late", "Requests that were answered too late", ObjectiveStatistics::late);
    text.counter("nereid_objective_refused_total", "Requests that were refused, by the reason");
    models.each((objective, samples) -> {
      samples.accept(MetricsText.label("reason", "backlog"), objective.refusedBacklog());
      samples.accept(MetricsText.label("reason", "cost"), objective.refusedCost());
      samples.accept(MetricsText.label("reason", "waiting"), objective.refusedWaiting());
    });
    counter(
        "refused_deadline",
        "Of the requests that were refused, those whose own deadline was the reason",
        ObjectiveStatistics::refusedDeadline);
  }

  private void now() {
    gauge("max_rows", "Most rows that are executed at once", figures -> figures.maxRows());
    gauge(
        "max_wait_seconds",
        "The longest that a request would wait for others",
        figures -> seconds(figures.maxWait()));
    gauge(
        "backlog_seconds",
        "How long it takes to execute what waits and executes",
        figures -> seconds(figures.backlogTime()));
    gauge(
        "outside_seconds",
        "What is kept free for the way between frontends and the model",
        figures -> seconds(figures.outside()));
    gauge(
        "rows_per_second",
        "Rows a second that can be answered in time; 0: not known yet",
        figures -> figures.rowsPerSecond());
  }

  private void costs() {
    cost("mean", "What an execution takes on average", ObjectiveStatistics.Cost::meanNs);
    cost("high", "What one execution of a hundred exceeds", ObjectiveStatistics.Cost::highNs);
  }

  private void cost(String what, String help, ToDoubleFunction<ObjectiveStatistics.Cost> value) {
    text.gauge("nereid_objective_cost_" + what + "_seconds", help + ", by its rows, as learned");
    models.each((objective, samples) ->
        objective
            .costs()
            .forEach(cost -> samples.accept(labels(cost), value.applyAsDouble(cost) / NANOS)));
  }

  private static String labels(ObjectiveStatistics.Cost cost) {
    String labels =
        MetricsText.labels(
            MetricsText.label("kind", Integer.toString(cost.kind())),
            MetricsText.label("rows", Long.toString(cost.rows())));
    String elements = MetricsText.label("row_elements", Long.toString(cost.rowElements()));
    return MetricsText.labels(labels, elements);
  }

  private static double seconds(Duration duration) {
    return duration.toNanos() / NANOS;
  }

  private void counter(String name, String help, ToDoubleFunction<ObjectiveStatistics> value) {
    models.counter("nereid_objective_" + name + "_total", help, value);
  }

  private void gauge(String name, String help, ToDoubleFunction<ObjectiveStatistics> value) {
    models.gauge("nereid_objective_" + name, help, value);
  }
}
