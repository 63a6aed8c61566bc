package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.client.InferRequest;
import io.nereid.client.InferenceClient;
import io.nereid.client.InferenceException;
import io.nereid.client.Tensor;
import io.nereid.model.ModelSpec;
import io.nereid.model.Objective;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.TestServer;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.statistics.ObjectiveStatistics;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

/** Models with an objective, as clients and operators see them. */
class ObjectiveServerTest {

  private static final int MOST_TRIES = 200;

  private static final String BODY =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":[1]}]}";

  private final HttpClient client = HttpClient.newHttpClient();
  private NereidServer server;

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private void start(ServerOptions options) {
    server =
        NereidServer.start(options.withMetrics(MetricsOptions.DEFAULT.withInterval(Duration.ZERO)));
  }

  private static ModelSpec.Builder slow(String name) {
    return ModelSpec.builder(name)
        .backend("identity")
        .maxBatchSize(8)
        .parameter("execute_delay_ms", "20")
        .input("IN", DataType.FP32, 1)
        .output("OUT", DataType.FP32, 1);
  }

  private HttpResponse<String> get(int port, String path) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
        BodyHandlers.ofString());
  }

  private HttpResponse<String> infer(String model) throws Exception {
    URI uri =
        URI.create("http://127.0.0.1:" + server.httpPort() + "/v2/models/" + model + "/infer");
    return client.send(
        HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString(BODY)).build(),
        BodyHandlers.ofString());
  }

  private HttpResponse<String> firstRefusal(String model) throws Exception {
    for (int i = 0; i < MOST_TRIES; i++) {
      HttpResponse<String> response = infer(model);
      if (response.statusCode() != 200) {
        return response;
      }
    }
    throw new AssertionError("nothing was refused");
  }

  /** A request counts as kept a moment after its reply. */
  @SuppressWarnings("unchecked")
  private Map<String, Object> awaitKept(String model, int count) throws Exception {
    TestServer.await(() -> objective(model).kept() >= count, "they are not counted");
    Map<String, Object> told = (Map<String, Object>) statistics(model).get("objective");
    assertEquals(count, told.get("kept"));
    return told;
  }

  private ObjectiveStatistics objective(String model) {
    return server.nereid().model(model).statistics().objective().orElseThrow();
  }

  @SuppressWarnings("unchecked")
  private Map<String, Object> statistics(String model) throws Exception {
    String text = get(server.httpPort(), "/v2/models/" + model + "/stats").body();
    List<Object> all = (List<Object>) JSON.std.mapFrom(text).get("model_stats");
    return (Map<String, Object>) all.getFirst();
  }

  @Test
  void aRequestThatCannotBeInTimeIsToldWhenToComeAgain() throws Exception {
    start(ServerOptions.DEFAULT.withGrpc(GrpcOptions.DEFAULT.withPort(0)));
    server.nereid().load(slow("m").objective(Objective.p99(Duration.ofMillis(1))).build());
    HttpResponse<String> refusal = firstRefusal("m");
    assertEquals(503, refusal.statusCode(), refusal.body());
    assertEquals("1", refusal.headers().firstValue("Retry-After").orElse("none"));
    assertTrue(refusal.body().startsWith("{\"error\":"), refusal.body());
    int port = server.grpcPort().orElseThrow();
    try (InferenceClient grpc = InferenceClient.connect("grpc://127.0.0.1:" + port)) {
      assertEquals(StatusCode.UNAVAILABLE, firstRefusal(grpc).code());
    }
  }

  private static InferenceException firstRefusal(InferenceClient grpc) {
    for (int i = 0; i < MOST_TRIES; i++) {
      try {
        grpc.infer(
            InferRequest.builder("m").input("IN", Tensor.ofFloats(new float[] {1}, 1, 1)).build());
      } catch (InferenceException e) {
        return e;
      }
    }
    throw new AssertionError("nothing was refused");
  }

  @Test
  @SuppressWarnings("unchecked")
  void statisticsTellWhatBecameOfIt() throws Exception {
    start(ServerOptions.DEFAULT);
    server.nereid().load(slow("m").objective(Objective.p99(Duration.ofSeconds(30))).build());
    server.nereid().load(slow("other").build());
    for (int i = 0; i < 5; i++) {
      assertEquals(200, infer("m").statusCode());
      assertEquals(200, infer("other").statusCode());
    }
    assertFalse(statistics("other").containsKey("objective"));
    Map<String, Object> objective = awaitKept("m", 5);
    assertEquals("p99 30s", objective.get("objective"));
    assertEquals(0, objective.get("late"));
    assertEquals(Map.of("backlog", 0, "cost", 0, "waiting", 0), objective.get("refused"));
    List<Map<String, Object>> costs = (List<Map<String, Object>>) objective.get("costs");
    assertEquals(1, costs.getFirst().get("rows"));
    assertTrue(((Number) costs.getFirst().get("mean_ns")).longValue() >= 20_000_000, "" + costs);
  }

  @Test
  void metricsTellWhatBecameOfItWhereThereIsOne() throws Exception {
    start(ServerOptions.DEFAULT);
    server.nereid().load(slow("other").build());
    assertEquals(200, infer("other").statusCode());
    int port = server.metricsPort().orElseThrow();
    assertFalse(get(port, "/metrics").body().contains("nereid_objective"));
    server.nereid().load(slow("m").objective(new Objective(99.9, Duration.ofSeconds(30))).build());
    assertEquals(200, infer("m").statusCode());
    awaitKept("m", 1);
    String metrics = get(port, "/metrics").body();
    String labels = "{model=\"m\",version=\"1\"";
    for (String line :
        List.of(
            "nereid_objective_seconds" + labels + ",quantile=\"0.999\"} 30\n",
            "nereid_objective_kept_total" + labels + "} 1\n",
            "nereid_objective_late_total" + labels + "} 0\n",
            "nereid_objective_refused_total" + labels + ",reason=\"backlog\"} 0\n",
            "nereid_objective_refused_total" + labels + ",reason=\"cost\"} 0\n",
            "nereid_objective_refused_total" + labels + ",reason=\"waiting\"} 0\n",
            "nereid_objective_refused_deadline_total" + labels + "} 0\n",
            "nereid_objective_max_rows" + labels + "} ",
            "nereid_objective_cost_mean_seconds"
                + labels
                + ",kind=\"0\",rows=\"1\",row_elements=\"",
            "nereid_objective_cost_high_seconds" + labels + ",kind=\"0\",rows=\"1\"")) {
      assertTrue(metrics.contains(line), "no " + line + " in\n" + metrics);
    }
    assertFalse(metrics.contains("nereid_objective_kept_total{model=\"other\""), metrics);
  }

  private static final String CONFIG =
      """
      backend: "identity"
      max_batch_size: 8
      input { name: "IN" data_type: TYPE_FP32 dims: 1 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 1 }
      parameters { key: "execute_delay_ms" value { string_value: "2" } }
      parameters { key: "nereid.objective" value { string_value: "p99 30s" } }
      """;

  @Test
  @SuppressWarnings("unchecked")
  void learnedCostsAreThereAfterAReload(@TempDir Path directory) throws Exception {
    Path model = Files.createDirectories(directory.resolve("m"));
    Files.createDirectories(model.resolve("1"));
    Files.writeString(model.resolve("config.pbtxt"), CONFIG);
    start(
        ServerOptions.DEFAULT.withRepository(
            RepositoryOptions.builder().repository(directory).explicit("m").build()));
    for (int i = 0; i < 20; i++) {
      assertEquals(200, infer("m").statusCode());
    }
    Files.writeString(model.resolve("config.pbtxt"), CONFIG.replace("30s", "20s"));
    server.nereid().repository().load("m");
    Map<String, Object> after = (Map<String, Object>) statistics("m").get("objective");
    assertEquals("p99 20s", after.get("objective"));
    assertEquals(0, after.get("kept"));
    List<Map<String, Object>> costs = (List<Map<String, Object>>) after.get("costs");
    assertEquals(1, costs.getFirst().get("rows"));
  }

  @Test
  void timeInTheFrontendIsKeptFree() throws Exception {
    start(ServerOptions.DEFAULT.withGrpc(GrpcOptions.DEFAULT.withPort(0)));
    Objective objective = Objective.p99(Duration.ofSeconds(30));
    server.nereid().load(slow("http").objective(objective).build());
    server.nereid().load(slow("grpc").objective(objective).build());
    int port = server.grpcPort().orElseThrow();
    try (InferenceClient grpc = InferenceClient.connect("grpc://127.0.0.1:" + port)) {
      for (int i = 0; i < 5; i++) {
        assertEquals(200, infer("http").statusCode());
        Tensor input = Tensor.ofFloats(new float[] {1}, 1, 1);
        grpc.infer(InferRequest.builder("grpc").input("IN", input).build());
      }
    }
    for (String model : List.of("http", "grpc")) {
      awaitKept(model, 5);
      Duration outside = objective(model).outside();
      assertTrue(outside.isPositive() && outside.toSeconds() < 30, outside::toString);
    }
  }

  /** Executions of microseconds, on the threads of many callers who interrupt each other. */
  @Test
  @SuppressWarnings("unchecked")
  void aModelOfMicrosecondsRefusesNothing() throws Exception {
    start(
        ServerOptions.DEFAULT.withRepository(
            RepositoryOptions.builder()
                .repository(Path.of("..", "examples", "models"))
                .explicit("digits")
                .objective("digits", Objective.p99(Duration.ofSeconds(30)))
                .build()));
    float[] pixels = new float[64];
    URI uri = URI.create("http://127.0.0.1:" + server.httpPort());
    try (InferenceClient clients = InferenceClient.connect(uri.toString());
        var callers = Executors.newFixedThreadPool(16)) {
      List<Callable<Void>> work =
          Collections.nCopies(
              16,
              () -> {
                for (int i = 0; i < 500; i++) {
                  Tensor image = Tensor.ofFloats(pixels, 1, 8, 8);
                  clients.infer(InferRequest.builder("digits").input("image", image).build());
                }
                return null;
              });
      for (Future<Void> caller : callers.invokeAll(work)) {
        caller.get();
      }
    }
    Map<String, Object> objective = awaitKept("digits", 16 * 500);
    assertEquals(Map.of("backlog", 0, "cost", 0, "waiting", 0), objective.get("refused"));
    for (Map<String, Object> cost : (List<Map<String, Object>>) objective.get("costs")) {
      assertTrue(((Number) cost.get("mean_ns")).longValue() > 100, "" + cost);
    }
  }
}
