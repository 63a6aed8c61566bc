package io.nereid.cli;

import io.nereid.server.metrics.MetricsOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where metrics are served, and which: Triton's flags. */
final class MetricsArguments {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--allow-metrics",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "true",
      fallbackValue = "true",
      description = "Serve metrics for Prometheus; ${DEFAULT-VALUE} by default.")
  private boolean allowed;

  @Option(
      names = "--metrics-address",
      paramLabel = "ADDRESS",
      description = "Where metrics are served; --http-address by default.")
  private InetAddress address;

  @Option(
      names = "--metrics-port",
      paramLabel = "PORT",
      defaultValue = "8002",
      description = "Their port, 0 for one that is free; ${DEFAULT-VALUE} by default.")
  private int port;

  @Option(
      names = "--allow-cpu-metrics",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "true",
      fallbackValue = "true",
      description =
          "Also those of the machine's processors and memory; ${DEFAULT-VALUE} by default.")
  private boolean cpuMetrics;

  @Option(
      names = "--allow-gpu-metrics",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "true",
      fallbackValue = "true",
      description = "Also those of NVIDIA's GPUs, if there are any; ${DEFAULT-VALUE} by default.")
  private boolean gpuMetrics;

  @Option(
      names = "--metrics-interval-ms",
      paramLabel = "MS",
      defaultValue = "2000",
      description =
          "Least time over which the processors' utilization is measured, and how old what GPUs"
              + " tell may be; ${DEFAULT-VALUE} by default.")
  private long intervalMs;

  /** What is served, if anything is. */
  Optional<MetricsOptions> options(InetAddress httpAddress) {
    check(port >= 0 && port <= 65_535, "--metrics-port from 0 to 65535", port);
    check(intervalMs >= 0, "--metrics-interval-ms of 0 or more", intervalMs);
    if (!allowed) {
      return Optional.empty();
    }
    return Optional.of(
        MetricsOptions.builder()
            .address(address == null ? httpAddress : address)
            .port(port)
            .cpuMetrics(cpuMetrics)
            .gpuMetrics(gpuMetrics)
            .interval(Duration.ofMillis(intervalMs))
            .build());
  }

  private void check(boolean holds, String expected, long got) {
    if (!holds) {
      throw new ParameterException(command.commandLine(), "expected " + expected + ", got " + got);
    }
  }
}
