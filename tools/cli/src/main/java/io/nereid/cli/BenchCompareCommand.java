package io.nereid.cli;

import io.nereid.model.ModelFile;
import io.nereid.perf.compare.BenchmarkId;
import io.nereid.perf.compare.CompareArguments;
import io.nereid.perf.compare.CompareArguments.Side;
import io.nereid.perf.compare.MeasurementException;
import io.nereid.perf.compare.ServedForks;
import io.nereid.perf.compare.ServedSide;
import io.nereid.recording.RecordedCall;
import io.nereid.recording.Recording;
import io.nereid.recording.compare.AnswerComparison;
import io.nereid.recording.compare.Tolerance;
import io.nereid.recording.replay.ReplayedAnswers;
import io.nereid.recording.replay.WorstCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nereid bench compare}: checks whether the user's models have become slower. */
@Command(
    name = "compare",
    description = {
      "Compare two versions of one's models, or of Nereid, and say what became slower.",
      "Servers of both take turns, and a slowdown has to show twice."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:nothing is slower",
      "1:something is",
      "2:the command line is wrong",
      "4:not everything could be measured",
      "5:the two have no model in common",
      "6:answers to recorded requests differ"
    },
    footer = {
      "",
      "Examples:",
      "  nereid bench compare old.onnx new.onnx",
      "  nereid bench compare main/models branch/models --requests requests --time 10m",
      "  nereid bench compare main/models branch/models --replay recorded",
      "  nereid bench compare models/resnet:1 models/resnet:2 --replay recorded --answers-only",
      "  nereid bench compare nereid-1.0 nereid-1.1 --models models --only resnet",
      "  nereid bench compare nereid-1.0 nereid-1.1 --models models --replay recorded"
    })
final class BenchCompareCommand implements Callable<Integer> {

  private static final String STARTED = "nereid-server.jar";

  /** The launcher's class by name, since it is compiled separately, after this class. */
  private static final String LAUNCHER = "io.nereid.cli.Launcher";

  private static final int ANSWERS_DIFFER = 6;

  /** The kinds of things that can be compared. */
  private enum Kind {
    DISTRIBUTION("a distribution"),
    FILE("a model that is one file"),
    REPOSITORY("a model repository");

    private final String label;

    Kind(String label) {
      this.label = label;
    }
  }

  @Spec private CommandSpec command;

  @Parameters(
      index = "0",
      paramLabel = "BEFORE",
      description =
          "A distribution of Nereid, a model repository, a file NAME.onnx, or a version of a model"
              + " as REPOSITORY/MODEL:VERSION.")
  private Path before;

  @Parameters(
      index = "1",
      paramLabel = "AFTER",
      description = "Another one; a file is compared with a file only.")
  private Path after;

  @Option(
      names = "--models",
      paramLabel = "DIR",
      description = "The models that distributions are compared with.")
  private Path models;

  @Option(
      names = "--requests",
      paramLabel = "FILE|DIR",
      description =
          "What is sent: a file as 'nereid perf --input-data' takes it, or a directory with a file"
              + " MODEL.json for each model that gets no random data; random data by default.")
  private Path requests;

  @Option(
      names = "--replay",
      paramLabel = "DIR",
      description =
          "A recording: the answers to its requests are compared, and then the speed with its"
              + " inputs.")
  private Path replay;

  @Option(
      names = "--tolerances",
      paramLabel = "FILE",
      description =
          "How far answers may differ, as lines MODEL/OUTPUT = ABSOLUTE,RELATIVE; default ="
              + " 1e-6,1e-4 by default.")
  private Path tolerances;

  @Option(
      names = "--no-noise-floor",
      description =
          "With --replay: an answer differs even where it moves no further than BEFORE's own do"
              + " from run to run.")
  private boolean strict;

  @Option(
      names = "--worst-dir",
      paramLabel = "DIR",
      description =
          "With --replay: write the requests that differ most, which 'nereid infer @DIR/1/request"
              + " REPOSITORY' sends.")
  private Path worstDirectory;

