package io.nereid.micrometer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.nereid.Nereid;
import org.junit.jupiter.api.Test;

/** The example that the package shows in its documentation. */
class MetricsGuideTest {

  @Test
  void figuresGoToTheRegistry() {
    // @start region="bind"
    MeterRegistry registry = new SimpleMeterRegistry(); // the application's
    try (Nereid nereid = Nereid.create();
        NereidMetrics metrics = new NereidMetrics(nereid, Tags.of("app", "demo"))) {
      metrics.bindTo(registry);
      assertTrue(
          registry.getMeters().stream().anyMatch(meter -> meter.getId().getTag("app") != null));
    }
    // @end
  }
}
