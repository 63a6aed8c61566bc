package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients that are slow, that are many, or that send too much. */
class LimitsTest {

  private static HttpLimits limits(Duration requestTime, Duration idleTime) {
    return new HttpLimits(100_000, 1024, 10, 20, 3, requestTime, idleTime);
  }

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration SHORT = Duration.ofMillis(500);

  @Test
  void aSlowHeadIsGivenUp() throws IOException {
    try (TestServer server = new TestServer(limits(SHORT, LONG))) {
      TestServer.await(
          () -> isTold(server, "GET /v2 HTTP/1.1\r\nHost: ", false),
          "nobody was told of the limit");
    }
  }

  /** Whether a client that sends no more, or a byte now and then, is told why it is given up. */
  private static boolean isTold(TestServer server, String begun, boolean drips) {
    try (RawClient client = server.connect()) {
      client.send(begun);
      if (drips) {
        Thread.startVirtualThread(() -> drip(client));
      }
      String text = client.receive().expect(408).text();
      assertTrue(text.contains("--http-request-timeout-secs"), text);
      return drips || client.isClosedByServer();
    } catch (IOException e) {
      return false; // the server's own thread was too slow
    }
  }

  private static void drip(RawClient client) {
    try {
      for (int i = 0; i < 1000; i++) {
        Thread.sleep(10);
        client.send("x");
      }
    } catch (IOException | InterruptedException e) {
      // The server had enough of it.
    }
  }

  @Test
  void aDrippingBodyIsGivenUp() throws Exception {
    try (TestServer server = new TestServer(limits(SHORT, LONG)).identity(DataType.FP32)) {
      TestServer.await(
          () -> isTold(server, announcing(10_000), true), "nobody was told of the limit");
      server.awaitNoLiveBuffers();
    }
  }

  @Test
  void anIdleConnectionIsClosed() throws IOException {
    try (TestServer server = new TestServer(limits(LONG, SHORT));
        RawClient silent = server.connect()) {
      TestServer.await(() -> isClosedBehindAReply(server), "no client was answered");
      assertTrue(silent.isClosedByServer());
    }
  }

  private static boolean isClosedBehindAReply(TestServer server) {
    try (RawClient client = server.connect()) {
      return client.get("/v2").status() == 200 && client.isClosedByServer();
    } catch (IOException e) {
      return false; // it was idle for too long before it asked
    }
  }

  @Test
  void aClientThatTakesNoResponseIsGivenUp() throws Exception {
    // More than the kernel keeps for a connection.
    try (TestServer server =
        new TestServer(limits(SHORT, LONG)).load(TestServer.zeros(30_000_000))) {
      TestServer.await(() -> server.dropsUnread(server::connect), "no reply began");
    }
  }

  @Test
  void connectionsBeyondTheLimitAreTold() throws IOException {
    try (TestServer server = new TestServer(limits(LONG, LONG))) {
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        RawClient client = server.connect();
        client.get("/v2").expect(200);
        clients.add(client);
      }
      try (RawClient more = server.connect()) {
        RawClient.Response response = more.receive().expect(503);
        assertTrue(response.text().contains("--http-max-connections"), response.text());
        assertEquals("1", response.fields().get("retry-after"));
      }
      clients.removeFirst().close();
      TestServer.await(server::isServing, "no connection became free");
      for (RawClient client : clients) {
        client.get("/v2").expect(200);
        client.close();
      }
    }
  }

  @Test
  void manyConnectionsAtOnceAreNoMoreThanTheLimit() throws IOException {
    for (int round = 0; round < 20; round++) {
      try (TestServer server = new TestServer(limits(LONG, LONG))) {
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
          clients.add(server.connect());
        }
        int served = 0;
        for (RawClient client : clients) {
          served += client.get("/v2").status() == 200 ? 1 : 0;
        }
        assertEquals(3, served);
        for (RawClient client : clients) {
          client.close();
        }
      }
    }
  }

  /** Tensors of a little less than 1 MiB each, of which none comes. */
  @Test
  void announcedTensorsHoldHalfOfThePool() throws Exception {
    Nereid nereid =
        Nereid.open(
            RepositoryOptions.builder().explicit().build(),
            NereidOptions.builder().poolByteLimit(8 << 20).build());
    List<RawClient> clients = new ArrayList<>();
    try (TestServer server = new TestServer(nereid, HttpLimits.DEFAULT).identity(DataType.FP32)) {
      for (int i = 0; i < 8; i++) {
        long before = nereid.poolStatistics().allocations();
        RawClient client = server.connect();
        clients.add(client);
        InputStream replies = client.socket().getInputStream();
        client.send(announcing((1 << 20) - Float.BYTES));
        while (nereid.poolStatistics().allocations() == before && replies.available() == 0) {
          Thread.onSpinWait();
        }
      }
      TestServer.await(
          () -> nereid.poolStatistics().liveBytes() < 5 << 20,
          "tensors that do not come hold more than half of the pool");
      try (RawClient client = server.connect()) {
        client
            .post(
                "/v2/models/FP32/infer",
                "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,1],"
                    + "\"data\":[1]}]}")
            .expect(200);
      }
      for (RawClient client : clients) {
        client.close();
      }
    }
  }

  /** The head and the JSON part of a request with a tensor of so many bytes. */
  private static String announcing(int bytes) {
    String json =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,%s],"
                .formatted(bytes / Float.BYTES)
            + "\"parameters\":{\"binary_data_size\":%s}}]}".formatted(bytes);
    return "POST /v2/models/FP32/infer HTTP/1.1\r\nHost: a\r\nInference-Header-Content-Length: "
        + json.length()
        + "\r\nContent-Length: "
        + (json.length() + bytes)
        + "\r\n\r\n"
        + json;
  }

  @Test
  void sizesAreLimited() throws IOException {
    try (TestServer server = new TestServer(limits(LONG, LONG)).identity(DataType.FP32);
        RawClient client = server.connect()) {
      String text =
          client.post("/v2/models/FP32/infer", "{\"x\":" + "[".repeat(20)).expect(400).text();
      assertTrue(text.contains("JSON nesting depth exceeds maximum allowed limit (20)"), text);
      StringBuilder chunks = new StringBuilder();
      chunks.append("POST /v2/models/FP32/infer HTTP/1.1\r\nHost: a\r\n");
      chunks.append("Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n");
      chunks.append("1\r\n \r\n".repeat(10));
      text = client.send(chunks.toString()).receive().expect(400).text();
      assertTrue(
          text.contains("Chunked request body exceeds maximum of 10 non-empty chunks."), text);
    }
    try (TestServer server = new TestServer(limits(LONG, LONG)).identity(DataType.FP32);
        RawClient client = server.connect()) {
      client.send("POST /v2/models/FP32/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 100001\r\n");
      String text = client.send("\r\n").receive().expect(413).text();
      assertTrue(text.contains("exceeds the maximum allowed value"), text);
      assertTrue(text.contains("100000 bytes"), text);
      assertTrue(text.contains("--http-max-input-size"), text);
    }
  }
}
