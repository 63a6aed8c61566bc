package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.jr.ob.JSON;

/** Everything but infer, on a repository in control mode explicit. */
class EndpointsTest {

  private static final String CONFIG =
      """
      backend: "identity"
      max_batch_size: 4
      input { name: "IN" data_type: TYPE_FP32 dims: [ 2, -1 ] }
      output { name: "OUT" data_type: TYPE_FP32 dims: [ 2, -1 ] }
      version_policy { all {} }
      """;

  @TempDir Path repository;
  private TestServer server;
  private RawClient client;

  @BeforeEach
  void start() throws IOException {
    for (String version : new String[] {"1", "3"}) {
      Files.createDirectories(repository.resolve("m").resolve(version));
    }
    Files.writeString(repository.resolve("m/config.pbtxt"), CONFIG);
    Files.createDirectories(repository.resolve("broken/1"));
    Files.writeString(repository.resolve("broken/config.pbtxt"), "backend: \"none\"");
    server =
        new TestServer(
            RepositoryOptions.builder().repository(repository).explicit("m").build(),
            HttpLimits.DEFAULT);
    client = server.connect();
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
  }

  private static Map<String, Object> parse(RawClient.Response response) {
    assertEquals("application/json", response.fields().get("content-type"));
    return JSON.std.mapFrom(response.text());
  }

  @Test
  void healthHasNoBodyWhereThatIsAsked() throws IOException {
    try (TestServer without = new TestServer(HttpOptions.DEFAULT.withHealthBodies(false));
        RawClient one = without.connect()) {
      for (String path : List.of("live", "ready")) {
        RawClient.Response response = one.get("/v2/health/" + path).expect(200);
        assertEquals("", response.text());
        assertEquals("0", response.fields().get("content-length"));
      }
    }
  }

  @Test
  void health() throws IOException {
    assertEquals(Map.of("live", true), parse(client.get("/v2/health/live").expect(200)));
    assertEquals(
        Map.of("live", true, "ready", true), parse(client.get("/v2/health/ready").expect(200)));
    assertEquals(
        Map.of("name", "m", "ready", true), parse(client.get("/v2/models/m/ready").expect(200)));
    client.get("/v2/models/m/versions/3/ready").expect(200);
    client.get("/v2/models/m/versions/2/ready").expect(404);
    client.get("/v2/models/none/ready").expect(404);
  }

  @Test
  void aBrokenModelMakesTheServerUnready() throws IOException {
    client.post("/v2/repository/models/broken/load", "").expect(400);
    RawClient.Response ready = client.get("/v2/health/ready").expect(503);
    assertEquals(Map.of("live", true, "ready", false), parse(ready));
    assertEquals("1", ready.fields().get("retry-after"));
    ready = client.get("/v2/models/broken/ready").expect(503);
    assertEquals(Map.of("name", "broken", "ready", false), parse(ready));
    client.get("/v2/health/live").expect(200);
    assertTrue(
        client.get("/v2/models/broken").expect(503).text().contains("is not at ready state"));
  }

  @Test
  void aFrontendThatEndedMakesTheServerDead() throws IOException {
    server.health().listenerEnded();
    assertEquals(Map.of("live", false), parse(client.get("/v2/health/live").expect(503)));
    assertEquals(
        Map.of("live", false, "ready", false), parse(client.get("/v2/health/ready").expect(503)));
  }

  @Test
  void metadata() throws IOException {
    for (String path : new String[] {"/v2", "/v2/"}) {
      Map<String, Object> metadata = parse(client.get(path).expect(200));
      assertEquals("nereid", metadata.get("name"));
      assertTrue(((List<?>) metadata.get("extensions")).contains("binary_tensor_data"));
    }
    assertEquals(
        "{\"name\":\"m\",\"versions\":[\"1\",\"3\"],\"platform\":\"identity\",\"inputs\":[{\"name\""
            + ":\"IN\",\"datatype\":\"FP32\",\"shape\":[-1,2,-1]}],\"outputs\":[{\"name\":\"OUT\","
            + "\"datatype\":\"FP32\",\"shape\":[-1,2,-1]}]}",
        client.get("/v2/models/m").expect(200).text());
    assertEquals(
        List.of("1"), parse(client.get("/v2/models/m/versions/1").expect(200)).get("versions"));
    assertEquals(Map.of("models", List.of("m")), parse(client.get("/v2/models").expect(200)));
    Map<String, Object> config = parse(client.get("/v2/models/m/config").expect(200));
    assertEquals(4, config.get("max_batch_size"));
  }

