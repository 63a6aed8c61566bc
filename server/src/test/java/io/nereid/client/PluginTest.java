package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.Model;
import io.nereid.NereidOptions;
import io.nereid.model.PluginOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Plug-ins for Triton, as clients and programs see them: the backends "probe" and "caller" of
 * native/test/triton.
 */
class PluginTest {

  /** Where the native tests of the build leave them. */
  private static final Path BUILT = Path.of("..", "build", "release", "test", "triton");

  @TempDir private Path directory;
  private NereidServer server;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(
        Files.exists(BUILT.resolve("libtriton_probe.so")),
        "the native tests were not built, and with them the plug-ins");
    plugin("probe");
    plugin("caller");
    model("probe", "backend: \"probe\" max_batch_size: 8");
    model(
        "stream",
        "backend: \"probe\" max_batch_size: 8 model_transaction_policy { decoupled: true }");
    model("caller", "backend: \"caller\" max_batch_size: 8");
    model("ours", "backend: \"identity\"");
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withGrpc(GrpcOptions.DEFAULT)
                .withRepository(
                    RepositoryOptions.builder()
                        .repository(directory.resolve("models"))
                        .explicit("*")
                        .build())
                .withRuntime(
                    NereidOptions.builder()
                        .plugins(
                            PluginOptions.builder()
                                .backendDirectory(directory.resolve("backends"))
                                .backend("probe", "colour", "blue")
                                .build())
                        .build()));
  }

  @AfterEach
  void stop() {
    if (server != null) {
      ServerFixture.await(() -> server.nereid().poolStatistics().liveBuffers() == 0);
      server.close();
    }
  }

  private void plugin(String name) throws IOException {
    String library = "libtriton_" + name + ".so";
    Path to = Files.createDirectories(directory.resolve("backends").resolve(name));
    Files.copy(BUILT.resolve(library), to.resolve(library));
  }

  private void model(String name, String settings) throws IOException {
    Path to = Files.createDirectories(directory.resolve("models").resolve(name));
    Files.createDirectories(to.resolve("1"));
    Files.writeString(
        to.resolve("config.pbtxt"),
        settings
            + """

            input { name: "INPUT0" data_type: TYPE_INT32 dims: [ -1 ] }
            output { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ -1 ] }
            """);
  }

  private InferenceClient connect(String protocol) {
    return InferenceClient.connect(
        protocol.equals("http")
            ? "http://127.0.0.1:" + server.httpPort()
            : "grpc://127.0.0.1:" + server.grpcPort().orElseThrow());
  }

  private static InferRequest.Builder ints(String model, int... values) {
    return InferRequest.builder(model).input("INPUT0", Tensor.ofInts(values, 1, values.length));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void idsAndParametersGoToABackendAndComeBack(String protocol) {
    InferRequest request =
        ints("probe", 4, 5)
            .id("a request")
            .parameter("do", "read")
            .parameter("text", "größer")
            .parameter("number", -7)
            .parameter("truth", true)
            .build();
    try (InferenceClient client = connect(protocol);
        InferResponse response = client.infer(request)) {
      assertArrayEquals(new int[] {4, 5}, response.output("OUTPUT0").toIntArray());
      Map<String, Object> parameters = response.parameters();
      assertEquals("", parameters.get("wrong"), "what the backend found wrong");
      assertEquals("a request", parameters.get("id"));
      assertEquals("größer", parameters.get("got text"));
      assertEquals(-7L, ((Number) parameters.get("got number")).longValue());
      assertEquals(true, parameters.get("got truth"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void whatABackendFailsWithIsTheRequests(String protocol) {
    try (InferenceClient client = connect(protocol)) {
      for (Map.Entry<Long, StatusCode> code :
          Map.of(3L, StatusCode.INVALID_ARGUMENT, 4L, StatusCode.UNAVAILABLE).entrySet()) {
        InferRequest request =
            ints("probe", 1).parameter("do", "fail").parameter("code", code.getKey()).build();
        var failure = assertThrows(InferenceException.class, () -> client.infer(request));
        assertEquals(code.getValue(), failure.code());
        assertTrue(failure.getMessage().contains("it did not want to"), failure.getMessage());
      }
      client.infer(ints("probe", 1).build()).close();
    }
  }

  private static InferRequest asking(String target, int... values) {
    return ints("caller", values).parameter("do", "call").parameter("target", target).build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void aBackendAsksOtherModels(String protocol) {
    try (InferenceClient client = connect(protocol)) {
      InferRequest known = asking("ours", 1, 2, 3);
      try (InferResponse response = client.infer(known)) {
        assertArrayEquals(new int[] {1, 2, 3}, response.output("OUTPUT0").toIntArray());
      }
      InferRequest unknown = asking("nobody", 1);
      var failure = assertThrows(InferenceException.class, () -> client.infer(unknown));
      assertEquals("the target is not ready", failure.getMessage());
    }
  }

  @Test
  void aDecoupledModelAnswersAsOftenAsItLikes() {
    InferRequest request =
        ints("stream", 8, 9).parameter("do", "stream_late").parameter("count", 3).build();
    List<Long> indices = new ArrayList<>();
    try (InferenceClient client = connect("grpc");
        InferStream stream = client.openStream()) {
      stream.send(request);
      while (indices.size() < 3) {
        try (InferResponse response = stream.next()) {
          assertArrayEquals(new int[] {8, 9}, response.output("OUTPUT0").toIntArray());
          indices.add(((Number) response.parameters().get("index")).longValue());
        }
      }
    }
    assertEquals(List.of(0L, 1L, 2L), indices);
  }

  @Test
  void aProgramThatEmbedsHasThemToo() {
    Model probe = server.nereid().model("probe");
    int[][] values = {{1, 2}, {3, 4}};
    try (var request =
            probe
                .newRequest()
                .parameter("do", "late")
                .input("INPUT0", io.nereid.tensor.Tensor.ofArray(values));
        var response = request.infer()) {
      assertArrayEquals(values, response.output("OUTPUT0").toArray(int[][].class));
      assertEquals("", response.parameters().get("wrong"));
    }
    try (var request =
        probe
            .newRequest()
            .parameter("do", "missing")
            .input("INPUT0", io.nereid.tensor.Tensor.ofArray(values))) {
      NereidException failure = assertThrows(NereidException.class, request::infer);
      assertEquals(StatusCode.INTERNAL, failure.code());
      assertTrue(failure.getMessage().contains("probe"), failure.getMessage());
    }
  }

  @Test
  void metricsOfABackendComeAndGoWithItsModel() {
    assertTrue(server.nereid().pluginMetrics().contains("model=\"probe\""));
    server.nereid().repository().unload("probe", false);
    assertFalse(server.nereid().pluginMetrics().contains("model=\"probe\""));
  }
}
