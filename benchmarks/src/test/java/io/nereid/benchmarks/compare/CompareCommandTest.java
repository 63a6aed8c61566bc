package io.nereid.benchmarks.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.perf.compare.CompareArguments;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class CompareCommandTest {

  @TempDir private Path directory;

  private final StringWriter said = new StringWriter();

  private int execute(String... arguments) {
    CommandLine command = CompareCommand.commandLine();
    command.setErr(new PrintWriter(said));
    return command.execute(arguments);
  }

  @ParameterizedTest
  @CsvSource({
    "--time=5, expected a time such as 90s",
    "--threshold=-3%, expected percent such as 5%",
    "--suite=fastest, 'one of [CORE, JSON, GRPC, HTTP, ONNX, ALL, FAST]'",
    "--frobnicate, Unknown option",
  })
  void wrongUsageIsTold(String argument, String message) {
    assertEquals(
        CompareArguments.USAGE,
        execute("--base", "a", "--candidate", "b", argument),
        said::toString);
    assertTrue(said.toString().contains(message), said::toString);
  }

  @Test
  void aBuildThatIsNotThereIsNoSlowdown() {
    int code =
        execute(
            "--base", directory.toString(),
            "--candidate", directory.toString(),
            "--out", directory.resolve("out").toString());
    assertEquals(CompareArguments.NOT_MEASURED, code, said::toString);
    assertTrue(said.toString().contains("found neither"), said::toString);
  }
}
