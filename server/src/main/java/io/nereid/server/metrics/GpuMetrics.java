package io.nereid.server.metrics;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.cuda.Nvml;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * The state of the GPUs, by Triton's names and in its units: watts, joules, bytes, and a ratio from
 * 0 to 1. A GPU that does not tell a value has no sample of it.
 */
public final class GpuMetrics {

  /** One GPU at one time; its energy is counted from the start of the metrics. */
  public record Reading(
      String uuid,
      OptionalDouble utilization,
      OptionalLong memoryTotalBytes,
      OptionalLong memoryUsedBytes,
      OptionalDouble powerUsageWatts,
      OptionalDouble powerLimitWatts,
      OptionalDouble energyJoules) {}

  private final List<Source> sources = new ArrayList<>();
  private final long intervalNs;

  @GuardedBy("this")
  private List<Reading> readings = List.of();

  @GuardedBy("this")
  private long readNs;

  /** A GPU, and its energy counter at the first look. */
  private record Source(Nvml.Gpu gpu, OptionalLong startMillijoules) {

    Reading read() {
      OptionalLong used = gpu.energyMillijoules();
      OptionalDouble energyJoules =
          used.isPresent() && startMillijoules.isPresent()
              ? OptionalDouble.of((used.getAsLong() - startMillijoules.getAsLong()) / 1e3)
              : OptionalDouble.empty();
      return new Reading(
          gpu.uuid(),
          scaled(gpu.utilizationPercent(), 1e2),
          gpu.memoryTotalBytes(),
          gpu.memoryUsedBytes(),
          scaled(gpu.powerUsageMilliwatts(), 1e3),
          scaled(gpu.powerLimitMilliwatts(), 1e3),
          energyJoules);
    }

    private static OptionalDouble scaled(OptionalLong value, double divisor) {
      return value.isPresent()
          ? OptionalDouble.of(value.getAsLong() / divisor)
          : OptionalDouble.empty();
    }
  }

  /**
   * Reads the figures of all GPUs that the driver shows; of none where there is no driver.
   *
   * @param intervalNs how old values may be: the driver takes a while to tell them
   */
  public GpuMetrics(long intervalNs) {
    this.intervalNs = intervalNs;
    Nvml.instance()
        .ifPresent(nvml ->
            nvml.gpus().forEach(gpu -> sources.add(new Source(gpu, gpu.energyMillijoules()))));
  }

  /** Returns the figures, read anew if they are too old. */
  public synchronized List<Reading> readings() {
    long nowNs = System.nanoTime();
    if (readings.isEmpty() || nowNs - readNs >= intervalNs) {
      readings = sources.stream().map(Source::read).toList();
      readNs = nowNs;
    }
    return readings;
  }

  /** Writes them. */
  void write(MetricsText text) {
    if (!sources.isEmpty()) {
      write(readings(), text);
    }
  }

  static void write(List<Reading> readings, MetricsText text) {
    gauge(
        "nv_gpu_utilization",
        "Part of the time in which the GPU was at work, 0 to 1",
        readings,
        Reading::utilization,
        text);
    gauge(
        "nv_gpu_memory_total_bytes",
        "Memory of the GPU",
        readings,
        reading -> asDouble(reading.memoryTotalBytes()),
        text);
    gauge(
        "nv_gpu_memory_used_bytes",
        "What of it is used, by any process",
        readings,
        reading -> asDouble(reading.memoryUsedBytes()),
        text);
    gauge(
        "nv_gpu_power_usage",
        "What the GPU draws, in watts",
        readings,
        Reading::powerUsageWatts,
        text);
    gauge(
        "nv_gpu_power_limit",
        "What the GPU may draw, in watts",
        readings,
        Reading::powerLimitWatts,
        text);
    if (has(readings, Reading::energyJoules)) {
      text.counter(
          "nv_energy_consumption", "What the GPU used since this was first asked for, in joules");
      samples(readings, Reading::energyJoules, text);
    }
  }

  private static OptionalDouble asDouble(OptionalLong value) {
    return value.isPresent() ? OptionalDouble.of(value.getAsLong()) : OptionalDouble.empty();
  }

  private static void gauge(
      String name,
      String help,
      List<Reading> readings,
      Function<Reading, OptionalDouble> value,
      MetricsText text) {
    if (has(readings, value)) {
      text.gauge(name, help);
      samples(readings, value, text);
    }
  }

  private static boolean has(List<Reading> readings, Function<Reading, OptionalDouble> value) {
    return readings.stream().anyMatch(reading -> value.apply(reading).isPresent());
  }

  private static void samples(
      List<Reading> readings, Function<Reading, OptionalDouble> value, MetricsText text) {
    for (Reading reading : readings) {
      value
          .apply(reading)
          .ifPresent(number -> text.sample(MetricsText.label("gpu_uuid", reading.uuid()), number));
    }
  }
}
