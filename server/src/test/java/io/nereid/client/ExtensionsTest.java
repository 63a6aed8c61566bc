package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.client.ClientOptions.Compression;
import io.nereid.model.ModelSpec;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcCompression;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings of the server, generate, and compression, with a Nereid server. */
class ExtensionsTest extends ServerFixture {

  private LogSettings log;

  @Override
  String address(NereidServer server) {
    return address("http");
  }

  @Override
  ServerOptions options(ServerOptions standard) {
    log = LogSettings.install(LogValues.DEFAULT, Optional.empty());
    return standard.withLog(log).withGrpc(GrpcOptions.DEFAULT.withCompression(GrpcCompression.LOW));
  }

  @AfterEach
  void closeLog() {
    log.close();
  }

  private String address(String scheme) {
    int port = scheme.equals("http") ? server.httpPort() : server.grpcPort().orElseThrow();
    return scheme + "://127.0.0.1:" + port;
  }

  private InferenceClient connect(String scheme, ClientOptions.Builder options) {
    return InferenceClient.connect(address(scheme), options.build());
  }

  // ---- Settings --------------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void traceSettings(String scheme) {
    try (InferenceClient client = connect(scheme, ClientOptions.builder())) {
      Map<String, List<String>> started = client.traceSettings();
      assertEquals(List.of("OFF"), started.get("trace_level"));
      assertEquals(List.of("1000"), started.get("trace_rate"));
      Map<String, List<String>> changed =
          client.changeTraceSettings("m", Map.of("trace_rate", List.of("7")));
      assertEquals(List.of("7"), changed.get("trace_rate"));
      assertEquals(changed, client.traceSettings("m"));
      assertEquals(started, client.traceSettings());
      // Without values: back to the server's.
      assertEquals(started, client.changeTraceSettings("m", Map.of("trace_rate", List.of())));
      assertEquals(
          List.of("8"),
          client.changeTraceSettings(Map.of("trace_rate", List.of("8"))).get("trace_rate"));
      InferenceException unknown =
          assertThrows(
              InferenceException.class,
              () -> client.changeTraceSettings(Map.of("none", List.of("1"))));
      assertEquals(StatusCode.INVALID_ARGUMENT, unknown.code());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void logSettings(String scheme) {
    try (InferenceClient client = connect(scheme, ClientOptions.builder())) {
      Map<String, Object> started = client.logSettings();
      assertEquals(true, started.get("log_info"));
      assertEquals(0L, started.get("log_verbose_level"));
      assertEquals("default", started.get("log_format"));
      Map<String, Object> changed =
          client.changeLogSettings(Map.of("log_info", false, "log_verbose_level", 1));
      assertEquals(false, changed.get("log_info"));
      assertEquals(1L, changed.get("log_verbose_level"));
      assertEquals(changed, client.logSettings());
      assertEquals(
          started, client.changeLogSettings(Map.of("log_info", true, "log_verbose_level", 0)));
      InferenceException wrong =
          assertThrows(
              InferenceException.class,
              () -> client.changeLogSettings(Map.of("log_info", "perhaps")));
      assertEquals(StatusCode.INVALID_ARGUMENT, wrong.code());
      assertThrows(
          IllegalArgumentException.class,
          () -> client.changeLogSettings(Map.of("log_info", Optional.empty())));
    }
  }

  // ---- Generate --------------------------------------------------------------------------------

  @Test
  void generate() {
    Map<String, Object> response = client.generate("m", Map.of("IN", List.of(1.5, 2.5)));
    assertEquals(List.of(1.5, 2.5), response.get("OUT"));
    assertEquals("m", response.get("model_name"));
    assertEquals("1", response.get("model_version"));
    assertEquals(response, client.generate("m", "1", Map.of("IN", List.of(1.5, 2.5))));
    InferenceException unknown =
        assertThrows(InferenceException.class, () -> client.generate("none", Map.of()));
    assertEquals(StatusCode.NOT_FOUND, unknown.code());
    try (InferenceClient grpc = connect("grpc", ClientOptions.builder())) {
      InferenceException failure =
          assertThrows(InferenceException.class, () -> grpc.generate("m", Map.of()));
      assertEquals(StatusCode.UNIMPLEMENTED, failure.code());
    }
  }

  @Test
  void generateStream() {
    server
        .nereid()
        .load(
            ModelSpec.builder("repeat")
                .backend("repeat")
                .decoupled(true)
                .input("IN", DataType.INT32, -1)
                .input("DELAY", DataType.UINT32, -1)
                .input("WAIT", DataType.UINT32, 1)
                .output("OUT", DataType.INT32, 1)
                .output("IDX", DataType.UINT32, 1)
                .build());
    Map<String, Object> request =
        Map.of("IN", List.of(4, 5, 6), "DELAY", List.of(0, 0, 0), "WAIT", 0);
    List<Object> values = new ArrayList<>();
    try (GenerateStream stream = client.generateStream("repeat", request)) {
      for (Map<String, Object> next = stream.next(); next != null; next = stream.next()) {
        values.add(next.get("OUT"));
      }
      assertNull(stream.next());
    }
    assertEquals(List.of(4L, 5L, 6L), values);
    InferenceException unknown =
        assertThrows(InferenceException.class, () -> client.generateStream("none", request));
    assertEquals(StatusCode.NOT_FOUND, unknown.code());
    assertTrue(unknown.getMessage().contains("none"), unknown::getMessage);
  }

  /** A stream that is closed early cancels what the server does for it. */
  @Test
  void aStreamThatIsLeft() {
    Map<String, Object> request = Map.of("IN", List.of(1.0));
    try (GenerateStream stream = client.generateStream("m", request)) {
      assertEquals("m", stream.next().get("model_name"));
    }
    assertEquals(1.0, client.generate("m", request).get("OUT"));
  }

  // ---- Compression -----------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({
    "http, GZIP, 3", "http, DEFLATE, 3", "grpc, GZIP, 3",
    "http, GZIP, 300000", "http, DEFLATE, 300000", "grpc, GZIP, 300000",
  })
  void compression(String scheme, Compression how, int elements) {
    float[] values = new float[elements];
    Random random = new Random(1);
    for (int i = 0; i < elements; i++) {
      values[i] = i % 3 == 0 ? random.nextFloat() : 1;
    }
    InferRequest request =
        InferRequest.builder("m").input("IN", Tensor.ofFloats(values, 1, elements)).build();
    ClientOptions.Builder options =
        ClientOptions.builder().compressRequests(how).compressReplies(how);
    try (InferenceClient client = connect(scheme, options)) {
      for (int i = 0; i < 3; i++) {
        try (InferResponse response = client.infer(request)) {
          assertArrayEquals(values, response.output("OUT").toFloatArray());
        }
      }
    }
  }

  @Test
  void grpcHasNoDeflate() {
    ClientOptions.Builder options = ClientOptions.builder().compressRequests(Compression.DEFLATE);
    assertThrows(IllegalArgumentException.class, () -> connect("grpc", options));
  }
}
