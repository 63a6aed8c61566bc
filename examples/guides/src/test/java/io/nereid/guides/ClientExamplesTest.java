package io.nereid.guides;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs of docs/client.md ask a server over HTTP and over gRPC. */
class ClientExamplesTest {

  private static final List<String> SUMS =
      List.of("[2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32]");

  @TempDir private Path directory;

  @Test
  void examplesPrintTheSameOverBothProtocols() throws Exception {
    ServerOptions options =
        ServerOptions.DEFAULT
            .withRepository(
                RepositoryOptions.builder().repository(Path.of("examples", "models")).build())
            .withAllowClientShm(true)
            .withGrpc(GrpcOptions.DEFAULT);
    try (NereidServer server = NereidServer.start(options)) {
      String http = "http://localhost:" + server.httpPort();
      String grpc = "grpc://localhost:" + server.grpcPort().orElseThrow();
      int answered = 0;
      for (String address : List.of(http, grpc)) {
        assertEquals(SUMS, run(0, address));
        answered++;
        assertEquals(
            List.of(
                "true false",
                "nereid",
                "[TensorMetadata[name=INPUT0, datatype=FP32, shape=[-1, -1]]]",
                "1.5",
                "" + answered,
                "NOT_FOUND Request for unknown model: 'none' is not found"),
            run(1, address));
        assertEquals(List.of("1.5"), run(2, address));
        answered++;
      }
      assertEquals(List.of("4", "5", "6"), run(3, grpc));
    }
  }

  private List<String> run(int number, String address) throws Exception {
    return JavaExample.of("docs/client.md", number).run(directory, address);
  }
}
