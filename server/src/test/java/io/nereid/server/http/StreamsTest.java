package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.wire.WireLimits;
import io.nereid.types.DataType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** HTTP/2 by prior knowledge: the same answers as over HTTP/1.1, many at a time. */
class StreamsTest {

  static final String INFER =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}";

  private static final String EVENT =
      "data: {\"model_name\":\"stream\",\"model_version\":\"1\",\"OUT\":0}\n\n";

  static final String ASKING_FOR_ZEROS =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"BOOL\",\"shape\":[1],\"data\":[true]}],"
          + "\"parameters\":{\"binary_data_output\":true}}";

  private static FrameClient connect(TestServer server) throws IOException {
    return new FrameClient(server.port()).begin();
  }

  private static HttpLimits limits(int bodyBytes, Duration requestTime) {
    return new HttpLimits(bodyBytes, 16 << 10, 100, 20, 4, requestTime, Duration.ofMinutes(1));
  }

  private static String describe(int byteSize) {
    return "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"UINT8\",\"shape\":[1,"
        + byteSize
        + "],\"parameters\":{\"binary_data_size\":"
        + byteSize
        + "}}],\"parameters\":{\"binary_data_output\":true}}";
  }

  private static void sendBinary(FrameClient client, int stream, byte[] tensor) throws IOException {
    String json = describe(tensor.length);
    String jsonLength = Integer.toString(json.length());
    client.head(
        stream,
        false,
        "POST",
        "/v2/models/UINT8/infer",
        "inference-header-content-length",
        jsonLength);
    client.data(stream, json.getBytes(StandardCharsets.US_ASCII), false);
    client.data(stream, tensor, true);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5_000, 600_000})
  void tensorsGoBothWays(int size) throws Exception {
    byte[] tensor = new byte[size];
    new Random(size).nextBytes(tensor);
    try (TestServer server = new TestServer().identity(DataType.UINT8);
        FrameClient client = connect(server)) {
      for (int stream = 1; stream < 8; stream += 2) {
        sendBinary(client, stream, tensor);
        FrameClient.Reply reply = client.await(stream).expect(200);
        assertEquals("application/octet-stream", reply.fields.get("content-type"));
        assertNull(reply.fields.get("connection"));
        assertArrayEquals(tensor, reply.binary());
      }
    }
  }

  @Test
  void curlSendsATensorOfManyWindows(@TempDir Path directory) throws Exception {
    byte[] tensor = new byte[40_000_000];
    new Random(1).nextBytes(tensor);
    String json = describe(tensor.length);
    Path body = directory.resolve("body");
    Path reply = directory.resolve("reply");
    Files.write(body, RawClient.concat(json.getBytes(StandardCharsets.US_ASCII), tensor));
    try (TestServer server = new TestServer().identity(DataType.UINT8)) {
      Process curl;
      try {
        curl =
            new ProcessBuilder(
                    "curl",
                    "-sS",
                    "--http2-prior-knowledge",
                    "-o",
                    reply.toString(),
                    "-H",
                    "Inference-Header-Content-Length: " + json.length(),
                    "--data-binary",
                    "@" + body,
                    "http://127.0.0.1:" + server.port() + "/v2/models/UINT8/infer")
                .redirectErrorStream(true)
                .start();
      } catch (IOException e) {
        assumeTrue(false, "curl is not there");
        return;
      }
      String printed = new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int code = curl.waitFor();
      assumeFalse(code == 2 || code == 4, "curl was built without HTTP/2");
      assertEquals(0, code, printed);
      byte[] got = Files.readAllBytes(reply);
      assertArrayEquals(tensor, Arrays.copyOfRange(got, got.length - tensor.length, got.length));
    }
  }

  @Test
  void aClientThatWouldUpgradeStaysWithHttp1() throws Exception {
    try (TestServer server = new TestServer();
        HttpClient client = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://127.0.0.1:" + server.port() + "/v2/health/live");
      HttpResponse<String> response =
          client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
      assertEquals(200, response.statusCode());
      assertEquals(HttpClient.Version.HTTP_1_1, response.version());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /v2/health/live, 200, {\"live\":true}",
    "GET, /v2/nothing, 404, {\"error\":\"Not Found\"}",
    "DELETE, /v2/models/FP32, 405, {\"error\":\"Method Not Allowed\"}",
    "POST, /v2/models/FP32/infer, 400, {\"error\":\"failed to parse",
    "GET, /v2/models/none, 404, {\"error\":\"Request for unknown model: 'none' is not found\"}",
    "GET, /v2/models/FP32/stats?x, 200, {\"model_stats\":[{\"name\":\"FP32\"",
  })
  void answersAreThoseOfHttp1(String method, String path, int status, String start)
      throws Exception {
    try (TestServer server = new TestServer().identity(DataType.FP32);
        FrameClient client = connect(server);
        RawClient old = server.connect()) {
      FrameClient.Reply reply = client.head(1, true, method, path).await(1).expect(status);
      assertTrue(reply.text().startsWith(start), reply.text());
      assertEquals("application/json", reply.fields.get("content-type"));
      RawClient.Response other =
          old.send(method + " " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
              .receive();
      reply.fields.remove(":status");
      other.fields().remove("connection");
      other.fields().remove("date");
      reply.fields.remove("date");
      assertEquals(other.fields(), reply.fields);
      assertEquals(other.text(), reply.text());
    }
  }

  @Test
  void aHeadHasNoBody() throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = connect(server)) {
      FrameClient.Reply reply = client.head(1, true, "HEAD", "/v2").await(1).expect(200);
      assertEquals(0, reply.body.size());
      assertFalse(reply.fields.get("content-length").equals("0"));
    }
  }

  @Test
  void manyStreamsShareAConnection() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate);
        FrameClient client = connect(server)) {
      int count = WireLimits.MAX_STREAMS;
      for (int i = 0; i < count; i++) {
        client.post(2 * i + 1, "/v2/models/gate/infer", INFER, "x-request-id", "r" + i);
      }
      gate.awaitBatch();
      TestServer.await(
          () -> server.statistics("gate").pendingCount() == count - 1, "some do not wait");
      client.head(2 * count + 1, true, "GET", "/v2/health/live");
      assertEquals(FrameClient.REFUSED_STREAM, client.awaitReset(2 * count + 1));
      gate.open(count);
      for (int i = count - 1; i >= 0; i--) {
        FrameClient.Reply reply = client.await(2 * i + 1).expect(200);
        assertEquals("r" + i, reply.fields.get("x-request-id"));
        assertTrue(reply.text().contains("[1.0,2.0]"), reply.text());
      }
      client.get(2 * count + 3, "/v2/health/live").expect(200);
      assertEquals(1, server.http().connectionCount());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aConnectionRefusesStreamsBeyondItsLimitAndGoesOn(boolean settingsWereRead) throws Exception {
    byte[] body = INFER.getBytes(StandardCharsets.US_ASCII);
    try (TestServer server = new TestServer().identity(DataType.FP32);
        FrameClient client = new FrameClient(server.port())) {
      client.sendPreface(FrameClient.LARGE_WINDOW);
      if (settingsWereRead) {
        client.get(1, "/v2/health/live").expect(200);
      }
      int first = 3;
      int beyond = first + 2 * WireLimits.MAX_STREAMS;
      for (int stream = first; stream < beyond + 40; stream += 2) {
        client.head(stream, false, "POST", "/v2/models/FP32/infer");
        client.data(stream, body, stream >= beyond); // too many of them send all of it
      }
      for (int stream = beyond; stream < beyond + 40; stream += 2) {
        assertEquals(FrameClient.REFUSED_STREAM, client.awaitReset(stream));
      }
      byte[] tooMany = FrameClient.block("GET", "/v2/health/live");
      int alone = FrameClient.END_HEADERS | FrameClient.END_STREAM;
      client.send(
          RawClient.concat(
              FrameClient.bytes(FrameClient.HEADERS, alone, beyond + 40, tooMany),
              FrameClient.bytes(FrameClient.HEADERS, alone, first, new byte[0]))); // its trailers
      assertEquals(FrameClient.REFUSED_STREAM, client.awaitReset(beyond + 40));
      client.await(first).expect(200);
      for (int stream = first + 2; stream < beyond; stream += 2) {
        client.data(stream, new byte[0], true);
        client.await(stream).expect(200);
      }
      client.get(beyond + 42, "/v2/health/live").expect(200);
    }
  }

  @Test
  void streamsOfAllConnectionsHaveALimit() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer(limits(1 << 20, Duration.ofSeconds(30))).gate(gate);
        FrameClient client = connect(server)) {
      for (int stream = 1; stream < 9; stream += 2) {
        client.post(stream, "/v2/models/gate/infer", INFER);
      }
      gate.awaitBatch();
      client.head(9, true, "GET", "/v2/health/live");
      assertEquals(FrameClient.REFUSED_STREAM, client.awaitReset(9));
      gate.open(4);
      for (int stream = 1; stream < 9; stream += 2) {
        client.await(stream).expect(200);
      }
      TestServer.await(() -> server.statistics("gate").pendingCount() == 0, "some wait");
    }
  }

  @Test
  void aResetStreamCancelsItsRequestAndNoOther() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate);
        FrameClient client = connect(server)) {
      client.post(1, "/v2/models/gate/infer", INFER);
      gate.awaitBatch();
      client.post(3, "/v2/models/gate/infer", INFER);
      TestServer.await(() -> server.statistics("gate").pendingCount() == 1, "nothing waits");
      client.reset(3);
      TestServer.await(() -> server.statistics("gate").failCancelled() == 1, "it still waits");
      gate.open(1);
      client.await(1).expect(200);
      client.get(5, "/v2/health/live").expect(200);
    }
  }

  @Test
  void aConnectionThatEndsTakesItsRequestsWithIt() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate).identity(DataType.UINT8);
        FrameClient client = connect(server)) {
      client.post(1, "/v2/models/gate/infer", INFER);
      gate.awaitBatch();
      client.post(3, "/v2/models/gate/infer", INFER);
      String json = describe(600_000); // and half of a tensor
      client.head(
          5,
          false,
          "POST",
          "/v2/models/UINT8/infer",
          "inference-header-content-length",
          Integer.toString(json.length()));
      client.data(5, json.getBytes(StandardCharsets.US_ASCII), false);
      client.data(5, new byte[300_000], false);
      TestServer.await(() -> server.statistics("gate").pendingCount() == 1, "nothing waits");
      client.hangUp();
      TestServer.await(() -> server.statistics("gate").failCancelled() == 1, "it still waits");
      TestServer.await(() -> gate.sawCancel, "the backend was not told");
      gate.open(1);
      TestServer.await(() -> server.http().connectionCount() == 0, "the connection is still open");
    }
  }

  @Test
  void eventsComeWhenTheyAreThere() throws Exception {
    StreamBackend backend = new StreamBackend();
    try (TestServer server = new TestServer().load(backend.model());
        FrameClient client = connect(server)) {
      String path = "/v2/models/stream/generate_stream";
      client.post(1, path, "{\"COUNT\":3,\"SIZE\":1,\"gate\":true}");
      for (int i = 0; i < 3; i++) {
        backend.permits.release();
        while (client.reply(1).text().length() < (i + 1) * EVENT.length()) {
          client.next();
        }
        assertEquals(0, backend.permits.availablePermits());
        assertFalse(client.reply(1).complete);
      }
      FrameClient.Reply reply = client.await(1).expect(200);
      assertEquals("text/event-stream; charset=utf-8", reply.fields.get("content-type"));
      assertNull(reply.fields.get("transfer-encoding"));
      assertEquals(EVENT.repeat(3), reply.text());
      client.post(3, path, "{\"COUNT\":0,\"SIZE\":1,\"fail\":true}").await(3).expect(500);
      client.post(5, path, "{\"COUNT\":100,\"SIZE\":1,\"gate\":true}");
      backend.permits.release();
      client.await(FrameClient.DATA, 0);
      client.reset(5);
      TestServer.await(() -> backend.cancelled.get() == 1, "the model goes on");
    }
  }

  @Test
  void aClientSetsThePace() throws Exception {
    try (TestServer server = new TestServer().load(TestServer.zeros(300_000));
        FrameClient client = new FrameClient(server.port()).begin(1000)) {
      client.post(1, "/v2/models/zeros/infer", ASKING_FOR_ZEROS);
      while (client.reply(1).body.size() < 1000) {
        client.next();
      }
      client.get(3, "/v2/health/live").expect(200); // while the other waits
      assertEquals(1000, client.reply(1).body.size());
      client.grant(1, 1 << 20);
      assertEquals(300_000, client.await(1).expect(200).binary().length);
    }
  }

  @Test
  void bodiesHaveTheirLimits() throws Exception {
    try (TestServer server =
            new TestServer(limits(10_000, Duration.ofSeconds(30))).identity(DataType.UINT8);
        FrameClient client = connect(server)) {
      String path = "/v2/models/UINT8/infer";
      client.head(1, false, "POST", path, "content-length", "10001");
      FrameClient.Reply reply = client.await(1).expect(413);
      assertTrue(reply.text().contains("--http-max-input-size"), reply.text());
      assertEquals(0, client.awaitReset(1)); // no error: it need not be sent any more
      client.data(1, new byte[10_001], true); // which was under way
      client.head(3, false, "POST", path, "inference-header-content-length", "0");
      client.data(3, new byte[10_001], false); // of a length that nobody told
      client.await(3).expect(413);
      ByteArrayOutputStream bomb = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(bomb)) {
        gzip.write(new byte[1 << 20]);
      }
      client.head(
          5,
          false,
          "POST",
          path,
          "content-encoding",
          "gzip",
          "inference-header-content-length",
          "0");
      client.data(5, bomb.toByteArray(), true).await(5).expect(413);
      String deep = "[".repeat(10_000 - 20) + "]";
      client.post(7, path, "{\"inputs\":" + deep).await(7).expect(400);
      client.get(9, "/v2/health/live").expect(200);
    }
  }

  @Test
  void bodiesThatDoNotArriveAreGivenUp() throws Exception {
    try (TestServer server =
            new TestServer(limits(1 << 20, Duration.ofMillis(300))).identity(DataType.UINT8);
        FrameClient client = connect(server)) {
      client.head(1, false, "POST", "/v2/models/UINT8/infer").data(1, new byte[] {'{'}, false);
      FrameClient.Reply reply = client.await(1).expect(408);
      assertTrue(reply.text().contains("--http-request-timeout-secs"), reply.text());
      client.get(3, "/v2/health/live").expect(200);
    }
  }

  @Test
  void repliesThatNobodyTakesAreGivenUp() throws Exception {
    try (TestServer server =
            new TestServer(limits(1 << 20, Duration.ofMillis(300)))
                .load(TestServer.zeros(300_000));
        FrameClient client = new FrameClient(server.port()).begin(1000)) {
      client.post(1, "/v2/models/zeros/infer", ASKING_FOR_ZEROS);
      assertTrue(client.awaitReset(1) > 0);
      client.get(3, "/v2/health/live").expect(200);
    }
  }

  @Test
  void aClientThatReadsNothingLosesItsConnection() throws Exception {
    try (TestServer server =
            new TestServer(limits(1 << 20, Duration.ofMillis(300)))
                .load(TestServer.zeros(40_000_000));
        FrameClient client = connect(server)) { // with windows for all of it
      client.post(1, "/v2/models/zeros/infer", ASKING_FOR_ZEROS);
      client.post(3, "/v2/models/zeros/infer", ASKING_FOR_ZEROS);
      TestServer.await(() -> server.http().connectionCount() == 0, "the connection stays");
      server.awaitNoLiveBuffers();
    }
  }

  @Test
  void aClientIsToldToGoOn() throws Exception {
    try (TestServer server = new TestServer().identity(DataType.FP32);
        FrameClient client = connect(server)) {
      client.head(1, false, "POST", "/v2/models/FP32/infer", "expect", "100-continue");
      client.await(FrameClient.HEADERS, 0);
      assertEquals("100", client.reply(1).fields.get(":status"));
      client.data(1, INFER.getBytes(StandardCharsets.US_ASCII), true).await(1).expect(200);
    }
  }

  @Test
  void restrictionsHold() throws Exception {
    AccessControl access =
        AccessControl.of(Restrictions.forHttp(List.of("metadata:X-Key=secret")), Optional.empty());
    try (TestServer server = new TestServer(HttpOptions.DEFAULT.withAccess(access));
        FrameClient client = connect(server)) {
      client.get(1, "/v2").expect(403);
      client.get(3, "/v2", "x-key", "secret").expect(200);
    }
  }

  @Test
  void headsHaveTheirLimit() throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = connect(server)) {
      client.get(1, "/v2", "x-long", "a".repeat(15_900)).expect(200);
      client.get(3, "/v2", "x-long", "a".repeat(16_383)).expect(431);
      client.get(5, "/v2").expect(200);
    }
  }

  @Test
  void rapidResetsEndTheConnection() throws Exception {
    try (TestServer server = new TestServer();
        FrameClient client = connect(server)) {
      try {
        for (int i = 0; i < 2000; i++) {
          client.head(2 * i + 1, true, "GET", "/v2").reset(2 * i + 1);
        }
      } catch (IOException e) {
        // The server had enough.
      }
      assertEquals(FrameClient.ENHANCE_YOUR_CALM, client.awaitGoAway());
      TestServer.await(() -> server.http().connectionCount() == 0, "the connection is still open");
    }
  }

  @Test
  void aServerThatStopsSaysSoAndFinishes() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate);
        FrameClient idle = connect(server);
        FrameClient client = connect(server)) {
      idle.get(1, "/v2/health/ready").expect(200);
      client.post(1, "/v2/models/gate/infer", INFER);
      gate.awaitBatch();
      Thread stopping = new Thread(() -> server.http().stop(Duration.ofSeconds(10)));
      stopping.start();
      assertEquals(0, idle.awaitGoAway());
      assertTrue(idle.isClosedByServer());
      assertEquals(0, client.awaitGoAway());
      gate.open(1);
      client.await(1).expect(200);
      assertTrue(client.isClosedByServer());
      stopping.join();
    }
  }
}
