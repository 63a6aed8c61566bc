package io.nereid.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
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

  /** Made by the command line. */
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

  /** Known now rather than after the measurement. */
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
}
