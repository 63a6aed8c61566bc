package io.nereid.gpu;

import io.nereid.gpu.VerifyReport.Outcome;
import io.nereid.tensorrt.TensorRtLibrary;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs everything that only a machine with a GPU can tell, and says how it went. */
@Command(
    name = "gpu/verify",
    description = "Verify Nereid's TensorRT backend on this machine's GPU.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:nothing failed",
      "1:something failed",
      "2:the command line is wrong",
      "3:there is no GPU, driver, CUDA or TensorRT that can be used"
    })
public final class Verify implements Callable<Integer> {

  static final int NO_GPU = 3;

  @Spec private CommandSpec command;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "CHECK",
      description = "These checks only, of: ${COMPLETION-CANDIDATES}.",
      completionCandidates = Checks.Names.class)
  private List<String> only = new ArrayList<>();

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description = "Where engines and models are written, and kept; a temporary one by default.")
  private Path directory;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      defaultValue = "gpu-verify.json",
      description = "The results; ${DEFAULT-VALUE} by default.")
  private Path json;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "5",
      description = "How long each measurement takes; ${DEFAULT-VALUE} by default.")
  private double seconds;

  @Option(
      names = "--in-flight",
      paramLabel = "N",
      defaultValue = "256",
      description =
          "Requests under way in measurements of throughput; ${DEFAULT-VALUE} by default.")
  private int inFlight;

  @Option(
      names = "--patience",
      paramLabel = "S",
      defaultValue = "240",
      description =
          "How long a check may take, build and speed twice that, before it has failed and the"
              + " suite ends; ${DEFAULT-VALUE} by default.")
  private long patienceSeconds;

  /** Runs it and ends the process with its exit code. */
  public static void main(String[] args) {
    PrintWriter out = new PrintWriter(System.out, true);
    int exitCode = run(args, out, new PrintWriter(System.err, true));
    // Neither a check that hangs nor its servers may stay.
    ProcessHandle.current().children().forEach(ProcessHandle::destroyForcibly);
    Runtime.getRuntime().halt(exitCode);
  }

  static int run(String[] args, PrintWriter out, PrintWriter err) {
    return new CommandLine(new Verify()).setOut(out).setErr(err).execute(args);
  }

  @Override
  public Integer call() throws IOException {
    List<Checks.Check> checks = Checks.named(only);
    if (checks.size() < only.size()) {
      throw new ParameterException(
          command.commandLine(),
          "expected checks of " + Checks.names() + " for --only, got " + only);
    }
    Optional<String> missing = TensorRtLibrary.missing();
    if (missing.isPresent()) {
      command.commandLine().getErr().println("gpu/verify: no GPU to verify: " + missing.get());
      return NO_GPU;
    }
    Path where = directory == null ? Files.createTempDirectory("nereid-gpu") : directory;
    Files.createDirectories(where.resolve("models"));
    Files.createDirectories(json.toAbsolutePath().getParent());
    Workbench bench = new Workbench(where.toAbsolutePath(), seconds, inFlight);
    VerifyReport report = new VerifyReport(command.commandLine().getOut(), Optional.of(json));
    report.describeMachine();
    Duration patience = Duration.ofSeconds(patienceSeconds);
    new Checks.Runner(bench, report, patience, command.commandLine().getErr()).run(checks);
    report.close();
    return report.count(Outcome.FAIL) == 0 ? 0 : 1;
  }
}
