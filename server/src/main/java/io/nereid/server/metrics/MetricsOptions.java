package io.nereid.server.metrics;

import io.nereid.server.shared.Durations;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;

/**
 * Where metrics are served, and which. Build one with {@link #builder()}.
 *
 * @param address where they are served
 * @param port the port; 0 takes one that is free
 * @param cpuMetrics whether those of the machine's processors and memory are among them
 * @param gpuMetrics whether those of NVIDIA's GPUs are among them, where there are any
 * @param interval how old the processors' utilization may be: over shorter times it says little;
 *     what GPUs tell may be as old
 * @param config in which forms latencies of models are told
 * @param connectionCount most connections at once
 */
public record MetricsOptions(
    InetAddress address,
    int port,
    boolean cpuMetrics,
    boolean gpuMetrics,
    Duration interval,
    MetricsConfig config,
    int connectionCount) {

  /** Scrapers are few, and ask seldom. */
  private static final int CONNECTION_COUNT = 64;

  /** Checks the values. */
  public MetricsOptions {
    Objects.requireNonNull(address);
    Objects.requireNonNull(config);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port must be 0 to 65535, got " + port);
    }
    if (interval.isNegative()) {
      throw new IllegalArgumentException("interval must not be negative, got " + interval);
    }
    interval = Durations.limited(interval);
    if (connectionCount <= 0) {
      throw new IllegalArgumentException(
          "connectionCount must be positive, got " + connectionCount);
    }
  }

  /** The same with another number of connections. */
  public MetricsOptions withConnectionCount(int count) {
    return new MetricsOptions(address, port, cpuMetrics, gpuMetrics, interval, config, count);
  }

  /** A builder with the defaults: a free port of the loopback address. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link MetricsOptions}. */
  public static final class Builder {
    private InetAddress address = InetAddress.getLoopbackAddress();
    private int port;
    private boolean cpuMetrics = true;
    private boolean gpuMetrics = true;
    private Duration interval = Duration.ofSeconds(2);
    private MetricsConfig config = MetricsConfig.DEFAULT;

    private Builder() {}

    /** Where metrics are served. */
    public Builder address(InetAddress listening) {
      address = listening;
      return this;
    }

    /** Their port; 0 takes one that is free. */
    public Builder port(int number) {
      port = number;
      return this;
    }

    /** Whether the machine's processors and memory are among them; by default they are. */
    public Builder cpuMetrics(boolean wanted) {
      cpuMetrics = wanted;
      return this;
    }

    /** Whether GPUs are among them; by default they are. */
    public Builder gpuMetrics(boolean wanted) {
      gpuMetrics = wanted;
      return this;
    }

    /** How old what GPUs and processors tell may be; 2 s by default. */
    public Builder interval(Duration age) {
      interval = age;
      return this;
    }

    /** In which forms latencies are told; see {@link MetricsConfig#summaries}. */
    public Builder config(MetricsConfig forms) {
      config = forms;
      return this;
    }

    /** The finished value. */
    public MetricsOptions build() {
      return new MetricsOptions(
          address, port, cpuMetrics, gpuMetrics, interval, config, CONNECTION_COUNT);
    }
  }
}
