package io.nereid.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Shared memory of processes that are ended. */
class SharedAreaTest {

  @Test
  void noneIsMadeWhileTheProcessEnds() throws Exception {
    Process process = JavaProcess.start(Ending.class);
    String printed = new String(process.getInputStream().readAllBytes());
    assertEquals("the process ends\n", printed);
    try (DirectoryStream<Path> left =
        Files.newDirectoryStream(Path.of("/dev/shm"), "nereid-perf-" + process.pid() + "-*")) {
      assertFalse(left.iterator().hasNext(), "shared memory is left");
    }
  }

  /** Makes shared memory while it ends. */
  static final class Ending {

    private Ending() {}

    public static void main(String[] arguments) {
      Runtime.getRuntime().addShutdownHook(new Thread(Ending::make));
    }

    private static void make() {
      try {
        SharedArea.create(null, List.of(), Map.of(), 0);
      } catch (PerfException e) {
        System.out.println(e.getMessage());
      }
    }
  }
}
