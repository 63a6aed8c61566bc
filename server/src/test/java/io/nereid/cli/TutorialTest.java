package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs each command of docs/tutorial.md in its order, and compares what it prints. */
@Tag("slow")
class TutorialTest {

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern BLOCK = Pattern.compile("```console\n(.*?)```", Pattern.DOTALL);
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(90);

  /** A command and what it prints, with dots for what differs from run to run. */
  private record Step(String command, String expected) {}

  @TempDir Path folder;

  private Process server;

  @AfterEach
  void stop() throws InterruptedException {
    if (server != null) {
      server.destroy();
      server.waitFor();
    }
  }

  @Test
  void everyCommandPrintsWhatIsWritten() throws Exception {
    for (String shared : List.of("examples", "docker")) {
      Files.createSymbolicLink(folder.resolve(shared), ROOT.resolve(shared));
    }
    Path launcher = Files.writeString(folder.resolve("nereid"), launcher());
    assertTrue(launcher.toFile().setExecutable(true));
    List<Step> steps = steps(Files.readString(ROOT.resolve("docs/tutorial.md")));
    assertTrue(steps.size() >= 18, "only " + steps.size() + " commands");
    for (Step step : steps) {
      if (step.command().startsWith("./nereid serve")) {
        serve(step);
      } else if (!step.command().startsWith("promtool") || isInstalled("promtool")) {
        check(step);
      }
    }
  }

  private static String launcher() {
    return """
    #!/bin/sh
    exec '%s/bin/java' --enable-native-access=ALL-UNNAMED -Dnereid.home='%s' -cp '%s' \
    io.nereid.cli.Main "$@"
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
    return Arrays.stream(System.getenv("PATH").split(":"))
        .anyMatch(place -> Files.isExecutable(Path.of(place, program)));
  }

  /** Starts the server on free ports, and waits until it prints what is written. */
  private void serve(Step step) throws Exception {
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
    String command = step.command();
    if (server != null) {
      command =
          command
              .replace("localhost:8000", "127.0.0.1:" + port("HTTP"))
              .replace("localhost:8002", "127.0.0.1:" + port("metrics"));
    }
    String here = command;
    await(() -> run(here), step);
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
        Arrays.stream(step.expected().split("\\s*\\.\\.\\.\\s*", -1))
            .map(Pattern::quote)
            .collect(Collectors.joining(".*"));
    long deadlineNs = System.nanoTime() + PATIENCE_NS;
    while (true) {
      String printed = printing.get();
      if (Pattern.compile(pattern, Pattern.DOTALL).matcher(printed.strip()).matches()) {
        return;
      }
      if (System.nanoTime() - deadlineNs > 0) {
        fail("expected of " + step.command() + "\n" + step.expected() + "\nand got\n" + printed);
      }
      LockSupport.parkNanos(200_000_000);
    }
  }
}
