package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.types.DataType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The load generator as a library: a program on Java 17, where there is one, loads a server. */
class LoadTestTest {

  private static final Path JAVA =
      Path.of(System.getProperty("java17.home", System.getProperty("java.home")), "bin", "java");

  private static final String PROGRAM =
      """
      import io.nereid.perf.LoadTest;

      public class Load {
        public static void main(String[] args) throws Exception {
          try (LoadTest load = LoadTest.start(args[0], "echo", "random", 4)) {
            for (long requests = 0; requests < 100; Thread.sleep(1)) {
              requests += load.next().requests();
              load.firstError().ifPresent(error -> { throw new IllegalStateException(error); });
            }
          }
          System.out.println("answered on " + Runtime.version().feature());
        }
      }
      """;

  @Test
  void programOnJava17LoadsAServer(@TempDir Path directory) throws Exception {
    Path program = Files.writeString(directory.resolve("Load.java"), PROGRAM);
    try (PerfFixture fixture =
        new PerfFixture(directory, List.of()).identity("echo", DataType.FP32, 8, 4)) {
      Process process =
          new ProcessBuilder(
                  JAVA.toString(),
                  "-cp",
                  System.getProperty("java.class.path"),
                  program.toString(),
                  "http://" + fixture.http())
              .redirectErrorStream(true)
              .start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertEquals("answered on " + version(), said.strip());
      assertEquals(0, process.waitFor());
    }
  }

  private static String version() throws Exception {
    String release = Files.readString(JAVA.resolveSibling("../release"));
    return release.replaceAll("(?s).*JAVA_VERSION=\"(\\d+).*", "$1");
  }
}
