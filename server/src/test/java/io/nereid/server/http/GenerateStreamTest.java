package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Streams of events: when they come, how they end, and who waits for whom. */
class GenerateStreamTest {

  private static final String EVENT =
      "data: {\"model_name\":\"stream\",\"model_version\":\"1\",\"OUT\":0}\n\n";

  /** More than sockets hold of it. */
  private static final int MANY = 100_000;

  private final StreamBackend backend = new StreamBackend();

  private static byte[] body(int count, int size, String more) {
    return ("{\"COUNT\":" + count + ",\"SIZE\":" + size + more + "}")
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static RawClient send(RawClient client, int count, int size, String more)
      throws IOException {
    byte[] body = body(count, size, more);
    return client.send(RawClient.request("/v2/models/stream/generate_stream", "", body));
  }

  @Test
  void eachResponseIsAnEvent() throws IOException {
    try (TestServer server = new TestServer().load(backend.model());
        RawClient client = server.connect()) {
      for (int count : new int[] {3, 0, 1, 50}) {
        send(client, count, 1, "");
        RawClient.Response head = client.receiveHead().expect(200);
        assertEquals("text/event-stream; charset=utf-8", head.fields().get("content-type"));
        if (count == 0) {
          assertEquals("0", head.fields().get("content-length"));
          continue;
        }
        assertEquals("chunked", head.fields().get("transfer-encoding"));
        assertNull(head.fields().get("content-length"));
        for (int i = 0; i < count; i++) {
          assertEquals(EVENT, client.chunk());
        }
        assertNull(client.chunk());
      }
      client.get("/v2/health/live").expect(200); // the connection goes on
    }
  }

  /** The stream with a model behind it. */
  private static ModelSpec.Builder through() {
    return ModelSpec.builder("through")
        .input("COUNT", DataType.INT32, 1)
        .input("SIZE", DataType.INT32, 1)
        .output("OUT", DataType.UINT8, -1)
        .ensemble(
            new Ensemble(
                List.of(
                    new Ensemble.Step(
                        "stream",
                        OptionalLong.empty(),
                        Map.of("COUNT", "COUNT", "SIZE", "SIZE"),
                        Map.of("OUT", "between")),
                    new Ensemble.Step(
                        "copy",
                        OptionalLong.empty(),
                        Map.of("IN", "between"),
                        Map.of("OUT", "OUT"))),
                2));
  }

  @Test
  void eachResponseOfAnEnsembleIsAnEventWhenItIsThere() throws IOException {
    ModelSpec.Builder copy =
        ModelSpec.builder("copy")
            .backend("identity")
            .input("IN", DataType.UINT8, -1)
            .output("OUT", DataType.UINT8, -1);
    try (TestServer server = new TestServer().load(backend.model()).load(copy).load(through());
        RawClient client = server.connect()) {
      String target = "/v2/models/through/generate_stream";
      client.send(RawClient.request(target, "", body(3, 1, ",\"gate\":true")));
      backend.permits.release();
      client.receiveHead().expect(200);
      for (int i = 0; i < 3; i++) {
        assertEquals(EVENT.replace("stream", "through"), client.chunk());
        backend.permits.release();
      }
      assertNull(client.chunk());
      client.send(RawClient.request(target, "", body(2, 1, ",\"fail\":true")));
      client.receiveHead().expect(200);
      client.chunk();
      client.chunk();
      assertEquals(
          "data: {\"error\":\"in ensemble 'through', step 'stream': it failed after 2\"}\n\n",
          client.chunk());
      assertNull(client.chunk());
    }
    assertEquals(0, backend.cancelled.get());
  }

  @Test
  void anEventIsSentWhenItIsThere() throws IOException {
    try (TestServer server = new TestServer().load(backend.model());
        RawClient client = server.connect()) {
      send(client, 3, 1, ",\"gate\":true");
      backend.permits.release();
      client.receiveHead().expect(200);
      for (int i = 0; i < 3; i++) {
        assertEquals(EVENT, client.chunk());
        assertEquals(0, backend.permits.availablePermits());
        backend.permits.release();
      }
      assertNull(client.chunk());
    }
  }

  /** A whole event, in however many chunks it comes. */
  private static String event(RawClient client) throws IOException {
    StringBuilder event = new StringBuilder(client.chunk());
    while (!event.toString().endsWith("\n\n")) {
      event.append(client.chunk());
    }
    return event.toString();
  }

  @Test
  void largeEventsArriveWhole() throws IOException {
    try (TestServer server = new TestServer().load(backend.model());
        RawClient client = server.connect()) {
      send(client, 2, 300_000, "");
      client.receiveHead().expect(200);
      for (int i = 0; i < 2; i++) {
        String event = event(client);
        assertTrue(event.startsWith(EVENT.substring(0, EVENT.indexOf("0}")) + "[0,0,"));
        assertTrue(event.endsWith(",0]}\n\n"));
        assertEquals(300_000, event.chars().filter(c -> c == '0').count());
      }
      assertNull(client.chunk());
    }
  }

  @Test
  void anOldClientReadsUntilTheEnd() throws IOException {
    try (TestServer server = new TestServer().load(backend.model());
        RawClient client = server.connect()) {
      byte[] body = body(2, 1, "");
      String head = "POST /v2/models/stream/generate_stream HTTP/1.0\r\nContent-Length: ";
      client.send(head + body.length + "\r\n\r\n").send(body);
      RawClient.Response response = client.receiveHead().expect(200);
      assertNull(response.fields().get("transfer-encoding"));
      assertEquals("close", response.fields().get("connection"));
      assertEquals(EVENT + EVENT, client.rest());
    }
  }

  @Test
  void theFirstResponseDecidesOnTheStatus() throws IOException {
    try (TestServer server = new TestServer().load(backend.model());
        RawClient client = server.connect()) {
      send(client, 0, 1, ",\"fail\":true").receiveHead().expect(500);
      assertEquals("data: {\"error\":\"it failed after 0\"}\n\n", client.chunk());
      assertNull(client.chunk());
      send(client, 2, 1, ",\"fail\":true").receiveHead().expect(200);
      assertEquals(EVENT, client.chunk());
      assertEquals(EVENT, client.chunk());
      assertEquals("data: {\"error\":\"it failed after 2\"}\n\n", client.chunk());
      assertNull(client.chunk());
      client.get("/v2/health/live").expect(200);
    }
  }

  @Test
  void aClientThatGoesAwayCancels() throws IOException {
    try (TestServer server = new TestServer().load(backend.model());
        RawClient client = server.connect();
        RawClient other = server.connect()) {
      send(client, 2, 1, ",\"gate\":true");
      backend.permits.release();
      client.receiveHead().expect(200);
      assertEquals(EVENT, client.chunk());
      client.hangUp(); // while the server waits for the second
      TestServer.await(() -> backend.cancelled.get() == 1, "the backend was not told");
      send(other, 1, 1, ",\"gate\":true");
      other.hangUp(); // before the first
      TestServer.await(() -> backend.cancelled.get() == 2, "the backend was not told");
    }
  }

  @Test
  void aSlowReaderHoldsUpTheModel() throws Exception {
    try (TestServer server = new TestServer().load(backend.model());
        RawClient client = server.connect()) {
      send(client, MANY, 10_000, "");
      client.receiveHead().expect(200);
      int before;
      do { // until it makes no more
        before = backend.responded.get();
        Thread.sleep(200);
      } while (backend.responded.get() > before);
      assertTrue(before < MANY / 10, () -> backend.responded + " were made for nobody");
      assertTrue(server.nereid().poolStatistics().liveBuffers() < 20);
      int stopped = before;
      for (int i = 0; i < stopped; i++) {
        assertTrue(event(client).endsWith("]}\n\n"));
      }
      TestServer.await(() -> backend.responded.get() > stopped, "it did not go on");
      client.hangUp();
      TestServer.await(() -> backend.cancelled.get() == 1, "the backend was not told");
    }
  }

  @Test
  void aReaderThatIsTooSlowIsGivenUp() throws Exception {
    HttpLimits patient = HttpLimits.DEFAULT;
    HttpLimits limits =
        new HttpLimits(
            patient.bodyBytes(),
            patient.headBytes(),
            patient.chunkCount(),
            patient.jsonDepth(),
            patient.connectionCount(),
            Duration.ofMillis(300),
            patient.idleTime());
    try (TestServer server = new TestServer(limits).load(backend.model())) {
      TestServer.await(() -> isGivenUp(server), "no stream began");
      // Each write has its own time: a stream may last longer than any of them.
      TestServer.await(() -> lasts(server), "no stream lasts");
    }
  }

  /** Whether a stream that nobody reads began; then it waits for its end. */
  private boolean isGivenUp(TestServer server) {
    int before = backend.cancelled.get();
    try (RawClient client = server.connect()) {
      if (send(client, MANY, 10_000, "").receiveHead().status() != 200) {
        return false;
      }
      TestServer.await(() -> backend.cancelled.get() > before, "it waits for ever");
      return true;
    } catch (IOException e) {
      return false; // a thread was too slow for the server's limit
    }
  }

  /** Whether a stream of several events comes, although its client is not slow. */
  private boolean lasts(TestServer server) {
    TestServer.await(() -> server.statistics("stream").executingCount() == 0, "it goes on");
    backend.permits.drainPermits();
    try (RawClient quick = server.connect()) {
      send(quick, 5, 1, ",\"gate\":true");
      for (int i = 0; i < 5; i++) {
        LockSupport.parkNanos(120_000_000);
        backend.permits.release();
      }
      int events = 0;
      if (quick.receiveHead().status() == 200) {
        while (EVENT.equals(quick.chunk())) {
          events++;
        }
      }
      return events == 5;
    } catch (IOException e) {
      return false; // a thread was too slow for the server's limit
    }
  }

  @Test
  void aServerThatStopsFinishesItsStreams() throws Exception {
    try (TestServer server = new TestServer().load(backend.model());
        RawClient client = server.connect()) {
      send(client, 2, 1, ",\"gate\":true");
      backend.permits.release();
      client.receiveHead().expect(200);
      client.chunk();
      Thread stopping = new Thread(() -> server.http().stop(TestServer.PATIENCE));
      stopping.start();
      TestServer.await(server::isStopping, "it does not stop");
      backend.permits.release();
      assertEquals(EVENT, client.chunk());
      assertNull(client.chunk());
      assertTrue(client.isClosedByServer());
      stopping.join();
    }
  }
}
