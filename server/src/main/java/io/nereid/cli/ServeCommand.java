package io.nereid.cli;

import io.nereid.ModelIndexEntry;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.StartTimes;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
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
    footer = {
      "",
      "Examples:",
      "  nereid serve",
      "  nereid serve DIR --http-port 9000",
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

  @Mixin private HttpArguments http;

  @Mixin private GrpcArguments grpc;

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
    try (NereidServer server = start()) {
      printScreen(server);
      awaitSignal(server);
    }
    return 0;
  }

  private NereidServer start() {
    try (LoadProgress progress = new LoadProgress()) {
      return NereidServer.start(
          ServerOptions.builder()
              .repository(control.options(repository).listener(progress).build())
              .http(http.options(Duration.ofSeconds(exitTimeoutSeconds)))
              .grpc(grpc.options())
              .exitOnError(exitOnError)
              .strictReadiness(strictReadiness)
              .build());
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
    out.println(
        "Serving HTTP at http://"
            + server.options().http().address().getHostAddress()
            + ":"
            + server.httpPort());
    server
        .options()
        .grpc()
        .ifPresent(options ->
            out.println(
                "Serving gRPC at "
                    + options.address().getHostAddress()
                    + ":"
                    + server.grpcPort().orElseThrow()));
    StartTimes times = server.startTimes();
    long totalMs = System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime();
    out.println(
        String.format(
            Locale.ROOT,
            "Ready %d ms after the start of the JVM: models %d ms, HTTP %d ms, gRPC %d ms beside",
            totalMs,
            times.models().toMillis(),
            times.http().toMillis(),
            times.grpc().toMillis()));
    out.flush();
  }

  private static String loadTime(NereidServer server, ModelIndexEntry entry) {
    if (entry.state() != ModelIndexEntry.State.READY) {
      return "-";
    }
    Duration time =
        server.nereid().model(entry.name(), entry.version().orElseThrow()).loadTimes().total();
    return time.toMillis() + " ms";
  }

  /** Waits for SIGTERM or Ctrl-C, which end the process from a thread of their own. */
  private void awaitSignal(NereidServer server) throws InterruptedException {
    Thread hook = new Thread(() -> stopAndHalt(server), "nrd-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      new CountDownLatch(1).await();
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        hook.join(); // it runs already
      }
    }
  }

  /** By itself the JVM would end with 128 plus the signal's number. */
  private void stopAndHalt(NereidServer server) {
    PrintWriter out = command.commandLine().getOut();
    int exitCode = 1;
    try {
      out.println("Stopping: requests that have begun are finished");
      boolean finished = server.stop();
      out.println(finished ? "Stopped" : "Stopped; not all requests were finished");
      exitCode = 0;
    } catch (RuntimeException e) {
      command.commandLine().getErr().println("nereid: " + e.getMessage());
    } finally {
      out.flush();
      Runtime.getRuntime().halt(exitCode);
    }
  }
}
