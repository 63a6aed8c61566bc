package io.nereid.server.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Failures that no model sees are in the metrics, and a failed reload does not hide a model. */
class TroubleMetricsTest {

  private static final String GOOD =
      """
      backend: "identity"
      max_batch_size: 8
      input { name: "IN" data_type: TYPE_FP32 dims: 1 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 1 }
      """;
  private static final String ANSWERS = "nereid_http_requests_total";
  private static final String INFER = "/v2/models/{model}/infer";

  @TempDir private Path models;
  private final HttpClient client = HttpClient.newHttpClient();
  private NereidServer server;

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private void start() {
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRepository(
                    RepositoryOptions.builder().repository(models).explicit("*").build())
                .withHttp(HttpOptions.DEFAULT.withPort(0))
                .withGrpc(GrpcOptions.DEFAULT.withPort(0))
                .withMetrics(MetricsOptions.DEFAULT.withPort(0))
                .withExitOnError(false));
  }

  private void write(String model, String config) throws IOException {
    Path folder = Files.createDirectories(models.resolve(model).resolve("1"));
    Files.writeString(folder.resolveSibling("config.pbtxt"), config);
  }

  private int http(String method, String path, String body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.httpPort() + path))
            .timeout(Duration.ofSeconds(60))
            .method(method, BodyPublishers.ofString(body))
            .build();
    return client.send(request, BodyHandlers.discarding()).statusCode();
  }

  private Exposition scrape() throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.metricsPort().orElseThrow() + "/metrics");
    return Exposition.parse(
        client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body());
  }

  private Exposition await(double wanted, String name, String... labels) throws Exception {
    return Exposition.await(this::scrape, wanted, name, labels);
  }

  @Test
  void refusedRequestsAreCounted() throws Exception {
    write("good", GOOD);
    start();
    String wrong =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT8\",\"shape\":[1,1],\"data\":[1]}]}";
    for (int i = 0; i < 3; i++) {
      assertEquals(400, http("POST", "/v2/models/good/infer", wrong));
    }
    assertEquals(404, http("POST", "/v2/models/none/infer", wrong));
    assertEquals(404, http("GET", "/nowhere", ""));
    assertEquals(405, http("BREW", "/v2/models/good/infer", ""));
    await(3, ANSWERS, "method", "POST", "route", INFER, "status", "400");
    await(1, ANSWERS, "method", "POST", "route", INFER, "status", "404");
    await(1, ANSWERS, "method", "GET", "route", "unknown", "status", "404");
    Exposition metrics = await(1, ANSWERS, "method", "other", "route", INFER, "status", "405");
    assertEquals("counter", metrics.family(ANSWERS).type());
    assertTrue(
        metrics.value(
                "nereid_http_request_seconds_total",
                "method",
                "POST",
                "route",
                INFER,
                "status",
                "400")
            > 0);
  }

  @Test
  void portOfHttpSaysWhereMetricsAre() throws Exception {
    start();
    URI uri = URI.create("http://127.0.0.1:" + server.httpPort() + "/metrics");
    String body = client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    assertEquals(
        "{\"error\":\"Not Found: metrics are served at port "
            + server.metricsPort().orElseThrow()
            + "\"}",
        body);
  }

  @Test
  void failedCallsAreCounted() throws Exception {
    start();
    String url = "grpc://localhost:" + server.grpcPort().orElseThrow();
    try (InferenceClient calls = InferenceClient.connect(url)) {
      assertTrue(calls.serverLive());
      for (int i = 0; i < 2; i++) {
        assertThrows(InferenceException.class, () -> calls.modelMetadata("none"));
      }
    }
    String service = "inference.GRPCInferenceService/";
    String name = "nereid_grpc_requests_total";
    await(1, name, "method", service + "ServerLive", "code", "OK");
    await(2, name, "method", service + "ModelMetadata", "code", "NOT_FOUND");
  }

  @Test
  void modelThatNeverLoadedIsSeen() throws Exception {
    write("good", GOOD);
    write("broken", GOOD.replace("identity", "nothing"));
    start();
    assertEquals(503, http("GET", "/v2/health/ready", ""));
    Exposition metrics = scrape();
    assertEquals(
        1, metrics.value("nereid_model_state", "model", "good", "version", "1", "state", "READY"));
    assertEquals(
        1,
        metrics.value("nereid_model_state", "model", "broken", "version", "1", "state", "FAILED"));
    assertTrue(
        metrics.family("nereid_model_load_failures_total").samples().keySet().stream()
            .anyMatch(series -> series.labels().containsValue("broken")));
    assertTrue(metrics.value("nereid_model_load_seconds", "model", "good", "version", "1") > 0);
    assertEquals(0, metrics.value("nereid_server_ready"));
  }

  @Test
  void failedReloadLeavesTheServerReady() throws Exception {
    write("good", GOOD);
    start();
    assertEquals(200, http("GET", "/v2/health/ready", ""));
    for (String broken : new String[] {"max_batch: 3", GOOD.replace("TYPE_FP32", "TYPE_FP23")}) {
      write("good", broken);
      assertEquals(400, http("POST", "/v2/repository/models/good/load", ""));
      assertEquals(200, http("GET", "/v2/models/good/ready", ""));
      assertEquals(200, http("GET", "/v2/health/ready", ""));
    }
    Files.createDirectories(models.resolve("good").resolve("2"));
    write("good", GOOD + "version_policy { specific { versions: [1, 2, 3] } }");
    http("POST", "/v2/repository/models/good/load", "");
    assertEquals(200, http("GET", "/v2/health/ready", ""));
    Exposition metrics = scrape();
    assertEquals(1, metrics.value("nereid_server_ready"));
    assertTrue(
        metrics.family("nereid_model_load_failures_total").samples().keySet().stream()
            .anyMatch(series -> series.labels().containsValue("good")));
  }
}
