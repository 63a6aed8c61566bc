package io.nereid.cli;

import io.nereid.perf.ServerArguments;
import io.nereid.perf.compare.MeasurementException;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.Recording;
import io.nereid.recording.compare.AnswerComparison;
import io.nereid.recording.replay.BatchSensitivity;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code nereid bench batch-sensitivity}: checks whether answers depend on other requests in the
 * batch.
 */
@Command(
    name = "batch-sensitivity",
    description = {
      "Say how far a model's answers move with the requests beside them in a batch.",
      "Recorded requests are sent alone, once more, and in one request with others."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  nereid bench batch-sensitivity resnet recorded models",
      "  nereid bench batch-sensitivity minilm recorded -u host:8000 --pad"
    })
final class BatchSensitivityCommand implements Callable<Integer> {

  @Spec private CommandSpec command;

  @Parameters(index = "0", paramLabel = "MODEL", description = "The model's name.")
  private String model;

  @Parameters(index = "1", paramLabel = "DIR", description = "The directory of the recording.")
  private Path directory;

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = "REPOSITORY",
      description = "Load the model in this process, in place of a server; or a file NAME.onnx.")
  private Path repository;

  @Mixin private ServerArguments server;

  @Option(
      names = "--requests",
      paramLabel = "N",
      description = "Requests that are sent at most, by lot; ${DEFAULT-VALUE} by default.")
  private int requests = BatchSensitivity.Options.DEFAULT.requests();

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Another number, another company; ${DEFAULT-VALUE} by default.")
  private long seed = BatchSensitivity.Options.DEFAULT.seed();

  @Option(
      names = "--pad",
      description =
          "Requests have company of any length: shorter ones are filled with zeros, as tokenizers"
              + " do. For models that leave out what a mask says.")
  private boolean padded;

  @Override
  public Integer call() throws IOException, MeasurementException {
    ReplaySide.check(command, repository, server);
    BatchSensitivity.Options options;
    try {
      options = new BatchSensitivity.Options(seed, requests, padded);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
    try (Recording recording = Recording.open(directory)) {
      List<RecordedCall> calls =
          recording.byArrival().stream().filter(call -> call.model().equals(model)).toList();
      if (calls.isEmpty()) {
        throw new IllegalArgumentException(
            "expected requests to model '%s' in %s, there are none".formatted(model, directory));
      }
      try (ReplaySide side =
          repository == null
              ? ReplaySide.at(RemoteCommand.connect(command, server))
              : ReplaySide.here(repository, model)) {
        AnswerComparison moved = BatchSensitivity.measure(calls, side.source(), options);
        PrintWriter out = command.commandLine().getOut();
        out.print(moved.details());
        if (side.source().maxBatchSize(model) < 2) {
          out.println("The model takes one request at a time: none has company.");
        } else {
          out.println(moved.differs() ? "Answers move." : "No answer moves.");
        }
        out.flush();
        return 0;
      }
    }
  }
}
