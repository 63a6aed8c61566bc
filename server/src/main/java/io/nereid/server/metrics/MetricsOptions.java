package io.nereid.server.metrics;

import io.nereid.server.access.AccessControl;
import io.nereid.server.options.RecordCopy;
import io.nereid.server.shared.Durations;
import io.nereid.server.tls.ServerTlsOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Says where metrics are served, and which. Make others from {@link #DEFAULT}.
 *
 * @param address where they are served
 * @param port the port; 0 takes one that is free
 * @param cpuMetrics whether metrics of the machine's processors and memory are served
 * @param gpuMetrics whether metrics of NVIDIA's GPUs are served, if there are any
 * @param interval how old the figures of processors and GPUs may be: over shorter times utilization
 *     means little
 * @param config the forms of models' latencies
 * @param connectionCount most connections at once
 * @param tls the certificates for encryption; empty: none
 * @param access access of scrapers, which need the group {@code statistics}
 */
public record MetricsOptions(
    InetAddress address,
    int port,
    boolean cpuMetrics,
    boolean gpuMetrics,
    Duration interval,
    MetricsConfig config,
    int connectionCount,
    Optional<ServerTlsOptions> tls,
    AccessControl access) {

  /** Options for a free port of the loopback address, with few connections, as scrapers are few. */
  public static final MetricsOptions DEFAULT =
      new MetricsOptions(
          InetAddress.getLoopbackAddress(),
          0,
          true,
          true,
          Duration.ofSeconds(2),
          MetricsConfig.DEFAULT,
          64,
          Optional.empty(),
          AccessControl.OPEN);

  /** Checks the values. */
  public MetricsOptions {
    Objects.requireNonNull(address);
    Objects.requireNonNull(config);
    Objects.requireNonNull(tls);
    Objects.requireNonNull(access);
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

  /** Returns a copy that listens at another address. */
  public MetricsOptions withAddress(InetAddress listening) {
    return RecordCopy.with(this, "address", listening);
  }

  /** Returns a copy that listens at another port; 0 takes one that is free. */
  public MetricsOptions withPort(int number) {
    return RecordCopy.with(this, "port", number);
  }

  /** Returns a copy with or without the machine's processors and memory. */
  public MetricsOptions withCpuMetrics(boolean wanted) {
    return RecordCopy.with(this, "cpuMetrics", wanted);
  }

  /** Returns a copy with or without GPUs. */
  public MetricsOptions withGpuMetrics(boolean wanted) {
    return RecordCopy.with(this, "gpuMetrics", wanted);
  }

  /** Returns a copy with another age of the figures of processors and GPUs. */
  public MetricsOptions withInterval(Duration age) {
    return RecordCopy.with(this, "interval", age);
  }

  /** Returns a copy with other forms; see {@link MetricsConfig#summaries}. */
  public MetricsOptions withConfig(MetricsConfig forms) {
    return RecordCopy.with(this, "config", forms);
  }

  /** Returns a copy with another number of connections. */
  public MetricsOptions withConnectionCount(int count) {
    return RecordCopy.with(this, "connectionCount", count);
  }

  /** Returns a copy whose connections are encrypted. */
  public MetricsOptions withTls(ServerTlsOptions files) {
    return RecordCopy.with(this, "tls", Optional.of(files));
  }

  /** Returns a copy with another access control. */
  public MetricsOptions withAccess(AccessControl control) {
    return RecordCopy.with(this, "access", control);
  }
}
