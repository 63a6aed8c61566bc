package io.nereid.cli;

import io.nereid.server.access.AccessControl;
import io.nereid.server.access.EndpointGroup;
import io.nereid.server.metrics.MetricsConfig;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.tls.ServerTlsOptions;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Triton's flags for metrics. */
final class MetricsArguments extends Arguments {

  private static final Logger LOGGER = System.getLogger(MetricsArguments.class.getName());

  @Option(
      names = "--allow-metrics",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "Serve metrics for Prometheus; ${DEFAULT-VALUE} by default.")
  private boolean allowed = true;

  @Option(
      names = "--metrics-address",
      paramLabel = "ADDRESS",
      description = "Where metrics are served; --http-address by default.")
  private InetAddress address;

  @Option(
      names = "--metrics-port",
      paramLabel = "PORT",
      description = "Their port, 0 for one that is free; ${DEFAULT-VALUE} by default.")
  private int port = 8002;

  @Option(
      names = "--allow-cpu-metrics",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description =
          "Also those of the machine's processors and memory; ${DEFAULT-VALUE} by default.")
  private boolean cpuMetrics = true;

  @Option(
      names = "--allow-gpu-metrics",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "Also those of NVIDIA's GPUs, if there are any; ${DEFAULT-VALUE} by default.")
  private boolean gpuMetrics = true;

  @Option(
      names = "--metrics-interval-ms",
      paramLabel = "MS",
      description =
          "Least time over which the processors' utilization is measured, and how old what GPUs"
              + " tell may be; ${DEFAULT-VALUE} by default.")
  private long intervalMs = MetricsOptions.DEFAULT.interval().toMillis();

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

  @Option(
      names = "--metrics-protected",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description =
          "Serve them as HTTP is served: by its TLS, and to tokens that grant statistics. By"
              + " default they are open, with a warning where HTTP is not.")
  private Boolean guarded;

  /** The options of the port, if it is served. */
  Optional<MetricsOptions> options(
      InetAddress httpAddress, Optional<ServerTlsOptions> httpTls, AccessControl httpAccess) {
    boolean restricted = httpAccess.check(EndpointGroup.STATISTICS, field -> null).isPresent();
    boolean possible = httpTls.isPresent() || restricted;
    if (!possible && guarded == Boolean.TRUE) {
      throw wrong(
          "--tls-cert, --auth-token-file or a restriction of statistics with --metrics-protected",
          "none");
    }
    if (possible && allowed && guarded == null) {
      LOGGER.log(
          Level.WARNING,
          "metrics are open to all who reach their port, and HTTP is not: --metrics-protected has"
              + " them served as HTTP is, --metrics-protected=false keeps them open without this"
              + " warning");
    }
    boolean asHttp = guarded == Boolean.TRUE;
    MetricsOptions options =
        new MetricsOptions(
            address == null ? httpAddress : address,
            port("--metrics-port", port),
            cpuMetrics,
            gpuMetrics,
            Duration.ofMillis(atLeast(0, "--metrics-interval-ms", intervalMs)),
            allowed ? config() : MetricsConfig.DEFAULT,
            MetricsOptions.DEFAULT.connectionCount(),
            asHttp ? httpTls : Optional.empty(),
            asHttp ? httpAccess : AccessControl.OPEN);
    return allowed ? Optional.of(options) : Optional.empty();
  }

  private MetricsConfig config() {
    MetricsConfig set = MetricsConfig.DEFAULT;
    for (String form : forms) {
      String[] parts = form.split("=", 2);
      String value = parts.length == 2 ? parts[1] : "";
      set =
          switch (parts[0]) {
            case "counter_latencies" -> set.withCounters(truth(form, value));
            case "histogram_latencies" -> set.withHistograms(truth(form, value));
            case "summary_latencies" -> set.withSummaries(truth(form, value));
            case "summary_quantiles" -> set.withQuantiles(quantiles(form, value));
            default -> throw refused("a setting of those that --help lists", form);
          };
    }
    return set;
  }

  private boolean truth(String form, String value) {
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default -> throw refused("true or false", form);
    };
  }

  /**
   * Parses quantiles; their errors are ignored, since values come from buckets and not from
   * estimates.
   */
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
        // handled as a number out of range
      }
      throw refused("QUANTILE:ERROR, both from 0 to 1, with commas between several,", form);
    }
    return quantiles;
  }

  private ParameterException refused(String expected, String got) {
    return wrong(expected + " for --metrics-config", "'" + got + "'");
  }
}
