package io.nereid.server.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.internal.cuda.Nvml;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The metrics of GPUs. */
class GpuMetricsTest {

  private static Exposition parse(MetricsText text) {
    return Exposition.parse(new String(text.bytes(), StandardCharsets.UTF_8));
  }

  /** A family before, so that what is written is never empty. */
  private static MetricsText text() {
    return new MetricsText(false).gauge("x", "x").sample("", 1);
  }

  @Test
  void namesLabelsAndUnitsAreTritons() {
    MetricsText text = text();
    GpuMetrics.write(
        List.of(
            new GpuMetrics.Reading(
                "GPU-a",
                OptionalDouble.of(0.25),
                OptionalLong.of(80L << 30),
                OptionalLong.of(5),
                OptionalDouble.of(71.5),
                OptionalDouble.of(700),
                OptionalDouble.of(12.5)),
            new GpuMetrics.Reading(
                "GPU-b",
                OptionalDouble.empty(),
                OptionalLong.of(1),
                OptionalLong.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty())),
        text);
    Exposition metrics = parse(text);
    String[] a = {"gpu_uuid", "GPU-a"};
    assertEquals(0.25, metrics.value("nv_gpu_utilization", a));
    assertEquals(80L << 30, metrics.value("nv_gpu_memory_total_bytes", a));
    assertEquals(5, metrics.value("nv_gpu_memory_used_bytes", a));
    assertEquals(71.5, metrics.value("nv_gpu_power_usage", a));
    assertEquals(700, metrics.value("nv_gpu_power_limit", a));
    assertEquals(12.5, metrics.value("nv_energy_consumption", a));
    assertEquals(1, metrics.value("nv_gpu_memory_total_bytes", "gpu_uuid", "GPU-b"));
    assertEquals(1, metrics.family("nv_gpu_utilization").samples().size());
    assertEquals("gauge", metrics.family("nv_gpu_power_usage").type());
    assertEquals("counter", metrics.family("nv_energy_consumption").type());
  }

  @Test
  void figuresThatNoGpuTellsHaveNoFamily() {
    MetricsText text = text();
    GpuMetrics.write(
        List.of(
            new GpuMetrics.Reading(
                "GPU-a",
                OptionalDouble.empty(),
                OptionalLong.of(1),
                OptionalLong.of(1),
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                OptionalDouble.empty())),
        text);
    String written = new String(text.bytes(), StandardCharsets.UTF_8);
    assertEquals(1 + 2, written.lines().filter(line -> line.startsWith("# TYPE")).count(), written);
  }

  @Test
  void withoutTheLibraryThereIsNothing() {
    MetricsText text = text();
    new GpuMetrics(0).write(text);
    boolean hasGpus = Nvml.instance().map(nvml -> !nvml.gpus().isEmpty()).orElse(false);
    assertEquals(
        hasGpus, new String(text.bytes(), StandardCharsets.UTF_8).contains("nv_gpu_memory"));
  }

  private record Range(String name, double least, double most) {}

  private static final List<Range> RANGES =
      List.of(
          new Range("nv_gpu_utilization", 0, 1),
          new Range("nv_gpu_power_usage", 1, 3000),
          new Range("nv_gpu_power_limit", 10, 3000),
          new Range("nv_energy_consumption", 0, 1e6));

  @Test
  @Tag("gpu")
  void aGpuTellsValuesThatCanBe() {
    assumeTrue(Nvml.instance().isPresent(), "there is no NVML here, so no GPU to ask");
    List<Nvml.Gpu> gpus = Nvml.instance().orElseThrow().gpus();
    assumeTrue(!gpus.isEmpty(), "NVML shows no GPU here");
    MetricsText text = text();
    new GpuMetrics(0).write(text);
    Exposition metrics = parse(text);
    String written = new String(text.bytes(), StandardCharsets.UTF_8);
    for (Nvml.Gpu gpu : gpus) {
      assertTrue(gpu.uuid().startsWith("GPU-"), gpu.uuid());
      for (Range range : RANGES) {
        // A GPU need not tell everything: one that is divided tells no utilization.
        if (written.contains(range.name() + "{gpu_uuid=\"" + gpu.uuid())) {
          double value = metrics.value(range.name(), "gpu_uuid", gpu.uuid());
          assertTrue(
              value >= range.least() && value <= range.most(), range.name() + " is " + value);
        }
      }
      double total = metrics.value("nv_gpu_memory_total_bytes", "gpu_uuid", gpu.uuid());
      double used = metrics.value("nv_gpu_memory_used_bytes", "gpu_uuid", gpu.uuid());
      assertTrue(used > 0 && used <= total && total > 1L << 30, used + " of " + total);
    }
  }
}
