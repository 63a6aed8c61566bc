package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.BackendInstance;
import io.nereid.model.ModelSpec;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogFormat;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.jr.ob.JSON;

/** The logging extension, and what requests leave in the logs. */
class LoggingTest {

  private static final String DEFAULTS =
      "{\"log_file\":\"FILE\",\"log_info\":true,\"log_warning\":true,\"log_error\":true,"
          + "\"log_verbose_level\":0,\"log_format\":\"json\"}";

  private static final String INFER = "/v2/models/m/infer";

  @TempDir private Path directory;

  private Path logFile;
  private Path accessFile;
  private LogSettings log;
  private NereidServer server;
  private RawClient client;

  @BeforeEach
  void start() throws IOException {
    logFile = directory.resolve("log");
    accessFile = directory.resolve("access");
    log =
        LogSettings.install(
            new LogValues(true, true, true, 0, LogFormat.JSON), Optional.of(logFile));
    server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withMetrics(MetricsOptions.DEFAULT)
                .withLog(log)
                .withAccessLog(AccessLog.toFile(accessFile, log)));
    client = new RawClient(server.httpPort());
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
    log.close();
  }

  private String settings() throws IOException {
    return client.get("/v2/logging").expect(200).text();
  }

  private String defaults() {
    return DEFAULTS.replace("FILE", logFile.toString());
  }

  @Test
  void settingsAreToldAndChanged() throws IOException {
    assertEquals(defaults(), settings());
    String changed =
        client
            .post(
                "/v2/logging",
                "{\"log_info\":false,\"log_verbose_level\":1,\"log_format\":\"ISO8601\"}")
            .expect(200)
            .text();
    assertEquals(
        defaults()
            .replace("\"log_info\":true", "\"log_info\":false")
            .replace("level\":0", "level\":1")
            .replace("json", "ISO8601"),
        changed);
    assertEquals(changed, settings());
    assertFalse(log.values().info());
    assertEquals(changed, client.post("/v2/logging", "").expect(200).text());
    client.post("/v2/logging", "{\"log_format\":\"text\"}").expect(200);
    assertTrue(settings().contains("\"log_format\":\"default\""), settings());
    String extensions = client.get("/v2").expect(200).text();
    assertTrue(extensions.contains("\"logging\""), extensions);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "{\"log_info\":1}, 400, expected a boolean as 'log_info'",
        "{\"log_info\":null}, 400, got null",
        "{\"log_warning\":\"true\"}, 400, got 'true'",
        "{\"log_error\":[true]}, 400, got an array",
        "{\"log_error\":{}}, 400, got an object",
        "{\"log_verbose_level\":-1}, 400, expected a number from 0 to",
        "{\"log_verbose_level\":1.0}, 400, got 1.0",
        "{\"log_verbose_level\":99999999999999999999}, 400, got 99999999999999999999",
        "{\"log_verbose_level\":\"1\"}, 400, got '1'",
        "{\"log_format\":\"xml\"}, 400, got 'xml'",
        "{\"log_color\":true}, 400, got 'log_color'",
        "`{\"log_info\":false,\"log_info\":true}`, 400, once",
        "`{\"log_info\":false,\"log_error\":2}`, 400, expected a boolean as 'log_error'",
        "[], 400, expected an object",
        "{, 400, failed to parse",
        "`{\"log_info\":false,\"log_file\":\"x\"}`, 501, log file location can not be updated"
      })
  void wrongSettingsChangeNothing(String body, int status, String message) throws IOException {
    String text = client.post("/v2/logging", body).expect(status).text();
    assertTrue(text.contains(message), text);
    assertEquals(defaults(), settings());
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v2/logging", "/v2/trace/setting", "/v2/recording"})
  void unknownSettingsAreRefusedBeforeTheRestComes(String path) throws IOException {
    String head = "POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n";
    String text = client.send(head + "{\"log_color\":\"1\",").receive().expect(400).text();
    assertTrue(text.contains("got 'log_color'"), text);
  }

  @Test
  void otherVerbsAreRefused() throws IOException {
    RawClient.Response response =
        client.send("DELETE /v2/logging HTTP/1.1\r\nHost: a\r\n\r\n").receive().expect(405);
    assertEquals("GET, HEAD, POST", response.fields().get("allow"));
    client.get("/v2/logging/x").expect(404);
  }

  @Test
  void aServerWithoutALogHasNoSuchExtension() throws IOException {
    try (NereidServer other = NereidServer.start(ServerOptions.DEFAULT);
        RawClient asking = new RawClient(other.httpPort())) {
      asking.get("/v2/logging").expect(501);
      asking.post("/v2/logging", "{\"log_info\":false}").expect(501);
      assertFalse(asking.get("/v2").text().contains("\"logging\""));
    }
  }

  // ---- The access log --------------------------------------------------------------------------

  private void load(BackendInstance backend) {
    server
        .nereid()
        .load(
            ModelSpec.builder("m")
                .backend(context -> backend)
                .input("IN", DataType.FP32, -1)
                .output("OUT", DataType.FP32, -1)
                .build());
  }

  private static String body(String id) {
    return "{\"id\":\""
        + id
        + "\",\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1]}]}";
  }

  /** The lines, when there are so many and the server is done. */
  private List<Map<String, Object>> lines(int count) throws IOException {
    TestServer.await(() -> logged(accessFile, count), "there is no line");
    client.close();
    server.close();
    List<Map<String, Object>> lines = new ArrayList<>();
    for (String line : Files.readAllLines(accessFile)) {
      lines.add(JSON.std.mapFrom(line));
    }
    return lines;
  }

  @Test
  void everyRequestHasALine() throws IOException {
    load(batch -> batch.output("OUT", batch.input("IN")));
    String reply = client.post(INFER, body("a b")).expect(200).text();
    client.get("/v2/models/m/versions/1/ready?x=1").expect(200);
    client.get("/v2/nothing").expect(404);
    client.send("HEAD /v2 HTTP/1.0\r\n\r\n");
    while (!client.isClosedByServer()) {
      // Its body does not follow.
    }
    List<Map<String, Object>> lines = lines(4);
    assertEquals(4, lines.size());
    Map<String, Object> infer = lines.getFirst();
    String address = "127.0.0.1:" + client.socket().getLocalPort();
    assertEquals(address, infer.get("client"));
    assertEquals("POST", infer.get("method"));
    assertEquals(INFER, infer.get("path"));
    assertEquals(200, infer.get("status"));
    assertEquals(body("a b").length(), infer.get("bytes_in"));
    assertEquals(reply.length(), infer.get("bytes_out"));
    assertEquals("a b", infer.get("request_id"));
    assertEquals("m", infer.get("model"));
    assertEquals("1", infer.get("version"));
    assertTrue(((Number) infer.get("duration_us")).longValue() > 0);
    Map<String, Object> ready = lines.get(1);
    assertEquals("/v2/models/m/versions/1/ready?x=1", ready.get("path"));
    assertEquals("1", ready.get("version"));
    assertTrue(ready.get("request_id").toString().matches("[0-9a-f]{16}"));
    assertFalse(ready.get("request_id").equals(lines.get(2).get("request_id")));
    assertEquals(404, lines.get(2).get("status"));
    assertEquals("HEAD", lines.get(3).get("method"));
    assertEquals("HTTP/1.0", lines.get(3).get("protocol"));
    assertEquals(0, lines.get(3).get("bytes_out"));
  }

  @Test
  void streamsHaveALineOfTheirOwn() throws IOException {
    StreamBackend backend = new StreamBackend();
    server.nereid().load(backend.model().build());
    client.get("/v2/nothing").expect(404); // whose status is not that of the next
    byte[] body = "{\"id\":\"s\",\"COUNT\":2,\"SIZE\":1}".getBytes(StandardCharsets.US_ASCII);
    client.send(RawClient.request("/v2/models/stream/generate_stream", "", body));
    client.receiveHead().expect(200);
    int length = 0;
    for (String event = client.chunk(); event != null; event = client.chunk()) {
      length += event.length();
    }
    byte[] anonymous = "{\"COUNT\":0,\"SIZE\":1}".getBytes(StandardCharsets.US_ASCII);
    String path = "/v2/models/stream/generate_stream";
    client.send(RawClient.request(path, "X-Request-Id: x-1\r\n", anonymous));
    assertEquals("x-1", id(client.receive().expect(200)));
    String one = "{\"id\":\"g\",\"COUNT\":1,\"SIZE\":1}";
    String reply = client.post("/v2/models/stream/generate", one).expect(200).text();
    client.post("/v2/models/stream/generate", "{\"id\":\"bad\",\"COUNT\":\"x\"}").expect(400);
    List<Map<String, Object>> lines = lines(5);
    assertEquals(
        List.of(404, 200, 200, 200, 400), lines.stream().map(line -> line.get("status")).toList());
    assertEquals(
        List.of("s", "x-1", "g", "bad"),
        lines.stream().skip(1).map(line -> line.get("request_id")).toList());
    assertEquals(length, lines.get(1).get("bytes_out"));
    assertEquals(body.length, lines.get(1).get("bytes_in"));
    assertEquals(0, lines.get(2).get("bytes_out"));
    assertEquals(reply.length(), lines.get(3).get("bytes_out"));
    for (Map<String, Object> line : lines.subList(1, 5)) {
      assertEquals("stream", line.get("model"));
      assertEquals("1", line.get("version"));
    }
  }

  @Test
  void requestsThatCannotBeReadHaveOneToo() throws IOException {
    client.send("GET /v2\tx HTTP/1.1\r\nHost: a\r\n\r\n").receive().expect(400);
    try (RawClient other = new RawClient(server.httpPort())) {
      other.send("POST " + INFER + " HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n{");
    } // and is gone
    List<Map<String, Object>> lines = lines(2);
    // Two connections have no order.
    Map<String, Object> unread = lines.get(lines.getFirst().get("method").equals("-") ? 0 : 1);
    Map<String, Object> left = lines.get(lines.getFirst() == unread ? 1 : 0);
    assertEquals(400, unread.get("status"));
    assertEquals(INFER, left.get("path"));
    // The model is not there, which may have been said before the client went away.
    assertTrue(List.of(404, 499).contains(left.get("status")));
  }

  @Test
  void aConnectionTooManyHasOne() throws IOException {
    Path file = directory.resolve("full");
    HttpLimits one =
        new HttpLimits(
            1 << 20, 16 << 10, 100, 20, 1, Duration.ofSeconds(20), Duration.ofSeconds(20));
    try (NereidServer full =
            NereidServer.start(
                ServerOptions.DEFAULT
                    .withHttp(HttpOptions.DEFAULT.withLimits(one))
                    .withLog(log)
                    .withAccessLog(AccessLog.toFile(file, log)));
        RawClient first = new RawClient(full.httpPort())) {
      first.get("/v2/health/live").expect(200);
      try (RawClient second = new RawClient(full.httpPort())) {
        second.get("/v2/health/live").expect(503);
      }
      TestServer.await(() -> logged(file, 2), "there is no line");
    }
    List<String> lines = Files.readAllLines(file);
    assertEquals(2, lines.size());
    // A line is made when its reply is out: two connections have no order.
    String refusal = lines.get(lines.getFirst().contains(":503,") ? 0 : 1);
    Map<String, Object> line = JSON.std.mapFrom(refusal);
    assertEquals(503, line.get("status"));
    assertEquals("-", line.get("path"));
  }

  private static boolean logged(Path file, int lines) {
    try {
      return Files.readAllLines(file).size() >= lines;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void linesThatWereLeftOutAreAMetric() throws IOException {
    try (RawClient scraper = new RawClient(server.metricsPort().orElseThrow())) {
      String metrics = scraper.get("/metrics").expect(200).text();
      assertTrue(metrics.contains("\nnereid_access_log_dropped_total 0\n"), metrics);
    }
  }

  @Test
  void aClientThatGoesAwayIsSeen() throws IOException {
    load(batch -> batch.output("OUT", batch.input("IN")));
    try (RawClient other = new RawClient(server.httpPort())) {
      other.send(
          "POST " + INFER + " HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{\"id\":\"x\",");
    }
    Map<String, Object> line = lines(1).getFirst();
    assertEquals(499, line.get("status"));
    assertEquals(10, line.get("bytes_in"));
    assertEquals("m", line.get("model"));
  }

  @Test
  void theClientsRequestIdIsSentBack() throws IOException {
    load(batch -> batch.output("OUT", batch.input("IN")));
    byte[] bytes = body("mine").getBytes(StandardCharsets.UTF_8);
    String longest = "x".repeat(ProtocolHead.MAX_REQUEST_ID_LENGTH);
    assertEquals("a-1", id(client.post(INFER, "X-Request-ID: a-1\r\n", bytes)));
    assertEquals(longest, id(client.post(INFER, "x-request-id: " + longest + "\r\n", bytes)));
    assertEquals("b", id(client.post("/v2/none", "X-Request-Id: b\r\n", bytes).expect(404)));
    String compressed = "Accept-Encoding: gzip\r\nX-Request-Id: c\r\n";
    assertEquals("c", id(client.post(INFER, compressed, bytes).expect(200)));
    for (String wrong : new String[] {longest + "x", "a b", "\u00e9", ""}) {
      assertEquals(null, id(client.post(INFER, "X-Request-Id: " + wrong + "\r\n", bytes)));
    }
    assertEquals(null, id(client.post(INFER, "Content-Type: x\r\n", bytes)));
    assertEquals(
        List.of("a-1", longest, "b", "c", "mine", "mine", "mine", "mine", "mine"),
        lines(9).stream().map(line -> line.get("request_id")).toList());
  }

  private static String id(RawClient.Response response) {
    return response.fields().get("x-request-id");
  }

  @Test
  void ourFaultsAreLoggedWithTheRequestId() throws IOException {
    load(batch -> {
      throw new IOException("out of order");
    });
    client.post(INFER, body("seven\\n")).expect(500);
    assertEquals(500, lines(1).getFirst().get("status"));
    List<Map<String, Object>> errors = new ArrayList<>();
    for (String line : Files.readAllLines(logFile)) {
      Map<String, Object> entry = JSON.std.mapFrom(line);
      if (entry.get("level").equals("ERROR")) {
        errors.add(entry);
      }
    }
    assertEquals(1, errors.size(), errors.toString());
    String message = (String) errors.getFirst().get("message");
    assertTrue(message.startsWith("request seven\n failed, POST /v2/models/m/infer: "), message);
    assertTrue(message.contains("out of order"), message);
  }
}
