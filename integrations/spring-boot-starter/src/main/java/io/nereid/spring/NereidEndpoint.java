package io.nereid.spring;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelState;
import io.nereid.model.TensorSpec;
import io.nereid.statistics.DurationStatistic;
import io.nereid.statistics.ModelStatistics;
import io.nereid.statistics.PoolStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/** The endpoint {@code nereid}: models with their tensors and statistics, and the memory pool. */
@Endpoint(id = "nereid")
final class NereidEndpoint {

  private final Nereid nereid;

  NereidEndpoint(Nereid nereid) {
    this.nereid = nereid;
  }

  /** Everything. */
  @ReadOperation
  public Map<String, Object> all() {
    PoolStatistics pool = nereid.poolStatistics();
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("models", nereid.models().stream().map(NereidEndpoint::describe).toList());
    all.put(
        "pool",
        Map.of(
            "limitBytes", pool.byteLimit(),
            "reservedBytes", pool.reservedBytes(),
            "usedBytes", pool.liveBytes(),
            "failures", pool.failures()));
    return all;
  }

  /** The versions of one model; null, which becomes a 404, if there is none. */
  @ReadOperation
  public List<Map<String, Object>> model(@Selector String name) {
    List<Map<String, Object>> versions =
        nereid.models().stream()
            .filter(model -> model.name().equals(name))
            .map(NereidEndpoint::describe)
            .toList();
    return versions.isEmpty() ? null : versions;
  }

  private static Map<String, Object> describe(Model model) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("name", model.name());
    all.put("version", model.version());
    all.put("state", model.state());
    model.failure().ifPresent(reason -> all.put("failure", reason));
    if (model.state() == ModelState.READY) {
      all.put("backend", model.spec().backendName());
      all.put("maxBatchSize", model.spec().maxBatchSize());
      all.put("inputs", tensors(model.spec().inputs()));
      all.put("outputs", tensors(model.spec().outputs()));
      all.put("statistics", figures(model.statistics()));
    }
    return all;
  }

  private static List<Map<String, Object>> tensors(List<TensorSpec> tensors) {
    return tensors.stream()
        .map(tensor ->
            Map.<String, Object>of(
                "name", tensor.name(), "type", tensor.dataType(), "dims", tensor.dims()))
        .toList();
  }

  private static Map<String, Object> figures(ModelStatistics statistics) {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("success", statistics.success().count());
    figures.put("failure", statistics.fail().count());
    figures.put("rows", statistics.inferenceCount());
    figures.put("batches", statistics.executionCount());
    figures.put("pending", statistics.pendingCount());
    figures.put("executing", statistics.executingCount());
    figures.put("meanRequestMicros", micros(statistics.success()));
    figures.put("meanQueueMicros", micros(statistics.queue()));
    figures.put("meanComputeMicros", micros(statistics.computeInfer()));
    figures.put("p99RequestMicros", statistics.totalHistogram().percentileNs(99) / 1e3);
    statistics.lastInference().ifPresent(last -> figures.put("lastInference", last.toString()));
    return figures;
  }

  private static double micros(DurationStatistic times) {
    return Math.round(times.meanNs()) / 1e3;
  }
}
