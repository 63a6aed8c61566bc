package io.nereid.cli;

import io.nereid.client.ModelUsage;
import io.nereid.client.ModelUsage.Times;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The work of a version of a model between two readings of its statistics.
 *
 * @param requests that succeeded
 * @param failures requests that failed
 * @param executions batches
 * @param batch average rows of a batch; 0: none
 * @param queueMs average time in the queue
 * @param computeMs average time of an execution, gathering and handing out included
 * @param totalMs average time of a request that succeeded
 * @param cacheHits requests answered from the response cache
 */
record Activity(
    String model,
    String version,
    long requests,
    long failures,
    long rows,
    long executions,
    double batch,
    double queueMs,
    double computeMs,
    double totalMs,
    long cacheHits) {

  /** The work since the model was loaded. */
  static Activity of(ModelUsage now) {
    return between(nothing(now), now);
  }

  /** The work between two readings; for a model that was loaded anew in between, since then. */
  static Activity between(ModelUsage earlier, ModelUsage now) {
    boolean anew =
        earlier.inferenceCount() > now.inferenceCount()
            || earlier.success().count() > now.success().count()
            || earlier.fail().count() > now.fail().count();
    ModelUsage before = anew ? nothing(now) : earlier;
    long rows = now.inferenceCount() - before.inferenceCount();
    long executions = now.executionCount() - before.executionCount();
    return new Activity(
        now.name(),
        now.version(),
        count(before.success(), now.success()),
        count(before.fail(), now.fail()),
        rows,
        executions,
        executions == 0 ? 0 : (double) rows / executions,
        averageMs(before.queue(), now.queue()),
        averageMs(before.computeInput(), now.computeInput())
            + averageMs(before.computeInfer(), now.computeInfer())
            + averageMs(before.computeOutput(), now.computeOutput()),
        averageMs(before.success(), now.success()),
        count(before.cacheHit(), now.cacheHit()));
  }

  private static ModelUsage nothing(ModelUsage model) {
    Times none = new Times(0, 0);
    return new ModelUsage(
        model.name(),
        model.version(),
        model.lastInference(),
        0,
        0,
        none,
        none,
        none,
        none,
        none,
        none,
        none,
        none,
        List.of(),
        Map.of());
  }

  private static long count(Times before, Times now) {
    return now.count() - before.count();
  }

  private static double averageMs(Times before, Times now) {
    long count = count(before, now);
    return count <= 0 ? 0 : (now.totalNs() - before.totalNs()) / 1e6 / count;
  }

  static Texts.Table table() {
    return new Texts.Table(
        "MODEL",
        "VERSION",
        "REQUESTS",
        "FAILED",
        "ROWS",
        "BATCHES",
        "ROWS/BATCH",
        "QUEUE MS",
        "COMPUTE MS",
        "TOTAL MS",
        "CACHE HITS");
  }

  void addTo(Texts.Table table) {
    table.add(
        model,
        version.isEmpty() ? "-" : version,
        Long.toString(requests),
        Long.toString(failures),
        Long.toString(rows),
        Long.toString(executions),
        executions == 0 ? "-" : text("%.1f", batch),
        requests == 0 ? "-" : text("%.3f", queueMs),
        requests == 0 ? "-" : text("%.3f", computeMs),
        requests == 0 ? "-" : text("%.3f", totalMs),
        Long.toString(cacheHits));
  }

  private static String text(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }

  Map<String, Object> inJson() {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", model);
    object.put("version", version);
    object.put("requests", requests);
    object.put("failures", failures);
    object.put("rows", rows);
    object.put("executions", executions);
    object.put("queue_ms", queueMs);
    object.put("compute_ms", computeMs);
    object.put("total_ms", totalMs);
    object.put("cache_hits", cacheHits);
    return object;
  }
}
