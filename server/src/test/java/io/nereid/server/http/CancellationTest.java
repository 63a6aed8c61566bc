package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.QueuePolicy;
import io.nereid.types.DataType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Requests whose clients go away, and servers that are busy or stop. */
class CancellationTest {

  private static final String BODY =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}";

  private static final byte[] INFER =
      RawClient.request("/v2/models/gate/infer", "", BODY.getBytes(StandardCharsets.US_ASCII));

  @Test
  void aClientThatGoesAwayTakesItsRequestWithIt() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate);
        RawClient first = server.connect();
        RawClient waiting = server.connect()) {
      first.send(INFER);
      gate.awaitBatch();
      waiting.send(INFER);
      TestServer.await(() -> server.statistics("gate").pendingCount() == 1, "nothing waits");
      waiting.hangUp();
      TestServer.await(
          () -> server.statistics("gate").failCancelled() == 1, "the waiting one stays");
      assertEquals(0, server.statistics("gate").pendingCount());
      gate.open(1);
      first.receive().expect(200);
      assertEquals(1, server.statistics("gate").success().count());
    }
  }

  @Test
  void aRunningRequestHearsOfIt() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate);
        RawClient client = server.connect()) {
      client.send(INFER);
      gate.awaitBatch();
      client.socket().setSoLinger(true, 0); // a reset, as of a client that crashed
      client.hangUp();
      TestServer.await(() -> gate.sawCancel, "the backend was not told");
      gate.open(1);
    }
  }

  @Test
  void requestsPipelinedBehindARunningOneAreKept() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate);
        RawClient client = server.connect()) {
      client.send(INFER);
      gate.awaitBatch();
      byte[] get =
          "GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
      for (int i = 0; i < get.length; i++) {
        client.send(new byte[] {get[i]});
        Thread.sleep(5);
      }
      gate.open(1);
      assertTrue(client.receive().expect(200).text().contains("[1.0,2.0]"));
      assertEquals("{\"live\":true}", client.receive().expect(200).text());
    }
  }

  @Test
  void aFullQueueIsToldAndHealthStillAnswers() throws Exception {
    GateBackend gate = new GateBackend();
    ModelSpec.Builder model =
        ModelSpec.builder("gate")
            .backend(gate)
            .inline(false)
            .dynamicBatching(
                DynamicBatching.builder()
                    .queuePolicy(QueuePolicy.DEFAULT.withMaxQueueSize(1))
                    .build())
            .input("IN", DataType.FP32, -1, -1)
            .output("OUT", DataType.FP32, -1, -1);
    try (TestServer server = new TestServer().load(model);
        RawClient running = server.connect();
        RawClient waiting = server.connect();
        RawClient refused = server.connect()) {
      running.send(INFER);
      gate.awaitBatch();
      waiting.send(INFER);
      TestServer.await(() -> server.statistics("gate").pendingCount() == 1, "nothing waits");
      RawClient.Response response = refused.send(INFER).receive().expect(503);
      assertTrue(response.text().contains("Exceeds maximum queue size"), response.text());
      assertEquals("1", response.fields().get("retry-after"));
      refused.get("/v2/health/ready").expect(200);
      gate.open(2);
      running.receive().expect(200);
      waiting.receive().expect(200);
    }
  }

  @Test
  void aTimeoutInTheQueueIsTold() throws Exception {
    GateBackend gate = new GateBackend();
    ModelSpec.Builder model =
        ModelSpec.builder("gate")
            .backend(gate)
            .inline(false)
            .dynamicBatching(
                DynamicBatching.builder()
                    .queuePolicy(QueuePolicy.DEFAULT.withAllowTimeoutOverride(true))
                    .build())
            .input("IN", DataType.FP32, -1, -1)
            .output("OUT", DataType.FP32, -1, -1);
    try (TestServer server = new TestServer().load(model);
        RawClient running = server.connect();
        RawClient waiting = server.connect()) {
      running.send(INFER);
      gate.awaitBatch();
      String impatient = BODY.replace("\"inputs\"", "\"parameters\":{\"timeout\":1000},\"inputs\"");
      RawClient.Response response = waiting.post("/v2/models/gate/infer", impatient).expect(503);
      assertTrue(response.text().contains("Request timeout expired"), response.text());
      gate.open(1);
      running.receive().expect(200);
    }
  }

  @Test
  void aServerThatStopsFinishesWhatHasBegun() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate);
        RawClient running = server.connect();
        RawClient other = server.connect()) {
      other.get("/v2/health/ready").expect(200);
      running.send(INFER);
      gate.awaitBatch();
      Thread stopping = new Thread(() -> server.http().stop(TestServer.PATIENCE));
      stopping.start();
      TestServer.await(() -> !server.isServing(), "it still accepts");
      RawClient.Response ready = other.get("/v2/health/ready").expect(503);
      assertEquals("{\"ready\":false,\"live\":true}", ready.text());
      assertTrue(other.isClosedByServer());
      gate.open(1);
      RawClient.Response response = running.receive().expect(200);
      assertEquals("close", response.fields().get("connection"));
      stopping.join();
    }
  }

  @Test
  void aRequestThatDoesNotEndIsGivenUpInTime() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate);
        RawClient running = server.connect();
        RawClient waiting = server.connect()) {
      running.send(INFER);
      gate.awaitBatch();
      waiting.send(INFER);
      TestServer.await(() -> server.statistics("gate").pendingCount() == 1, "nothing waits");
      assertEquals(false, server.http().stop(Duration.ofMillis(100)));
      assertEquals(1, server.statistics("gate").executingCount());
      gate.open(1);
    }
  }
}
