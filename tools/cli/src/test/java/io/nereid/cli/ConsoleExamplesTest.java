package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.nereid.server.tls.TestCertificates;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs each command of the documents' blocks of the kind "console" in its order, and compares what
 * it prints. A document that starts no server asks one that serves the bundled models, which it
 * shares with others until one changes the server.
 */
@Tag("slow")
class ConsoleExamplesTest {

  private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
  private static final Pattern BLOCK = Pattern.compile("```console\n(.*?)```", Pattern.DOTALL);
  private static final Pattern NUMBER = Pattern.compile("[0-9][0-9.]*");
  private static final Pattern UNSTABLE = Pattern.compile("(?m)^ ! not stable.*\n");
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(90);

  /** A command and what it prints, with dots for what differs from run to run. */
  private record Step(String command, String expected) {

    /** A command that measures prints other figures on each machine. */
    boolean isMeasured() {
      return command.startsWith("./nereid perf");
    }

    boolean startsServer() {
      return command.startsWith("./nereid serve");
    }

    boolean asksServer() {
      return isMeasured() || command.contains("localhost:");
    }

    /** True if the server is another one than before to who comes next. */
    boolean changesServer() {
      return startsServer() || command.contains("-X POST") || command.contains("/logging -d");
    }

    /** What must be printed; the loads that a search tries are the machine's. */
    String compared() {
      int search = expected.indexOf("tried for ");
      String told = search < 0 ? expected : expected.substring(0, search + 10) + "...";
      return alike(told);
    }

    /** Spaces of tables count as one; figures that were measured do not count. */
    String alike(String printed) {
      String text = printed.replaceAll(" +", " ").strip();
      return isMeasured()
          ? NUMBER.matcher(UNSTABLE.matcher(text).replaceAll("")).replaceAll("#")
          : text;
    }
  }

  @TempDir private static Path folder;

  private static Process server;

  @BeforeAll
  static void prepare() throws Exception {
    for (String shared : List.of("examples", "docker")) {
      Files.createSymbolicLink(folder.resolve(shared), ROOT.resolve(shared));
    }
    Path launcher = Files.writeString(folder.resolve("nereid"), launcher());
    assertTrue(launcher.toFile().setExecutable(true));
    placeWhatTheReaderHas();
  }

  @AfterAll
  static void stop() throws InterruptedException {
    if (server != null) {
      server.destroy();
      server.waitFor();
      server = null;
    }
  }

