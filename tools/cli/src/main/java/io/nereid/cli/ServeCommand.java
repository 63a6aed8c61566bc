package io.nereid.cli;

import io.nereid.Model;
import io.nereid.model.ModelIndexEntry;
import io.nereid.model.ModelState;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.log.LogSettings;
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
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nereid serve}: serves models until a signal ends it. */
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
      "'nereid serve --help=http' shows the options under one heading, by its first word.",
      "",
      "Examples:",
      "  nereid serve",
      "  nereid serve DIR --http-port 9000",
      "  nereid serve model.onnx",
      "  nereid serve --config nereid.yaml",
      "  curl localhost:8000/v2/health/ready"
    })
final class ServeCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Parameters(
      arity = "0..*",
      paramLabel = "REPOSITORY",
      description = {
        "A model repository, or a file NAME.onnx or NAME.plan that is a model; repeatable.",
        "The bundled examples by default."
      })
  private List<String> repositories = List.of();

  @Mixin private ControlArguments control = new ControlArguments();

  @Mixin private RuntimeArguments runtime = new RuntimeArguments();

  @Mixin private PluginArguments plugins = new PluginArguments();

  @Mixin private TensorRtArguments tensorrt = new TensorRtArguments();

  @Mixin private HttpArguments http = new HttpArguments();

  @Mixin private ConsoleArguments console = new ConsoleArguments();

  @Mixin private GrpcArguments grpc = new GrpcArguments();

  @Mixin private TlsArguments tls = new TlsArguments();

  @Mixin private AccessArguments access = new AccessArguments();

  @Mixin private TraceArguments trace = new TraceArguments();

  @Mixin private RecordArguments record = new RecordArguments();

  @Mixin private ShadowArguments shadow = new ShadowArguments();

  @Mixin private MetricsArguments metrics = new MetricsArguments();

  @Mixin private LogArguments logging = new LogArguments();

  /** The length at which reasons are cut; the log has the rest. */
  private static final int MOST_OF_A_REASON = 100;

  @Option(
      names = "--id",
      paramLabel = "NAME",
      description = "What the server calls itself in its metadata; ${DEFAULT-VALUE} by default.")
  private String id = ServerFacts.DEFAULT_NAME;

  /** Read by {@link Settings} before this command runs. */
  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "A YAML file of options, named as here without the dashes.")
  private Path config;

  @Option(
      names = "--exit-timeout-secs",
      paramLabel = "SECONDS",
      description =
          "How long sequences and requests that have begun may take after SIGTERM;"
              + " ${DEFAULT-VALUE} by default.")
  private long exitTimeoutSeconds = 30;

  @Option(
      names = "--exit-on-error",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description = "End when a model cannot be loaded at the start; ${DEFAULT-VALUE} by default.")
  private boolean exitOnError = true;

  @Option(
      names = "--strict-readiness",
      arity = "0..1",
      paramLabel = "BOOL",
      fallbackValue = "true",
      description =
          "Be ready only when each model has been loaded; ${DEFAULT-VALUE} by default. A reload that"
              + " fails while the model serves is no reason against it.")
  private boolean strictReadiness = true;

  @Override
  public Integer call() throws InterruptedException {
    if (exitTimeoutSeconds < 0) {
      throw Arguments.wrong(
          command, "--exit-timeout-secs of 0 or more", Long.toString(exitTimeoutSeconds));
    }
    if (id.isEmpty()) {
      throw Arguments.wrong(command, "a name for --id", "none");
    }
    CommandLine line = command.commandLine();
    try (LogSettings log = logging.install();
        StopSignal signal = new StopSignal(line.getOut(), line.getErr());
        NereidServer server = start(log, signal)) {
      printScreen(server);
      IdleHeap.watch();
      signal.await();
    }
    return 0;
  }

  private NereidServer start(LogSettings log, StopSignal signal) {
    tensorrt.apply();
    try (TerminalBar.OfLoads progress = new TerminalBar.OfLoads()) {
      RepositoryOptions.Builder models =
          control.options(repositories, progress::show).listener(progress);
      plugins.apply(models);
      shadow.apply(models);
      return NereidServer.start(options(models.build(), log), signal::started);
    }
  }

  /** Makes the server's options. */
  ServerOptions options(RepositoryOptions models, LogSettings log) {
    Duration exitTimeout = Duration.ofSeconds(exitTimeoutSeconds);
    Optional<MetricsOptions> served = metrics.options(http.address(), tls.options(), access.http());
    boolean quantiles = served.filter(how -> how.config().summaries()).isPresent();
    return new ServerOptions(
        id,
        models,
        runtime.options(quantiles, plugins.options()),
        http.options(exitTimeout, tls.options(), access.http(), console.options()),
        grpc.options(tls.options(), access.grpc()),
        trace.options(),
        record.options(),
        record.atOnce(),
        shadow.options(),
        served,
        Optional.of(log),
        logging.accessLog(log),
        exitTimeout,
        exitOnError,
        strictReadiness,
        access.allowClientShm());
  }

  private void printScreen(NereidServer server) {
    PrintWriter out = command.commandLine().getOut();
    Texts.Table models = new Texts.Table("MODEL", "VERSION", "STATE", "LOADED IN", "REASON");
    for (ModelIndexEntry entry : server.nereid().repository().index()) {
      models.add(
          entry.name(),
          entry.version().isEmpty() ? "-" : Long.toString(entry.version().getAsLong()),
          entry.state() == ModelIndexEntry.State.UNKNOWN ? "-" : entry.state().toString(),
          loadTime(server, entry),
          Texts.cut(entry.reason(), MOST_OF_A_REASON));
    }
    models.print(out);
    out.println();
    for (NereidServer.Frontend frontend : server.frontends()) {
      boolean encrypted =
          frontend.protocol().equals("gRPC")
              && server.options().grpc().orElseThrow().tls().isPresent();
      out.println(
          "Serving "
              + frontend.protocol()
              + " at "
              + frontend.url()
              + (encrypted ? " with TLS" : ""));
    }
    server.consoleUrl().ifPresent(url -> out.println("Console at " + url));
    printPool(out, server);
    printOff(out, server.options());
    out.println(startTimes(server));
    out.flush();
  }

  /** Prints the state of the pool's page locking, if GPUs use the pool. */
  private static void printPool(PrintWriter out, NereidServer server) {
    server.nereid().pageLocking().ifPresent(text -> out.println("Memory pool: " + text));
  }

  /** Prints the features that were turned off, for users who miss them. */
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

  /** The time from the JVM's start to now, with its parts. */
  private static String startTimes(NereidServer server) {
    long nowMs = System.currentTimeMillis();
    long jvmMs = ManagementFactory.getRuntimeMXBean().getStartTime();
    List<NereidServer.StartPart> parts = server.startTimes();
    long serverMs = parts.stream().mapToLong(part -> part.time().toMillis()).sum();
    StringBuilder line = new StringBuilder();
    line.append(headline(server)).append(' ').append(nowMs - jvmMs);
    line.append(" ms after the start of the JVM: ");
    line.append("JVM ").append(Main.ENTERED_MS - jvmMs).append(" ms, command line ");
    line.append(nowMs - Main.ENTERED_MS - serverMs).append(" ms");
    for (NereidServer.StartPart part : parts) {
      line.append(", ").append(part.name()).append(' ').append(part.time().toMillis());
      line.append(" ms");
    }
    return line.toString();
  }

  /** The headline: whether the server is ready, with problems first. */
  private static String headline(NereidServer server) {
    List<Model> models = server.nereid().models();
    long failed = models.stream().filter(model -> model.state() == ModelState.FAILED).count();
    String trouble = failed + " of " + models.size() + " model versions failed";
    if (!server.isReady()) {
      return "Not ready" + (failed == 0 ? "" : ", " + trouble + ";");
    }
    return "Ready" + (failed == 0 ? "" : ", but " + trouble + ";");
  }

  private static String loadTime(NereidServer server, ModelIndexEntry entry) {
    if (entry.state() != ModelIndexEntry.State.READY) {
      return "-";
    }
    try {
      Model model = server.nereid().model(entry.name(), entry.version().orElseThrow());
      return model.loadTimes().total().toMillis() + " ms";
    } catch (NereidException e) {
      return "-"; // the model was unloaded meanwhile
    }
  }

  /**
   * The flags for the places of NVIDIA's libraries. The backend {@code tensorrt} reads them as
   * properties when its first model is loaded.
   */
  static final class TensorRtArguments {

    /** The properties that {@code io.nereid.tensorrt} reads. */
    private static final String DIRECTORIES_PROPERTY = "nereid.tensorrt.dir";

    private static final String PLUGINS_PROPERTY = "nereid.tensorrt.plugins";

    @Option(
        names = "--tensorrt-dir",
        paramLabel = "DIRS",
        description = "Directories with TensorRT and CUDA's runtime library, separated by colons.")
    private String directories;

    @Option(
        names = "--tensorrt-plugins",
        paramLabel = "FILES",
        description = "Libraries with plugins for TensorRT, separated by colons.")
    private String plugins;

    /** Sets the properties, before the first model is loaded. */
    void apply() {
      set(DIRECTORIES_PROPERTY, directories);
      set(PLUGINS_PROPERTY, plugins);
    }

    private static void set(String property, String value) {
      if (value != null) {
        System.setProperty(property, value);
      }
    }
  }
}
