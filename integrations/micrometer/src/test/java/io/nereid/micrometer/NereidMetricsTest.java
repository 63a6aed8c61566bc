package io.nereid.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.search.MeterNotFoundException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Figures of real requests, in registries as applications have them. */
class NereidMetricsTest {

  private static ModelSpec echo(String name) {
    return ModelSpec.builder(name)
        .backend("identity")
        .maxBatchSize(8)
        .input("IN", DataType.FP32, 4)
        .output("OUT", DataType.FP32, 4)
        .build();
  }

  private static void send(Model model, int rows) {
    try (var request = model.newRequest().input("IN", Tensor.ofArray(new float[rows][4]));
        var response = request.infer()) {
      assertEquals(rows, response.output("OUT").shape()[0]);
    }
  }

  @Test
  void requestsTimesAndBatchesAreThere() {
    MeterRegistry registry = new SimpleMeterRegistry();
    try (Nereid nereid = Nereid.create();
        NereidMetrics metrics = new NereidMetrics(nereid, Tags.of("app", "test"))) {
      Model before = nereid.load(echo("before"));
      metrics.bindTo(registry);
      Model after = nereid.load(echo("after"));
      send(before, 3);
      send(before, 2);
      send(after, 8);
      assertThrows(NereidException.class, () -> send(after, 9));
      var success =
          registry.get("nereid.model.requests").tags("model", "before", "outcome", "success");
      assertEquals(2, success.functionTimer().count());
      assertTrue(success.functionTimer().totalTime(TimeUnit.NANOSECONDS) > 0);
      assertEquals(5, figure(registry, "nereid.model.rows", "model", "before"));
      assertEquals(2, figure(registry, "nereid.model.batches", "model", "before"));
      assertEquals(
          1, figure(registry, "nereid.model.failures", "model", "after", "reason", "other"));
      assertEquals(
          8, registry.get("nereid.model.batch.size.max").tags("model", "after").gauge().value());
      assertEquals(
          0, registry.get("nereid.model.requests.pending").tags("model", "after").gauge().value());
      assertTrue(
          registry
                  .get("nereid.model.requests.recent")
                  .tags("model", "after", "phi", "0.99", "app", "test")
                  .timeGauge()
                  .value(TimeUnit.NANOSECONDS)
              > 0);
      assertTrue(registry.get("nereid.pool.limit").gauge().value() > 0);
    }
    assertEquals(0, registry.getMeters().size(), "closing takes all of them out");
  }

  private static double figure(MeterRegistry registry, String name, String... tags) {
    return registry.get(name).tags(tags).functionCounter().count();
  }

  @Test
  void aModelThatIsUnloadedGoesAndComesAgain() {
    MeterRegistry registry = new SimpleMeterRegistry();
    try (Nereid nereid = Nereid.create();
        NereidMetrics metrics = new NereidMetrics(nereid)) {
      metrics.bindTo(registry);
      Model model = nereid.load(echo("m"));
      send(model, 1);
      model.unload();
      assertThrows(
          MeterNotFoundException.class, () -> figure(registry, "nereid.model.rows", "model", "m"));
      send(nereid.load(echo("m")), 4);
      assertEquals(4, figure(registry, "nereid.model.rows", "model", "m"));
    }
  }

  @Test
  void prometheusHasThemInItsOwnForm() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    try (Nereid nereid = Nereid.create();
        NereidMetrics metrics = new NereidMetrics(nereid)) {
      metrics.bindTo(registry);
      send(nereid.load(echo("m")), 2);
      String text = registry.scrape();
      String requests =
          "nereid_model_requests_seconds_count{model=\"m\",outcome=\"success\",version=\"1\"} 1";
      assertTrue(text.contains(requests), text);
      assertTrue(text.contains("nereid_model_rows_total{model=\"m\",version=\"1\"} 2.0"), text);
      assertTrue(text.contains("nereid_pool_used_bytes "), text);
    }
  }

  @Test
  void metricsThatOutliveTheirNereidAskNothingOfIt() {
    MeterRegistry registry = new SimpleMeterRegistry();
    Nereid nereid = Nereid.create();
    new NereidMetrics(nereid).bindTo(registry);
    nereid.close();
    assertTrue(Double.isNaN(registry.get("nereid.pool.used").gauge().value()));
  }
}
