package io.nereid.server.http;

import io.nereid.cli.ConfigFuzz;
import io.nereid.cli.SettingsFuzz;
import io.nereid.recording.RecordingFuzz;
import io.nereid.server.grpc.MessageFuzz;
import io.nereid.server.memory.MemoryFuzz;
import io.nereid.tensorrt.PlanFuzz;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Fuzzes in processes of their own, which Jazzer instruments, or clang did: {@code FuzzRun TARGETS
 * SECONDS DIRECTORY}, where {@code all} and {@code native} stand for several targets, one after the
 * other. What was found interesting stays in the directory, for the next time, beside the inputs
 * that failed and the sums of all runs.
 */
final class FuzzRun {

  /** The programs for the parsers in C++, which './dev fuzz' builds where it can. */
  private static final Path PROGRAMS = Path.of("../../build/fuzzers/test/fuzz");

  /** Inputs to begin with, a folder for each target that has some, and the sums of earlier runs. */
  private static final Path KEPT = Path.of("src/test/fuzz");

  private static final Pattern EDGES = Pattern.compile("#[0-9]+\\s.* cov: ([0-9]+) .*");
  private static final Pattern EXECUTIONS =
      Pattern.compile("stat::number_of_executed_units: ([0-9]+)");
  private static final Pattern FINDING =
      Pattern.compile(".*Test unit written to .*-(crash|oom|timeout|leak)-.*");

  /** The kernel's unit for the times of a process. */
  private static final double TICKS_A_SECOND = 100;

  /** Place of a process's waited-for children's user time among the words behind its name. */
  private static final int CHILDREN_USER = 13;

  /** The targets: readers of bytes that others wrote. */
  enum Target {
    HTTP(HttpFuzz.class, FuzzSeeds::http),
    JSON(JsonFuzz.class, FuzzSeeds::json),
    GRPC(MessageFuzz.class, MessageFuzz::seeds),
    MEMORY(MemoryFuzz.class, List::of),
    SETTINGS(SettingsFuzz.class, FuzzSeeds::settings),
    CONFIG(ConfigFuzz.class, List::of),
    PLAN(PlanFuzz.class, List::of),
    RECORDING(RecordingFuzz.class, List::of),
    ANSWER(null, List::of),
    PARSERS(null, List::of);

    /** The class with the target; null: a program has it. */
    final Class<?> type;

    private final Callable<List<byte[]>> seeds;

    Target(Class<?> type, Callable<List<byte[]>> seeds) {
      this.type = type;
      this.seeds = seeds;
    }

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    Path program() {
      return PROGRAMS.resolve(word() + "_fuzz");
    }

    /** True unless it is a program that was not built. */
    boolean isThere() {
      return type != null || Files.isExecutable(program());
    }
  }

  /**
   * The end of a run.
   *
   * @param edges the branches of the instrumented code that any input took, or its seeds
   */
  record Outcome(int status, long executions, long edges, double processorSeconds, long findings) {}

  private FuzzRun() {}

  public static void main(String[] args) throws Exception {
    if (args.length != 3) {
      throw new IllegalArgumentException("expected TARGETS SECONDS DIRECTORY");
    }
    List<Target> asked = asked(args[0]);
    List<Target> targets = asked.stream().filter(Target::isThere).toList();
    asked.stream()
        .filter(target -> !target.isThere())
        .forEach(target ->
            System.out.println(target.word() + " is left out: there is no " + target.program()));
    Path directory = Path.of(args[2]);
    FuzzTotals totals = FuzzTotals.of(directory, KEPT);
    boolean failed = targets.isEmpty();
    for (Target target : targets) {
      int seconds = Math.max(1, Integer.parseInt(args[1]) / targets.size());
      Outcome outcome = run(target, seconds, directory, List.of(), System.out);
      totals.add(target.word(), outcome);
      failed |= outcome.status() != 0;
    }
    System.out.println(totals);
    System.exit(failed ? 1 : 0);
  }

  private static List<Target> asked(String word) {
    return switch (word) {
      case "all" -> List.of(Target.values());
      case "native" -> List.of(Target.ANSWER, Target.PARSERS);
      default -> List.of(Target.valueOf(word.toUpperCase(Locale.ROOT)));
    };
  }

