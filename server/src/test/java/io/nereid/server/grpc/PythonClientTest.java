package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.server.http.GateBackend;
import io.nereid.types.DataType;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client in another language, with its own gRPC and stubs made from the proto file. */
@Tag("slow")
class PythonClientTest {

  /** The distribution's, which finds the distribution's packages. */
  private static final String PYTHON = "/usr/bin/python3";

  private static final Path PROTO = Path.of("..", "proto", "src", "main", "proto");
  private static final Path CLIENT = Path.of("src", "test", "python", "stock_client.py");

  @Test
  void metadataInferenceStreamsAndCancels(@TempDir Path stubs) throws Exception {
    assumeTrue(
        Files.isExecutable(Path.of(PYTHON))
            && run(stubs, PYTHON, "-c", "import grpc, grpc_tools").exitCode() == 0,
        "python3-grpcio and python3-grpc-tools are not there");
    Run made =
        run(
            stubs,
            PYTHON,
            "-m",
            "grpc_tools.protoc",
            "-I" + PROTO,
            "--python_out=" + stubs,
            "--grpc_python_out=" + stubs,
            "grpc_service.proto",
            "model_config.proto");
    assertEquals(0, made.exitCode(), made.printed());
    GateBackend gate = new GateBackend();
    try (InferFixture server =
        new InferFixture().identity("identity", DataType.FP32).gate(gate).repeat()) {
      String address = URI.create("grpc://" + server.channel().authority()).getAuthority();
      Run client = run(stubs, PYTHON, CLIENT.toString(), stubs.toString(), address);
      assertEquals(0, client.exitCode(), client.printed());
      gate.open(2);
    }
  }

  private record Run(int exitCode, String printed) {}

  private static Run run(Path directory, String... command)
      throws IOException, InterruptedException {
    Path printed = directory.resolve("printed");
    Process process =
        new ProcessBuilder(List.of(command))
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    boolean ended = process.waitFor(60, TimeUnit.SECONDS);
    process.destroyForcibly().waitFor();
    String text = Files.readString(printed, StandardCharsets.UTF_8);
    return new Run(ended ? process.exitValue() : -1, text);
  }
}
