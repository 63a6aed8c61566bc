package io.nereid.cli;

import io.nereid.Model;
import io.nereid.model.ModelIndexEntry;
import io.nereid.server.Frontend;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.StartTimes;
import io.nereid.server.log.LogSettings;
import io.nereid.server.metrics.MetricsConfig;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.shared.ServerFacts;
import io.nereid.types.NereidException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Serves models until it is told to stop. */
@Command(
    name = "serve",
    description = "Serve the models of a repository.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    abbreviateSynopsis = true,
    footer = {
      "",
      "Each option is also a variable (--http-port: NEREID_HTTP_PORT) and a name in",
      "the file of --config (http-port: 9000). The command line comes first, then",
      "variables, then the file. Triton's other flags are accepted with a warning.",
      "",
      "Examples:",
      "  nereid serve",
      "  nereid serve DIR --http-port 9000",
      "  nereid serve --config nereid.yaml",
      "  curl localhost:8000/v2/health/ready"
    })
final class ServeCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Parameters(
      arity = "0..1",
      paramLabel = "REPOSITORY",
      description = "A model repository; the bundled examples by default.")
  private Path repository;

  @Mixin private ControlArguments control;

  @Mixin private RuntimeArguments runtime;

  @Mixin private TensorRtArguments tensorrt;

  @Mixin private HttpArguments http;

  @Mixin private GrpcArguments grpc;

  @Mixin private TlsArguments tls;

  @Mixin private AccessArguments access;

  @Mixin private TraceArguments trace;

  @Mixin private MetricsArguments metrics;

  @Mixin private LogArguments logging;

  @Option(
      names = "--id",
      paramLabel = "NAME",
      defaultValue = ServerFacts.DEFAULT_NAME,
      description = "What the server calls itself in its metadata; ${DEFAULT-VALUE} by default.")
  private String id;

  /** Read by {@link Settings} before this command runs. */
  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "A YAML file of options, named as here without the dashes.")
  private Path config;

  @Option(
      names = "--exit-timeout-secs",
      paramLabel = "SECONDS",
      defaultValue = "30",
      description =
          "How long requests that have begun may take after SIGTERM; ${DEFAULT-VALUE} by default.")
  private long exitTimeoutSeconds;

  @Option(
      names = "--exit-on-error",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "true",
      fallbackValue = "true",
      description = "End when a model cannot be loaded at the start; ${DEFAULT-VALUE} by default.")
  private boolean exitOnError;

  @Option(
      names = "--strict-readiness",
      arity = "0..1",
      paramLabel = "BOOL",
      defaultValue = "true",
      fallbackValue = "true",
      description =
          "Be ready only when no model failed or is still loading; ${DEFAULT-VALUE} by default.")
  private boolean strictReadiness;

  @Override
  public Integer call() throws InterruptedException {
    if (exitTimeoutSeconds < 0) {
      throw new ParameterException(
          command.commandLine(),
          "expected --exit-timeout-secs of 0 or more, got " + exitTimeoutSeconds);
    }
    if (id.isEmpty()) {
      throw new ParameterException(command.commandLine(), "expected a name for --id, got none");
    }
    CommandLine line = command.commandLine();
    try (LogSettings log = logging.install();
        StopSignal signal = new StopSignal(line.getOut(), line.getErr());
        NereidServer server = start(log)) {
      signal.started(server);
      printScreen(server);
      signal.await();
    }
    return 0;
  }

  private NereidServer start(LogSettings log) {
    tensorrt.apply();
    try (LoadProgress progress = new LoadProgress()) {
      Optional<MetricsOptions> told = metrics.options(http.address());
      boolean quantiles =
          told.map(MetricsOptions::config).filter(MetricsConfig::summaries).isPresent();
      Duration exitTimeout = Duration.ofSeconds(exitTimeoutSeconds);
      ServerOptions.Builder options =
          ServerOptions.builder()
              .name(id)
              .repository(control.options(repository).listener(progress).build())
              .runtime(runtime.options(quantiles))
              .http(http.options(exitTimeout, tls.options(), access.http()))
              .grpc(grpc.options(tls.options(), access.grpc()))
              .exitTimeout(exitTimeout)
              .trace(trace.options())
              .exitOnError(exitOnError)
              .strictReadiness(strictReadiness)
              .allowClientShm(access.allowClientShm())
              .log(log);
      told.ifPresent(options::metrics);
      logging.accessLog(log).ifPresent(options::accessLog);
      return NereidServer.start(options.build());
    }
  }

  private void printScreen(NereidServer server) {
    PrintWriter out = command.commandLine().getOut();
    Table models = new Table("MODEL", "VERSION", "STATE", "LOADED IN");
    for (ModelIndexEntry entry : server.nereid().repository().index()) {
      models.add(
          entry.name(),
          entry.version().isEmpty() ? "-" : Long.toString(entry.version().getAsLong()),
          entry.state() == ModelIndexEntry.State.UNKNOWN ? "-" : entry.state().toString(),
          loadTime(server, entry));
    }
    models.print(out);
    out.println();
    for (Frontend frontend : server.frontends()) {
      out.println("Serving " + frontend.protocol() + " at " + frontend.url());
    }
    printPool(out, server);
    printOff(out, server.options());
    out.println(startTimes(server));
    out.flush();
  }

  /** Says of what kind the pool's memory is, where GPUs have to do with it. */
  private static void printPool(PrintWriter out, NereidServer server) {
    server.nereid().pageLocking().ifPresent(text -> out.println("Memory pool: " + text));
  }

  /** Says what was turned off, for whoever looks for it in vain. */
  private static void printOff(PrintWriter out, ServerOptions options) {
    if (options.http().isEmpty()) {
      out.println("Not serving HTTP: --allow-http is false");
    }
    if (options.grpc().isEmpty()) {
      out.println("Not serving gRPC: --allow-grpc is false");
    }
    if (options.metrics().isEmpty()) {
      out.println("Not serving metrics: --allow-metrics is false");
    }
  }

  /** From the start of the JVM to now, and its parts. */
  private static String startTimes(NereidServer server) {
    long nowMs = System.currentTimeMillis();
    long jvmMs = ManagementFactory.getRuntimeMXBean().getStartTime();
    List<StartTimes.Part> parts = server.startTimes().parts();
    long serverMs = parts.stream().mapToLong(part -> part.time().toMillis()).sum();
    StringBuilder line = new StringBuilder();
    line.append("Ready ").append(nowMs - jvmMs).append(" ms after the start of the JVM: ");
    line.append("JVM ").append(Main.ENTERED_MS - jvmMs).append(" ms, command line ");
    line.append(nowMs - Main.ENTERED_MS - serverMs).append(" ms");
    for (StartTimes.Part part : parts) {
      line.append(", ").append(part.name()).append(' ').append(part.time().toMillis());
      line.append(" ms");
    }
    return line.toString();
  }

  private static String loadTime(NereidServer server, ModelIndexEntry entry) {
    if (entry.state() != ModelIndexEntry.State.READY) {
      return "-";
    }
    try {
      Model model = server.nereid().model(entry.name(), entry.version().orElseThrow());
      return model.loadTimes().total().toMillis() + " ms";
    } catch (NereidException e) {
      return "-"; // it was unloaded meanwhile
    }
  }
}
