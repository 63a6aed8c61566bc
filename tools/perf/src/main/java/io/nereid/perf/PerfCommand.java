package io.nereid.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The load generator as a command, on its own or below another one. */
@Command(
    name = "perf",
    description = "Measure a server of the Open Inference Protocol under load.",
    mixinStandardHelpOptions = true,
    usageHelpAutoWidth = true,
    footer = {
      "",
      "Options that perf_analyzer has as well mean the same.",
      "",
      "Examples:",
      "  nereid perf simple --concurrency 1:32:x2",
      "  nereid perf simple -i grpc --rate 2000 --poisson --html report.html",
      "  nereid perf digits -u host:8000 -b 8 --slo 'p99<=10ms'",
      "  nereid perf identity_fp32 --shape INPUT0:150528 --input-form shm --concurrency 8"
    })
public final class PerfCommand implements Callable<Integer> {

  @Spec private CommandSpec command;

  @Mixin private TargetArguments targetArguments;

  @Mixin private DataArguments dataArguments;

  @Mixin private LoadArguments loadArguments;

  @Mixin private MeasureArguments measureArguments;

  /** Called by picocli. */
  public PerfCommand() {}

  @Override
  public Integer call() throws IOException {
    PerfRun run;
    try {
      run = new PerfRun(targetArguments.target(), dataArguments, loadArguments, measureArguments);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
    checkWritable(measureArguments.csv());
    checkWritable(measureArguments.json());
    checkWritable(measureArguments.html());
    PrintWriter out = command.commandLine().getOut();
    PrintWriter err = command.commandLine().getErr();
    boolean live = Progress.isTerminal() && !measureArguments.quiet();
    return run.run(out, live ? Progress.on(err) : Progress.none());
  }

  /** Throws if a file cannot be written, before the measurement rather than after it. */
  private static void checkWritable(Path file) {
    if (file == null) {
      return;
    }
    Path directory = file.toAbsolutePath().getParent();
    if (!Files.isDirectory(directory)) {
      throw new PerfException(
          "expected a directory that exists for " + file + ", got " + directory);
    }
  }

  /** The options for the server and model to measure. */
  static final class TargetArguments {

    static final class ModelName {
      @Option(
          names = {"-m", "--model"},
          paramLabel = "MODEL",
          description = "The model; also as the argument.")
      private String option;

      @Parameters(arity = "0..1", paramLabel = "MODEL", description = "The model.")
      private String argument;
    }

    @ArgGroup(multiplicity = "1")
    private ModelName model;

    @Option(
        names = {"-x", "--model-version"},
        paramLabel = "N",
        defaultValue = "",
        description = "Its version; what the server chooses by default.")
    private String version;

    @Mixin private ServerArguments server;

    /** Makes the target; wrong options are an {@link IllegalArgumentException}. */
    Target target() throws IOException {
      String name = model.option == null ? model.argument : model.option;
      if (name.isEmpty()) {
        throw new IllegalArgumentException("expected the name of a model, got an empty one");
      }
      return server.target(name, version);
    }
  }
}
