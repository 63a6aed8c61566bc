package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands, on a model that is a file. */
class FileModelCommandTest {

  private static final Path SHIPPED = Path.of("..", "..", "native", "test", "models");

  @TempDir private Path directory;
  private Path echo;
  private final CommandLineRun line = new CommandLineRun();

  @BeforeEach
  void copy() throws Exception {
    echo = Files.copy(SHIPPED.resolve("identity_fp32.onnx"), directory.resolve("echo.onnx"));
    Files.copy(SHIPPED.resolve("identity_int32.onnx"), directory.resolve("other.onnx"));
  }

  @Test
  void inferRunsIt() {
    assertEquals(0, line.run("infer", echo.toString(), "--input", "INPUT0=[[1.5, 2]]"), line.err());
    assertTrue(line.out().contains("1.5"), line.out());
  }

  @Test
  void configShowsWhatItTold() {
    assertEquals(0, line.run("config", echo.toString()), line.err());
    assertTrue(line.out().contains("max_batch_size: 64"), line.out());
    assertTrue(line.out().contains("default_model_filename: \"echo.onnx\""), line.out());
  }

  @Test
  void modelsListsADirectoryOfFiles() {
    assertEquals(0, line.run("models", directory.toString()), line.err());
    assertTrue(line.out().matches("(?s).*echo +1 +READY.*other +1 +READY.*"), line.out());
  }

  @Test
  void perfMeasuresItOnAServerOfItsOwn() {
    for (String protocol : new String[] {"http", "grpc"}) {
      int code =
          line.run(
              "perf",
              echo.toString(),
              "-i",
              protocol,
              "--shape",
              "INPUT0:4",
              "--concurrency-range",
              "1",
              "--warm-up",
              "50",
              "-p",
              "50",
              "-r",
              "3",
              "-s",
              "1000");
      assertEquals(0, code, line.err());
    }
    assertTrue(line.out().contains("echo"), line.out());
  }

  @Test
  void aFileThatIsNotThereIsNamed() {
    assertEquals(1, line.run("infer", directory.resolve("gone.onnx").toString()));
    assertTrue(line.err().contains("gone.onnx"), line.err());
  }

  @Test
  void serveTakesSeveralFiles() throws Exception {
    var arguments = new java.util.ArrayList<>(ServeProcess.arguments());
    arguments.add(echo.toString());
    arguments.add(directory.resolve("other.onnx").toString());
    Process process = ServeProcess.start(Main.class.getName(), arguments);
    StringBuilder screen = new StringBuilder();
    try (BufferedReader printed = process.inputReader()) {
      String read;
      while ((read = printed.readLine()) != null && !read.startsWith("Serving HTTP")) {
        screen.append(read).append('\n');
      }
      while (read != null && !screen.toString().matches("(?s).*echo.*other.*")) {
        screen.append(read).append('\n');
        read = printed.readLine();
      }
      assertTrue(
          screen.toString().matches("(?s).*echo +1 +READY.*other +1 +READY.*"), screen.toString());
    } finally {
      process.destroy();
      process.waitFor();
    }
  }
}
