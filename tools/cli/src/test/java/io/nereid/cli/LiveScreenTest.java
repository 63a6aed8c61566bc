package io.nereid.cli;

import static io.nereid.server.http.TestServer.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The terminal of a command that shows changing lines. */
class LiveScreenTest {

  private static final Path SCRIPT = Path.of("/usr/bin/script");
  private static final String SETTINGS = "-icanon -echo min 0 time 5";

  @TempDir Path directory;

  private Path program(String name, String text) throws IOException {
    Path file = Files.writeString(directory.resolve(name), "#!/bin/sh\n" + text);
    assertTrue(file.toFile().setExecutable(true));
    return file;
  }

  private List<String> calls() {
    try {
      Path file = directory.resolve("calls");
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aSignalWhileTheTerminalIsChangedRestoresItAfterwards() throws Exception {
    assumeTrue(Files.isExecutable(SCRIPT), "script is not here");
    Path goOn = directory.resolve("goOn");
    assertEquals(0, new ProcessBuilder("mkfifo", goOn.toString()).start().waitFor());
    String wait = "test \"$1\" != -icanon || read line < " + goOn + "\n";
    program("stty", "echo \"$*\" >> " + directory.resolve("calls") + "\n" + wait);
    Path top =
        program(
            "top",
            "PATH='%s':$PATH exec '%s/bin/java' -XX:TieredStopAtLevel=1 -cp '%s' %s top -u $1\n"
                .formatted(
                    directory,
                    System.getProperty("java.home"),
                    System.getProperty("java.class.path"),
                    Main.class.getName()));
    try (NereidServer server = NereidServer.start(ServerOptions.DEFAULT)) {
      String command = top + " localhost:" + server.httpPort();
      Process terminal =
          new ProcessBuilder(SCRIPT.toString(), "-qec", command, "/dev/null")
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        await(() -> calls().equals(List.of(SETTINGS)), "the terminal is not changed");
        ProcessHandle java =
            terminal
                .descendants()
                .filter(each -> each.info().command().orElse("").endsWith("/java"))
                .findFirst()
                .orElseThrow();
        java.destroy();
        await(() -> !java.isAlive() || isUndoing(java), "the signal has no effect");
        assertTrue(java.isAlive(), "the terminal is changed when nobody restores it");
        Files.writeString(goOn, "\n");
        await(() -> calls().equals(List.of(SETTINGS, "sane")), "the terminal is not restored");
      } finally {
        terminal.descendants().forEach(ProcessHandle::destroyForcibly);
        terminal.destroyForcibly();
      }
    }
  }

  private static boolean isUndoing(ProcessHandle process) {
    try (Stream<Path> threads = Files.list(Path.of("/proc", process.pid() + "", "task"))) {
      return threads.anyMatch(LiveScreenTest::isUndoing);
    } catch (IOException e) {
      return false; // the process has ended
    }
  }

  private static boolean isUndoing(Path thread) {
    try {
      return Files.readString(thread.resolve("comm")).startsWith("nrd-undo");
    } catch (IOException e) {
      return false; // the thread has ended
    }
  }
}
