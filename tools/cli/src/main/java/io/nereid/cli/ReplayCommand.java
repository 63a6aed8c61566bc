package io.nereid.cli;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Nereid;
import io.nereid.perf.Replay;
import io.nereid.perf.ReplayReport;
import io.nereid.perf.ServerArguments;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.RuntimeAnswers;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nereid replay}: sends the requests of a recording again. */
@Command(
    name = "replay",
    description = "Send the requests of a recording again, as they arrived, and compare latencies.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "It ends with 1 when a request fails that had been answered.",
      "",
      "Examples:",
      "  nereid replay recorded -u host:8000",
      "  nereid replay recorded -u grpc://host:8001 --speed 2 --html replay.html",
      "  nereid replay recorded models --speed max"
    })
final class ReplayCommand implements Callable<Integer> {

  @Spec private CommandSpec command;

  @Parameters(index = "0", paramLabel = "DIR", description = "The directory of the recording.")
  private Path directory;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "REPOSITORY",
      description = "Load these models in this process, in place of a server.")
  private Path repository;

  @Mixin private ServerArguments server;

  @Option(
      names = "--speed",
      paramLabel = "N|max",
      description =
          "1 as recorded, 2 twice as fast; max: as fast as it goes. ${DEFAULT-VALUE} by default.")
  private String speed = "1";

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      description = "Only requests to this model; repeatable.")
  private List<String> models = List.of();

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      description = "Requests under way at most; 16 with --speed max, else 1024 by default.")
  private Integer concurrency;

  @Option(
      names = "--warm-up",
      paramLabel = "MS",
      description =
          "Send some requests that are part of no sequence before, so long; they do not count."
              + " ${DEFAULT-VALUE} by default.")
  private long warmUp = 2_000;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the results as JSON.")
  private Path json;

  @Option(names = "--html", paramLabel = "FILE", description = "Write a page with charts.")
  private Path html;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Replay.Options options;
    try {
      double factor = speed.equals("max") ? Double.POSITIVE_INFINITY : Double.parseDouble(speed);
      int most = concurrency != null ? concurrency : Double.isInfinite(factor) ? 16 : 1024;
      Duration warming = Duration.ofMillis(warmUp);
      options = new Replay.Options(directory, Set.copyOf(models), factor, most, warming);
    } catch (NumberFormatException e) {
      throw Arguments.wrong(command, "--speed 1, 2.5 or max", "'" + speed + "'");
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
    ReplaySide.check(command, repository, server);
    ReplayReport report = repository == null ? Replay.run(options, server) : here(options);
    PrintWriter out = command.commandLine().getOut();
    out.print(report.text());
    out.flush();
    if (json != null) {
      Files.writeString(json, report.json());
    }
    if (html != null) {
      Files.writeString(html, report.html());
    }
    return report.newFailures() == 0 ? 0 : 1;
  }

  private ReplayReport here(Replay.Options options) throws IOException, InterruptedException {
    try (Nereid nereid = Nereid.open(repository)) {
      return Replay.run(options, call -> send(nereid, call), repository.toString());
    }
  }

  private static CompletableFuture<?> send(Nereid nereid, RecordedCall call) {
    InferRequest request = RuntimeAnswers.request(nereid.model(call.model()), call);
    try {
      request.timeout(Duration.ofNanos(call.timeoutNs()));
      if (call.deadlineNs() != 0) {
        request.deadline(Duration.ofNanos(call.deadlineNs()));
      }
      return request
          .inferAsync()
          .thenAccept(InferResponse::close)
          .whenComplete((none, failure) -> request.close());
    } catch (NereidException e) {
      request.close();
      throw e;
    }
  }
}