  @Test
  void latestIsTheHighestVersion() throws IOException {
    String body =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2,1],\"data\":[1,2]}]}";
    String path = "/v2/models/m/versions/latest";
    assertEquals("3", parse(client.post(path + "/infer", body).expect(200)).get("model_version"));
    client.get(path + "/ready").expect(200);
    assertEquals(
        client.get("/v2/models/m").expect(200).text(), client.get(path).expect(200).text());
    client.get("/v2/models/none/versions/latest").expect(404);
  }

  @Test
  void statistics() throws IOException {
    String body =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[3,2,1],"
            + "\"data\":[1,2,3,4,5,6]}]}";
    client.post("/v2/models/m/versions/1/infer", body).expect(200);
    Map<String, Object> all = parse(client.get("/v2/models/stats").expect(200));
    assertEquals(2, ((List<?>) all.get("model_stats")).size());
    Map<String, Object> one = parse(client.get("/v2/models/m/versions/1/stats").expect(200));
    Map<?, ?> model = (Map<?, ?>) ((List<?>) one.get("model_stats")).getFirst();
    assertEquals("1", model.get("version"));
    assertEquals(3, model.get("inference_count"));
    assertEquals(1, model.get("execution_count"));
    Map<?, ?> stats = (Map<?, ?>) model.get("inference_stats");
    assertEquals(1, ((Map<?, ?>) stats.get("success")).get("count"));
    assertEquals(0, ((Map<?, ?>) stats.get("cache_hit")).get("count"));
    assertEquals(2, ((List<?>) parse(client.get("/v2/models/m/stats")).get("model_stats")).size());
    assertTrue(
        client
            .get("/v2/models/none/stats")
            .expect(400)
            .text()
            .contains("requested model 'none' is not available"));
  }

  @Test
  void theRepository() throws IOException {
    assertEquals(
        "[{\"name\":\"broken\"},{\"name\":\"m\",\"version\":\"1\",\"state\":\"READY\"},"
            + "{\"name\":\"m\",\"version\":\"3\",\"state\":\"READY\"}]",
        client.post("/v2/repository/index", "").expect(200).text());
    client.post("/v2/repository/models/m/unload", "").expect(200);
    RawClient.Response index = client.post("/v2/repository/index", "{\"ready\":true}");
    assertEquals("[]", index.expect(200).text());
    assertTrue(
        client.get("/v2/models/m").expect(404).text().contains("'m' has no available versions"));
    assertEquals(0, client.post("/v2/repository/models/m/load", "").expect(200).body().length);
    client.get("/v2/models/m").expect(200);
    String text = client.post("/v2/repository/models/broken/load", "").expect(400).text();
    assertTrue(text.contains("failed to load 'broken', load failed for model 'broken'"), text);
    text = client.post("/v2/repository/models/none/load", "").expect(404).text();
    assertTrue(text.contains("failed to load 'none', failed to poll from model repository"), text);
  }

  @Test
  void unloadedModelsAreNotMissing() throws IOException {
    Files.createDirectories(repository.resolve("e/1"));
    Files.writeString(
        repository.resolve("e/config.pbtxt"),
        CONFIG.replace("backend: \"identity\"", "platform: \"ensemble\"")
            + """
            ensemble_scheduling {
              step {
                model_name: "m"
                model_version: -1
                input_map { key: "IN" value: "IN" }
                output_map { key: "OUT" value: "OUT" }
              }
            }
            """);
    client.post("/v2/repository/models/e/load", "").expect(200);
    client.post("/v2/repository/models/m/unload", "").expect(200);
    client.post("/v2/repository/models/nobody/unload", "").expect(200);
    client.get("/v2/health/ready").expect(200);
    client.get("/v2/models/e/ready").expect(503);
    String index = client.post("/v2/repository/index", "").expect(200).text();
    assertTrue(index.contains("ensemble 'e' needs model 'm', which is not loaded"), index);
    client.post("/v2/repository/models/m/load", "").expect(200);
    client.get("/v2/models/e/ready").expect(200);
  }

  @Test
  void aConfigurationAndFilesMayBeSentAlong() throws IOException {
    String config =
        "{\\\"backend\\\":\\\"identity\\\",\\\"input\\\":[{\\\"name\\\":\\\"X\\\",\\\"data_type\\\""
            + ":\\\"TYPE_INT8\\\",\\\"dims\\\":[1]}],\\\"output\\\":[{\\\"name\\\":\\\"Y\\\","
            + "\\\"data_type\\\":\\\"TYPE_INT8\\\",\\\"dims\\\":[1]}]}";
    client
        .post("/v2/repository/models/m/load", "{\"parameters\":{\"config\":\"" + config + "\"}}")
        .expect(200);
    assertTrue(client.get("/v2/models/m").expect(200).text().contains("\"name\":\"X\""));
    client.post("/v2/repository/models/m/load", "{}").expect(200);
    assertTrue(client.get("/v2/models/m").expect(200).text().contains("\"name\":\"X\""));
    client.post("/v2/repository/models/m/unload", "{}").expect(200);
    client.post("/v2/repository/models/m/load", "{}").expect(200); // its own again
    assertTrue(client.get("/v2/models/m").expect(200).text().contains("\"name\":\"IN\""));
    String file = Base64.getEncoder().encodeToString("labels".getBytes(StandardCharsets.UTF_8));
    String files = "\"file:1/model.bin\":\"" + file + "\"";
    client
        .post(
            "/v2/repository/models/sent/load",
            "{\"parameters\":{\"config\":\"" + config + "\"," + files + "}}")
        .expect(200);
    client.get("/v2/models/sent/versions/1/ready").expect(200);
    String text =
        client
            .post("/v2/repository/models/sent/load", "{\"parameters\":{" + files + "}}")
            .expect(400)
            .text();
    assertTrue(text.contains("needs parameter 'config'"), text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "index             | {'ready':'x'}       | 400 | Invalid value for 'ready': expected a"
            + " boolean",
        "index             | {                   | 400 | failed to parse the request JSON",
        "index             | []                  | 400 | expected an object",
        "name/index        | {}                  | 501 | 'repository_name' specification is not",
        "name/models/m/load | {}                 | 501 | 'repository_name' specification is not",
        "models/m/load     | {'parameters':{'config':1}}         | 400 | Unable to parse 'config'",
        "models/m/load     | {'parameters':{'config':'{'}}       | 400 | failed to load 'm',",
        "models/m/load     | {'parameters':{'file:x':'!'}}       | 400 | expected base64",
        "models/m/load     | {'parameters':{'other':1}}          | 400 | unrecognized load"
            + " parameter",
        "models/m/load     | {'parameters':{'config':'{}','file:LONG':''}} | 400 | failed to load"
            + " 'm'",
        "models/m/unload   | {'parameters':{'other':1}}          | 400 | unrecognized unload",
        "models/..%2Fm/load | {}                 | 404 | Not Found",
        "models/../load     | {}                 | 404 | Not Found",
        "models/%2E%2E/load | {}                 | 400 | path traversal"
      })
  void aWrongRepositoryRequestIsToldWhy(String path, String body, int status, String message)
      throws IOException {
    String sent = body.replace('\'', '"').replace("LONG", "x".repeat(300));
    String text = client.post("/v2/repository/" + path, sent).expect(status).text();
    assertTrue(text.startsWith("{\"error\":"), text);
    assertTrue(text.contains(message), text);
    client.get("/v2/models/m").expect(200);
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /v2, 'GET, HEAD'",
    "POST, /v2/health/ready, 'GET, HEAD'",
    "POST, /v2/models/m, 'GET, HEAD'",
    "DELETE, /v2/models/m/config, 'GET, HEAD'",
    "POST, /v2/models/stats, 'GET, HEAD'",
    "GET, /v2/models/m/infer, POST",
    "PUT, /v2/models/m/versions/1/infer, POST",
    "GET, /v2/repository/index, POST",
    "GET, /v2/repository/models/m/load, POST"
  })
  void aWrongVerbIsToldTheRightOne(String method, String path, String allow) throws IOException {
    RawClient.Response response =
        client
            .send(method + " " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
            .receive()
            .expect(405);
    assertEquals(allow, response.fields().get("allow"));
    assertEquals("{\"error\":\"Method Not Allowed\"}", response.text());
  }

  @ParameterizedTest
  @CsvSource({
    "/",
    "/v1",
    "/v2x",
    "/v2/health",
    "/v2/health/live/",
    "/v2/models/",
    "/v2/models/m/",
    "/v2/models/m/versions",
    "/v2/models/m/versions/0",
    "/v2/models/m/versions/1.5",
    "/v2/models/m/versions/-1",
    "/v2/models/m/versions/1/infer/x",
    "/v2/models/m/infer/",
    "/v2/repository",
    "/v2/systemsharedmemory",
    "/metrics"
  })
  void anUnknownPathIsNotFound(String path) throws IOException {
    assertEquals("{\"error\":\"Not Found\"}", client.get(path).expect(404).text());
  }
}
