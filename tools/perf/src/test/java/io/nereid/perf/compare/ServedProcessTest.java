package io.nereid.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.nereid.perf.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers of processes that are ended. */
class ServedProcessTest {

  @TempDir Path directory;

  @Test
  void anAddressIsTakenOnceAllOfItIsPrinted() {
    String first = "MODEL VERSION\nServing HTTP at http://localhost:80";
    assertEquals(Optional.empty(), ServedProcess.servedAt(first));
    assertEquals(Optional.of("http://localhost:8000"), ServedProcess.servedAt(first + "00\n"));
  }

  @Test
  void noServerIsStartedWhileTheProcessEnds() throws Exception {
    Process starter = JavaProcess.start(EndingStarter.class, directory);
    String printed = new String(starter.getInputStream().readAllBytes());
    assertEquals("the process ends\n", printed);
    assertFalse(Files.exists(directory.resolve("server.log")));
  }

  /** Starts a server while it ends. */
  static final class EndingStarter {

    private EndingStarter() {}

    public static void main(String[] arguments) {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> start(Path.of(arguments[0]))));
    }

    private static void start(Path directory) {
      try {
        ServedProcess.start(List.of("/bin/sh", "-c", "exec sleep 100"), directory);
      } catch (MeasurementException | IOException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  @Test
  void aServerEndsWithTheProcessThatStartedIt() throws Exception {
    Process starter = JavaProcess.start(Starter.class, directory);
    try (BufferedReader output = starter.inputReader()) {
      ProcessHandle server = ProcessHandle.of(Long.parseLong(output.readLine())).orElseThrow();
      try {
        starter.destroy();
        starter.waitFor();
        server.onExit().get(2, TimeUnit.MINUTES);
        assertFalse(server.isAlive());
      } finally {
        server.destroyForcibly();
      }
    } finally {
      starter.destroyForcibly();
    }
  }

  /** Starts what says that it serves, prints its id, and waits. */
  static final class Starter {

    private Starter() {}

    public static void main(String[] arguments) throws Exception {
      String server = "echo Serving HTTP at http://localhost:1; exec sleep 1000000";
      ServedProcess process =
          ServedProcess.start(List.of("/bin/sh", "-c", server), Path.of(arguments[0]));
      System.out.println(process.process().pid());
      Thread.sleep(Long.MAX_VALUE);
    }
  }
}
