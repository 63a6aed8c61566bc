package io.nereid.cli;

import io.nereid.client.ModelUsage;
import io.nereid.client.ModelUsage.Batches;
import io.nereid.server.metrics.Scrape;
import java.util.Locale;
import java.util.Map;

/**
 * A version of a model between two looks of {@code nereid top}.
 *
 * @param activity its work
 * @param seconds between the looks
 * @param p99Ms the time that 99 of 100 requests did not exceed; NaN: no requests, or unknown
 * @param waiting requests that wait now; NaN: unknown
 * @param busy instances that executed, on average
 * @param instances the number of instances; NaN: unknown
 * @param ends batches that were begun, by the reason why they are not larger
 */
record TopRow(
    Activity activity,
    double seconds,
    double p99Ms,
    double waiting,
    double busy,
    double instances,
    Map<String, Double> ends) {

  private static final int BAR = 8;

  static TopRow between(TopLook before, TopLook now, ModelUsage model) {
    ModelUsage earlier = before.models().getOrDefault(TopLook.key(model), model);
    double seconds = (now.ns() - before.ns()) / 1e9;
    Map<String, String> labels = Map.of("model", model.name(), "version", model.version());
    Scrape metrics = now.metrics().orElse(null);
    double busyNs = executionNs(model) - executionNs(earlier);
    double instances = metrics == null ? Double.NaN : metrics.sum("nereid_instances", labels);
    return new TopRow(
        Activity.between(earlier, model),
        seconds,
        metrics == null || before.metrics().isEmpty()
            ? Double.NaN
            : 1000
                * metrics.quantileSince(
                    before.metrics().get(),
                    "nereid_inference_request_duration_seconds",
                    labels,
                    0.99),
        metrics == null ? Double.NaN : metrics.sum("nv_inference_pending_request_count", labels),
        Math.clamp(
            busyNs / 1e9 / seconds, 0, Double.isNaN(instances) ? Double.MAX_VALUE : instances),
        instances,
        endsBetween(before, now, labels));
  }

  private static Map<String, Double> endsBetween(
      TopLook before, TopLook now, Map<String, String> labels) {
    if (before.metrics().isEmpty() || now.metrics().isEmpty()) {
      return Map.of();
    }
    String name = "nereid_batch_ends_total";
    Map<String, Double> earlier = before.metrics().get().by("reason", name, labels);
    Map<String, Double> ends = now.metrics().get().by("reason", name, labels);
    ends.replaceAll((reason, count) -> Math.max(0, count - earlier.getOrDefault(reason, 0.0)));
    ends.values().removeIf(count -> count == 0);
    return ends;
  }

  private static double executionNs(ModelUsage model) {
    double ns = 0;
    for (Batches batch : model.batches()) {
      ns +=
          batch.computeInput().totalNs()
              + batch.computeInfer().totalNs()
              + batch.computeOutput().totalNs();
    }
    return ns;
  }

  static Texts.Table table() {
    return new Texts.Table(
        "MODEL",
        "VERSION",
        "REQUESTS/S",
        "FAILED/S",
        "P99 MS",
        "MEAN MS",
        "QUEUE MS",
        "WAITING",
        "BUSY",
        "ROWS/S",
        "ROWS/BATCH",
        "ENDED BY",
        "CACHE HITS/S");
  }

  void addTo(Texts.Table table) {
    table.add(
        activity.model(),
        activity.version().isEmpty() ? "-" : activity.version(),
        text("%.1f", activity.requests() / seconds),
        text("%.1f", activity.failures() / seconds),
        text("%.3f", p99Ms),
        text("%.3f", activity.requests() == 0 ? Double.NaN : activity.totalMs()),
        text("%.3f", activity.requests() == 0 ? Double.NaN : activity.queueMs()),
        text("%.0f", waiting),
        bar() + text("%.1f", busy) + " of " + text("%.0f", instances),
        text("%.1f", activity.rows() / seconds),
        text("%.1f", activity.executions() == 0 ? Double.NaN : activity.batch()),
        endedBy(),
        text("%.1f", activity.cacheHits() / seconds));
  }

  /** The most frequent reason why batches were not larger, and its share. */
  private String endedBy() {
    double all = ends.values().stream().mapToDouble(count -> count).sum();
    return ends.entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .map(most ->
            String.format(Locale.ROOT, "%s %.0f %%", most.getKey(), 100 * most.getValue() / all))
        .orElse("-");
  }

  /** A bar of the share of instances that executed. */
  private String bar() {
    if (!(instances > 0)) {
      return "";
    }
    int full = Math.clamp(Math.round(BAR * busy / instances), 0, BAR);
    return "[" + "|".repeat(full) + " ".repeat(BAR - full) + "] ";
  }

  private static String text(String format, double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, format, value);
  }

  Map<String, Object> inJson() {
    Map<String, Object> object = activity.inJson();
    object.put("p99_ms", orNull(p99Ms));
    object.put("waiting", orNull(waiting));
    object.put("busy", busy);
    object.put("instances", orNull(instances));
    object.put("batch_ends", ends);
    return object;
  }

  private static Double orNull(double value) {
    return Double.isNaN(value) ? null : value;
  }
}