  /** Fuzzes a target, and passes on what the fuzzer says. */
  static Outcome run(
      Target target, int seconds, Path directory, List<String> jvmOptions, Appendable log)
      throws Exception {
    ProcessBuilder fuzz = command(target, seconds, directory.toAbsolutePath(), jvmOptions);
    double before = processorSeconds();
    Process process = fuzz.redirectErrorStream(true).start();
    long edges = 0;
    long executions = 0;
    long findings = 0;
    try (BufferedReader printed = process.inputReader(StandardCharsets.ISO_8859_1)) {
      for (String line = printed.readLine(); line != null; line = printed.readLine()) {
        log.append(line).append('\n');
        edges = number(EDGES, line, edges);
        executions = number(EXECUTIONS, line, executions);
        findings += FINDING.matcher(line).matches() ? 1 : 0;
      }
    }
    int status = process.waitFor();
    return new Outcome(status, executions, edges, processorSeconds() - before, findings);
  }

  private static long number(Pattern pattern, String line, long otherwise) {
    Matcher matcher = pattern.matcher(line);
    return matcher.matches() ? Long.parseLong(matcher.group(1)) : otherwise;
  }

  /** The time that processes took which this one has started and seen end. */
  private static double processorSeconds() throws IOException {
    String stat = Files.readString(Path.of("/proc/self/stat"));
    String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(words[CHILDREN_USER]) + Long.parseLong(words[CHILDREN_USER + 1]))
        / TICKS_A_SECOND;
  }

  /** Writes the seeds into the directory, and tells how to start. */
  private static ProcessBuilder command(
      Target target, int seconds, Path directory, List<String> jvmOptions) throws Exception {
    Path corpus = Files.createDirectories(directory.resolve(target.word()));
    List<byte[]> seeds = target.seeds.call();
    for (int i = 0; i < seeds.size(); i++) {
      Files.write(corpus.resolve("seed-" + i), seeds.get(i));
    }
    List<String> command = new ArrayList<>();
    if (target.type == null) {
      command.add(target.program().toString());
    } else {
      command.addAll(jazzer(target, directory, jvmOptions));
    }
    command.addAll(
        List.of(
            "-max_total_time=" + seconds,
            "-timeout=120",
            "-rss_limit_mb=4096",
            "-max_len=4096",
            "-print_final_stats=1",
            "-artifact_prefix=" + directory + "/" + target.word() + "-",
            corpus.toString()));
    Path kept = KEPT.resolve(target.word());
    if (Files.isDirectory(kept)) {
      command.add(kept.toString());
    }
    return new ProcessBuilder(command);
  }

  private static List<String> jazzer(Target target, Path directory, List<String> jvmOptions)
      throws IOException {
    Path words = directory.resolve("words.dict");
    writeDictionary(words);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions);
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow", // Jazzer's own
            "-XX:+EnableDynamicAgentLoading",
            "-XX:+UseSerialGC", // a fuzzer is one thread
            "-Xmx1g",
            "-Xss2m",
            "-cp",
            System.getProperty("java.class.path"),
            "com.code_intelligence.jazzer.Jazzer",
            "--target_class=" + target.type.getName(),
            // The first breaks Netty's own uses of Unsafe. The second takes the client of the test,
            // which connects to the server, for an attack.
            "--disabled_hooks=com.code_intelligence.jazzer.sanitizers.UnsafeSanitizer:"
                + "com.code_intelligence.jazzer.sanitizers.ServerSideRequestForgery",
            "--instrumentation_includes=io.nereid.server.**:io.nereid.cli.**:io.nereid.recording.**"
                + ":io.nereid.tensorrt.**:io.nereid.internal.config.**",
            "--reproducer_path=" + directory,
            "-dict=" + words));
    return command;
  }

  /** Words that chance would take long to find. */
  private static void writeDictionary(Path file) throws IOException {
    StringBuilder text = new StringBuilder();
    for (String word : FuzzSeeds.WORDS) {
      text.append('"');
      for (byte b : word.getBytes(StandardCharsets.UTF_8)) {
        text.append("\\x").append(HexFormat.of().toHexDigits(b));
      }
      text.append("\"\n");
    }
    Files.writeString(file, text);
  }
}
