package io.nereid.cli;

import io.nereid.server.metrics.MetricsConfig;
import io.nereid.server.metrics.MetricsOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

  @Option(
      names = "--metrics-config",
      paramLabel = "SETTING=VALUE",
      description = {
        "In which forms latencies of models are told; repeatable:",
        "counter_latencies=BOOL (true)",
        "histogram_latencies=BOOL (true)",
        "summary_latencies=BOOL: quantiles (false)",
        "summary_quantiles=QUANTILE:ERROR,...",
        "  (0.5:0.05,0.9:0.01,0.95:0.001,0.99:0.001,0.999:0.001)"
      })
  private List<String> forms = List.of();

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
            .config(config())
            .build());
  }

  private MetricsConfig config() {
    MetricsConfig config = MetricsConfig.DEFAULT;
    for (String form : forms) {
      String[] parts = form.split("=", 2);
      String value = parts.length == 2 ? parts[1] : "";
      config =
          switch (parts[0]) {
            case "counter_latencies" ->
                new MetricsConfig(
                    truth(form, value),
                    config.histograms(),
                    config.summaries(),
                    config.quantiles());
            case "histogram_latencies" ->
                new MetricsConfig(
                    config.counters(), truth(form, value), config.summaries(), config.quantiles());
            case "summary_latencies" ->
                new MetricsConfig(
                    config.counters(), config.histograms(), truth(form, value), config.quantiles());
            case "summary_quantiles" ->
                new MetricsConfig(
                    config.counters(),
                    config.histograms(),
                    config.summaries(),
                    quantiles(form, value));
            default -> throw wrong("a setting of those that --help lists", form);
          };
    }
    return config;
  }

  private boolean truth(String form, String value) {
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default -> throw wrong("true or false", form);
    };
  }

  /** The errors say how exact an estimate has to be; here there is none, but buckets. */
  private List<Double> quantiles(String form, String value) {
    List<Double> quantiles = new ArrayList<>();
    for (String pair : value.split(",", -1)) {
      String[] parts = pair.strip().split(":", -1);
      try {
        double quantile = Double.parseDouble(parts[0]);
        double error = parts.length == 2 ? Double.parseDouble(parts[1]) : Double.NaN;
        if (quantile >= 0 && quantile <= 1 && error >= 0 && error <= 1) {
          quantiles.add(quantile);
          continue;
        }
      } catch (NumberFormatException e) {
        // as a number out of range
      }
      throw wrong("QUANTILE:ERROR, both from 0 to 1, with commas between several,", form);
    }
    return quantiles;
  }

  private ParameterException wrong(String expected, String got) {
    return new ParameterException(
        command.commandLine(), "expected " + expected + " for --metrics-config, got '" + got + "'");
  }

  private void check(boolean holds, String expected, long got) {
    if (!holds) {
      throw new ParameterException(command.commandLine(), "expected " + expected + ", got " + got);
    }
  }
}
