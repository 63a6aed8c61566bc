package io.nereid.server.http;

import io.nereid.model.Objective;
import io.nereid.server.json.JsonBuffer;
import io.nereid.statistics.ObjectiveStatistics;

/** Writes what became of a model's objective, among its statistics. */
final class ObjectiveJson {

  private ObjectiveJson() {}

  static void write(ObjectiveStatistics figures, JsonBuffer json) {
    String text = new Objective(figures.percentile(), figures.latency()).text();
    json.ascii(",\"objective\":{\"objective\":").string(text);
    json.ascii(",\"latency_ns\":").number(figures.latency().toNanos());
    json.ascii(",\"max_rows\":").number(figures.maxRows());
    json.ascii(",\"max_wait_ns\":").number(figures.maxWait().toNanos());
    json.ascii(",\"backlog\":").number(figures.backlog());
    json.ascii(",\"backlog_ns\":").number(figures.backlogTime().toNanos());
    json.ascii(",\"rows_per_second\":").number(figures.rowsPerSecond());
    json.ascii(",\"kept\":").number(figures.kept());
    json.ascii(",\"late\":").number(figures.late());
    json.ascii(",\"refused\":{\"backlog\":").number(figures.refusedBacklog());
    json.ascii(",\"cost\":").number(figures.refusedCost());
    json.ascii(",\"waiting\":").number(figures.refusedWaiting());
    json.ascii("},\"refused_deadline\":").number(figures.refusedDeadline());
    json.ascii(",\"outside_ns\":").number(figures.outside().toNanos());
    json.ascii(",\"costs\":[");
    boolean first = true;
    for (ObjectiveStatistics.Cost cost : figures.costs()) {
      json.ascii(first ? "{\"kind\":" : ",{\"kind\":").number(cost.kind());
      first = false;
      json.ascii(",\"rows\":").number(cost.rows());
      json.ascii(",\"row_elements\":").number(cost.rowElements());
      json.ascii(",\"mean_ns\":").number(Math.round(cost.meanNs()));
      json.ascii(",\"high_ns\":").number(Math.round(cost.highNs()));
      json.ascii(",\"weight\":").number((float) cost.weight()).write('}');
    }
    json.ascii("]}");
  }
}
