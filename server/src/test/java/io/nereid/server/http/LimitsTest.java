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
    try (TestServer server = new TestServer(limits(SHORT, LONG));
        RawClient client = server.connect()) {
      client.send("GET /v2 HTTP/1.1\r\nHost: ");
      String text = client.receive().expect(408).text();
      assertTrue(text.contains("--http-request-timeout-secs"), text);
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void aDrippingBodyIsGivenUp() throws Exception {
    try (TestServer server = new TestServer(limits(SHORT, LONG)).identity(DataType.FP32);
        RawClient client = server.connect()) {
      String json =
          "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2500],\"parameters\":"
              + "{\"binary_data_size\":10000}}]}";
      client.send(
          "POST /v2/models/FP32/infer HTTP/1.1\r\nHost: a\r\nInference-Header-Content-Length: "
              + json.length()
              + "\r\nContent-Length: "
              + (json.length() + 10_000)
              + "\r\n\r\n"
              + json);
      Thread dripping =
          Thread.startVirtualThread(() -> {
            try {
              for (int i = 0; i < 1000; i++) {
                client.send("x");
                Thread.sleep(10);
              }
            } catch (IOException | InterruptedException e) {
              // The server had enough of it.
            }
          });
      client.receive().expect(408);
      server.awaitNoLiveBuffers();
      client.hangUp();
      dripping.join();
    }
  }

  @Test
  void anIdleConnectionIsClosed() throws IOException {
    try (TestServer server = new TestServer(limits(LONG, SHORT));
        RawClient client = server.connect();
        RawClient silent = server.connect()) {
      client.get("/v2").expect(200);
      assertTrue(client.isClosedByServer());
      assertTrue(silent.isClosedByServer());
    }
  }

  @Test
  void aClientThatTakesNoResponseIsGivenUp() throws Exception {
    // More than the kernel keeps for a connection. What asks for it is small: however busy the
    // machine is, it is sent in time.
    try (TestServer server =
            new TestServer(limits(SHORT, LONG)).load(TestServer.zeros(30_000_000));
        RawClient client = server.connect()) {
      client.send(TestServer.ASKING_FOR_ZEROS);
      TestServer.await(
          () -> server.statistics("zeros").success().count() == 1, "the request did not run");
      server.awaitNoLiveBuffers(); // while nobody reads
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
      TestServer.await(() -> canConnect(server), "no connection became free");
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

  private static boolean canConnect(TestServer server) {
    try (RawClient client = server.connect()) {
      return client.get("/v2").status() == 200;
    } catch (IOException e) {
      return false; // refused while it was still sending
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
