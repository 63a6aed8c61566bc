package io.nereid.cli;

import io.nereid.Nereid;
import io.nereid.model.ModelOverride;
import io.nereid.model.Objective;
import io.nereid.model.RepositoryOptions;
import io.nereid.perf.compare.MeasurementException;
import io.nereid.perf.compare.TimeOption;
import io.nereid.perf.tune.Tuning;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.Recording;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nereid tune}: searches for the settings with the highest throughput of a model. */
@Command(
    name = "tune",
    description = {
      "Look for the instances, threads and batches with which a model answers most, by trying them",
      "in a server of their own, and write a configuration beside the one that is there."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done, also when nothing better was found",
      "1:it failed",
      "2:the command line is wrong",
      "4:it could not be measured"
    },
    footer = {
      "",
      "Examples:",
      "  nereid tune digits",
      "  nereid tune bert models --replay recorded --p99 50ms --time 30m --memory 4G",
      "  nereid serve models --model-config-name tuned"
    })
final class TuneCommand implements Callable<Integer> {

  private static final int NOT_MEASURED = 4;

  @Spec private CommandSpec command;

  @Parameters(index = "0", paramLabel = "MODEL", description = "The model's name.")
  private String model;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "REPOSITORY",
      description = "The repository it is in; the bundled one by default.")
  private Path repository;

  @Option(
      names = "--replay",
      paramLabel = "DIR",
      description = "A recording, whose requests of one row are sent.")
  private Path replay;

  @Option(
      names = "--requests",
      paramLabel = "FILE|DIR",
      description =
          "Or a file of requests, as 'nereid perf --input-data' takes it; random data by default.")
  private Path requests;

  @Option(
      names = "--shape",
      paramLabel = "NAME:D,D",
      description =
          "The shape of an input with random data; 1 by default for each dimension of"
              + " any size. Repeatable.")
  private List<String> shapes = List.of();

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      description = "Requests under way at a time; ${DEFAULT-VALUE} by default.")
  private int concurrency = 16;

  @Option(
      names = "--p99",
      paramLabel = "TIME",
      description = "The longest p99 that is wanted, such as 20ms; objectives are tried, too.")
  private String p99;

  @Option(
      names = "--time",
      paramLabel = "TIME",
      converter = TimeOption.class,
      description = "As much as it may take, such as 90s, 10m or 1h; 10m by default.")
  private Duration time = Duration.ofMinutes(10);

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "The most memory that the server may take, such as 4G; any by default.")
  private String memory;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Where the page goes and what was tried, which a second run goes on with; tune/MODEL by"
              + " default.")
  private Path out;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description =
          "The configuration to write; configs/tuned.pbtxt of the model's directory by default.")
  private Path output;

  @Override
  public Integer call() throws IOException {
    Path models =
        repository == null
            ? Path.of(System.getProperty("nereid.home", ""), "examples", "models")
            : repository;
    check(models);
    Path to = output == null ? models.resolve(model).resolve("configs/tuned.pbtxt") : output;
    Path files = Files.createDirectories(out == null ? Path.of("tune", model) : out);
    PrintWriter printed = command.commandLine().getOut();
    try {
      Tuning.Found found =
          Tuning.run(
              new Tuning.Options(
                  BenchCompareCommand.thisServer(),
                  models.toAbsolutePath().normalize(),
                  model,
                  data(models, files),
                  shapes,
                  concurrency,
                  p99 == null ? null : p99(),
                  time,
                  memory == null ? Long.MAX_VALUE : BuildCommand.bytes("--memory", memory),
                  files),
              printed);
      String text = text(models, found);
      Files.createDirectories(to.toAbsolutePath().getParent());
      Files.writeString(to, text);
      printed.println("Wrote " + to + " and " + files.resolve("tune.html"));
      printed.flush();
      return 0;
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    } catch (MeasurementException e) {
      command.commandLine().getErr().println("nereid: " + e.getMessage());
      return NOT_MEASURED;
    }
  }

  private void check(Path models) {
    if (!Files.isDirectory(models.resolve(model))) {
      throw Arguments.wrong(
          command,
          "a model of the repository " + models,
          "'" + model + "', which it does not have");
    }
    if (concurrency < 1) {
      throw Arguments.wrong(command, "--concurrency of 1 or more", Integer.toString(concurrency));
    }
    if (requests != null && (replay != null || !Files.exists(requests))) {
      throw Arguments.wrong(
          command,
          "--requests of a file or directory, without --replay",
          replay == null ? requests.toString() : "both");
    }
    if (output != null && output.endsWith("config.pbtxt") && Files.exists(output)) {
      throw Arguments.wrong(command, "an --output that no model is served with", "" + output);
    }
  }

  private Duration p99() {
    try {
      return Objective.parse("p99 " + p99).latency();
    } catch (IllegalArgumentException e) {
      throw Arguments.wrong(command, "--p99 of a time such as 20ms", "'" + p99 + "'");
    }
  }

  /** The data in the load generator's form. */
  private String data(Path models, Path files) throws IOException, MeasurementException {
    if (replay == null) {
      return requests == null ? "random" : requests.toString();
    }
    Path recorded = files.resolve("recorded").resolve(model + ".json");
    try (Recording recording = Recording.open(replay);
        ReplaySide side = ReplaySide.here(models, model)) {
      List<RecordedCall> calls =
          recording.byArrival().stream().filter(call -> call.model().equals(model)).toList();
      ReplayedInputs.write(calls, side.source(), "", recorded.getParent());
    }
    if (!Files.exists(recorded)) {
      throw new MeasurementException(
          "expected a request of one row to '" + model + "' in " + replay + ", got none");
    }
    return recorded.toString();
  }

  /** The found configuration, with which the model was loaded, as the text of a file. */
  private String text(Path models, Tuning.Found found) {
    StringBuilder text = new StringBuilder("# Made by 'nereid tune " + model + "'.\n");
    found.figures().forEach(line -> text.append("# ").append(line).append('\n'));
    RepositoryArguments.muteLoadLog();
    try (Nereid nereid =
        Nereid.open(RepositoryOptions.builder().repository(models).explicit().build())) {
      nereid.repository().load(model, ModelOverride.ofConfig(found.config()));
      return text.append(nereid.model(model).configuration().toText()).toString();
    }
  }
}