  @Option(
      names = "--worst",
      paramLabel = "N",
      description = "So many of them at most; ${DEFAULT-VALUE} by default.")
  private int worst = 10;

  @Option(names = "--answers-only", description = "With --replay: compare no speed.")
  private boolean answersOnly;

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      description = "Requests under way at a time; ${DEFAULT-VALUE} by default.")
  private int concurrency = 1;

  @Mixin private CompareArguments arguments;

  @Override
  public Integer call() throws IOException {
    if (concurrency < 1) {
      throw Arguments.wrong(command, "--concurrency of 1 or more", Integer.toString(concurrency));
    }
    if (requests != null && !Files.exists(requests)) {
      throw Arguments.wrong(command, "--requests of a file or directory", requests.toString());
    }
    if (worst < 1) {
      throw Arguments.wrong(command, "--worst of 1 or more", Integer.toString(worst));
    }
    if (replay != null && requests != null) {
      throw Arguments.wrong(command, "--replay without --requests", "both");
    }
    if (replay == null && (tolerances != null || answersOnly || strict || worstDirectory != null)) {
      throw Arguments.wrong(command, "--replay DIR", "none");
    }
    Path base = repository(before);
    Path candidate = repository(after);
    Kind kind = kind(base);
    Kind other = kind(candidate);
    boolean distributions = kind == Kind.DISTRIBUTION || other == Kind.DISTRIBUTION;
    if (distributions == (models == null)) {
      throw Arguments.wrong(
          command,
          distributions ? "--models for distributions" : "--models for distributions only",
          models == null ? "none" : "it for " + kind.label);
    }
    ServedSide first = side(kind, base);
    ServedSide second = side(other, candidate);
    if (first.model().isEmpty() != second.model().isEmpty()) {
      throw Arguments.wrong(
          command,
          "two of a kind",
          "%s, %s, and %s, %s".formatted(before, kind.label, after, other.label));
    }
    try {
      return compare(first, second, distributions);
    } catch (MeasurementException e) {
      command.commandLine().getErr().println("nereid: " + e.getMessage());
      return CompareArguments.NOT_MEASURED;
    }
  }

  private int compare(ServedSide first, ServedSide second, boolean started)
      throws MeasurementException, IOException {
    boolean differ = false;
    Path sent = requests;
    if (replay != null) {
      Map<String, Tolerance> allowed = allowed();
      try (Recording recording = Recording.open(replay)) {
        List<RecordedCall> calls = recording.byArrival();
        try (ReplaySide a = answering(first, started, calls, "before");
            ReplaySide b = answering(second, started, calls, "after")) {
          differ = answersDiffer(calls, a, b, allowed);
          if (!answersOnly) {
            sent =
                ReplayedInputs.write(calls, a.source(), first.model(), work().resolve("recorded"));
          }
        }
      }
    }
    int code = answersOnly ? 0 : speed(first, second, sent);
    return differ ? ANSWERS_DIFFER : code;
  }

  private int speed(ServedSide first, ServedSide second, Path sent)
      throws MeasurementException, IOException {
    Path work = work();
    SortedSet<BenchmarkId> ids = ids(first, work);
    // A file is compared with the other side's model, whatever their names.
    SortedSet<BenchmarkId> others = first.model().isEmpty() ? ids(second, work) : ids;
    return arguments.compare(
        new ServedForks(work, sent, concurrency, ServedForks.SETTINGS),
        new Side<>(before.toString(), first, ids),
        new Side<>(after.toString(), second, others),
        "models",
        ServedForks.SETTINGS,
        command.commandLine().getOut());
  }

  private Path work() throws IOException {
    return Files.createDirectories(arguments.out().resolve("work")).toAbsolutePath();
  }

  private Path repository(Path named) throws IOException {
    try {
      return OneVersion.isNamed(named) ? OneVersion.repository(named, work()) : named;
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }

  private Map<String, Tolerance> allowed() throws IOException {
    try {
      return tolerances == null ? Map.of() : Tolerance.read(tolerances);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }

  /** Makes a side that answers in this process, or in another build's server. */
  private ReplaySide answering(
      ServedSide side, boolean started, List<RecordedCall> calls, String name)
      throws MeasurementException, IOException {
    if (!started) {
      return ReplaySide.here(side.models());
    }
    Set<String> names = calls.stream().map(RecordedCall::model).collect(Collectors.toSet());
    return ReplaySide.started(side, names, work().resolve(name));
  }

  private boolean answersDiffer(
      List<RecordedCall> calls, ReplaySide a, ReplaySide b, Map<String, Tolerance> allowed)
      throws MeasurementException, IOException {
    WorstCalls kept = new WorstCalls(worst);
    AnswerComparison answers =
        new ReplayedAnswers(a.source(), b.source(), allowed)
            .compare(calls, strict ? Optional.empty() : Optional.of(a.source()), kept);
    if (worstDirectory != null) {
      kept.write(worstDirectory);
    }
    command.commandLine().getOut().println(answers.text());
    command.commandLine().getOut().flush();
    a.check().run();
    b.check().run();
    return answers.differs();
  }

  private Kind kind(Path path) {
    if (ModelFile.isAt(path)) {
      return Kind.FILE;
    }
    if (!Files.isDirectory(path)) {
      throw Arguments.wrong(
          command,
          "a distribution of Nereid, a model repository, or a file "
              + ModelFile.ENDINGS.stream().map("NAME"::concat).collect(Collectors.joining(" or ")),
          path.toString());
    }
    return startedJar(path) == null ? Kind.REPOSITORY : Kind.DISTRIBUTION;
  }

  /** The jar of a distribution, or of a built source tree; null: none. */
  private static Path startedJar(Path directory) {
    for (Path jar : List.of(Path.of(STARTED), Path.of("tools", "cli", "target", STARTED))) {
      if (Files.isRegularFile(directory.resolve(jar))) {
        return directory.resolve(jar).toAbsolutePath().normalize();
      }
    }
    return null;
  }

  private ServedSide side(Kind kind, Path path) {
    boolean distribution = kind == Kind.DISTRIBUTION;
    Path served = (distribution ? models : path).toAbsolutePath().normalize();
    return new ServedSide(
        distribution ? serverOf(path) : thisServer(),
        served,
        ModelFile.isAt(served) ? ModelFile.nameAt(served) : "");
  }

  private static SortedSet<BenchmarkId> ids(ServedSide side, Path work)
      throws MeasurementException, IOException {
    SortedSet<BenchmarkId> ids = new TreeSet<>();
    if (side.model().isEmpty()) {
      side.names(work).forEach(name -> ids.add(BenchmarkId.of(name, Map.of())));
    } else {
      ids.add(BenchmarkId.of(side.model(), Map.of()));
    }
    return ids;
  }

  /**
   * The command of a distribution's server; a distribution with its own Java is started by that.
   */
  private static List<String> serverOf(Path distribution) {
    Path own = distribution.resolve(Path.of("runtime", "bin", "java")).toAbsolutePath().normalize();
    List<String> server = java(Files.isExecutable(own) ? own : thisJava());
    server.addAll(List.of("-jar", startedJar(distribution).toString()));
    return server;
  }

  static List<String> thisServer() {
    List<String> server = java(thisJava());
    server.addAll(List.of("-cp", System.getProperty("java.class.path"), LAUNCHER));
    return server;
  }

  private static Path thisJava() {
    return Path.of(System.getProperty("java.home"), "bin", "java");
  }

  private static List<String> java(Path java) {
    return new ArrayList<>(
        List.of(java.toString(), "--enable-native-access=ALL-UNNAMED", "-XX:-UsePerfData"));
  }
}