  static Stream<String> documents() throws IOException {
    try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
      return Stream.concat(Stream.of(ROOT.resolve("README.md")), files)
          .filter(file -> file.toString().endsWith(".md"))
          .filter(file -> BLOCK.matcher(read(file)).find())
          .map(file -> ROOT.relativize(file).toString())
          .sorted()
          .toList()
          .stream();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @MethodSource("documents")
  void everyCommandPrintsWhatIsWritten(String document) throws Exception {
    List<Step> steps = steps(read(ROOT.resolve(document)));
    if (steps.stream().anyMatch(Step::startsServer)) {
      stop();
    } else if (server == null && steps.stream().anyMatch(Step::asksServer)) {
      serve(new Step("./nereid serve --allow-client-shm true", "...Ready ..."));
    }
    try {
      for (Step step : steps) {
        if (step.startsServer()) {
          serve(step);
        } else if (isInstalled(step.command().split(" ")[0])) {
          check(step);
        }
      }
    } finally {
      if (steps.stream().anyMatch(Step::changesServer)) {
        stop();
      }
    }
  }

  /** Certificates as of an operator, and MiniLM with its tokenizer as models/minilm. */
  private static void placeWhatTheReaderHas() throws Exception {
    TestCertificates.Identity authority = TestCertificates.authority("ca");
    authority.writeCertificate(folder.resolve("ca.pem"));
    TestCertificates.Identity own = TestCertificates.signed("localhost", authority);
    own.writeCertificate(folder.resolve("server.pem"));
    own.writeKey(folder.resolve("server-key.pem"));
    Path version = Files.createDirectories(folder.resolve("models/minilm/1"));
    for (String[] file :
        new String[][] {
          {"/all-minilm-l6-v2-q.onnx", "model.onnx"},
          {"/all-minilm-l6-v2-q-tokenizer.json", "tokenizer.json"}
        }) {
      try (InputStream content = ConsoleExamplesTest.class.getResourceAsStream(file[0])) {
        Files.copy(content, version.resolve(file[1]));
      }
    }
  }

  private static String launcher() {
    return """
    #!/bin/sh
    exec '%s/bin/java' --enable-native-access=ALL-UNNAMED -XX:TieredStopAtLevel=1 \
    -Dnereid.home='%s' -cp '%s' io.nereid.cli.Main "$@"
    """
        .formatted(System.getProperty("java.home"), ROOT, System.getProperty("java.class.path"));
  }

  private static List<Step> steps(String document) {
    List<Step> steps = new ArrayList<>();
    Matcher blocks = BLOCK.matcher(document);
    while (blocks.find()) {
      for (String part : ("\n" + blocks.group(1)).split("\n\\$ ")) {
        if (!part.isBlank()) {
          int end = part.contains("<<'END'") ? part.indexOf("\nEND") + 4 : part.indexOf('\n');
          end = end < 0 ? part.length() : end;
          steps.add(new Step(part.substring(0, end), part.substring(end).strip()));
        }
      }
    }
    return steps;
  }

  private static boolean isInstalled(String program) {
    return program.startsWith("./")
        || program.contains("=")
        || Arrays.stream(System.getenv("PATH").split(":"))
            .anyMatch(place -> Files.isExecutable(Path.of(place, program)));
  }

  /** Starts the server on free ports, and waits until it prints what is written. */
  private void serve(Step step) throws Exception {
    stop();
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", "exec " + step.command())
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("serve.log").toFile());
    for (String protocol : List.of("HTTP", "GRPC", "METRICS")) {
      builder.environment().put("NEREID_" + protocol + "_PORT", "0");
    }
    server = builder.start();
    await(() -> Files.readString(folder.resolve("serve.log")), step);
  }

  private String port(String what) throws IOException {
    Matcher said =
        Pattern.compile("Serving " + what + " at \\S+:(\\d+)")
            .matcher(Files.readString(folder.resolve("serve.log")));
    return said.find() ? said.group(1) : "none";
  }

  private void check(Step step) throws Exception {
    if (server == null) {
      await(() -> run(step.command()), step);
      return;
    }
    String http = "localhost:" + port("HTTP");
    String segment = "nereid-example-" + server.pid();
    String command =
        step.command()
                .replace("localhost:8000", http)
                .replace("localhost:8001", "localhost:" + port("gRPC"))
                .replace("localhost:8002", "localhost:" + port("metrics"))
                .replace("nereid-example", segment)
            + (step.isMeasured()
                ? " --measurement-interval 100 --max-trials 2 --warm-up 100 -u " + http
                : "");
    await(() -> run(command).replace(segment, "nereid-example"), step);
  }

  private String run(String command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder("bash", "-c", command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return printed;
  }

  private interface Printing {
    String get() throws IOException, InterruptedException;
  }

  /** The server may not have looked at its repository yet, so a command is given again. */
  private static void await(Printing printing, Step step) throws Exception {
    String pattern =
        Arrays.stream(step.compared().split("\\s*\\.\\.\\.\\s*", -1))
            .map(Pattern::quote)
            .collect(Collectors.joining(".*"));
    long deadlineNs = System.nanoTime() + PATIENCE_NS;
    while (true) {
      String printed = printing.get();
      if (Pattern.compile(pattern, Pattern.DOTALL).matcher(step.alike(printed)).matches()) {
        return;
      }
      if (System.nanoTime() - deadlineNs > 0) {
        fail("expected of " + step.command() + "\n" + step.expected() + "\nand got\n" + printed);
      }
      LockSupport.parkNanos(200_000_000);
    }
  }
}
