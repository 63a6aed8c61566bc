package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.model.ModelSpec;
import io.nereid.server.wire.WireLimits;
import io.nereid.types.DataType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The thread that reads a connection of HTTP/2 serves what is short, and keeps nobody waiting. */
class ReadingTurnsTest {

  /** More than it takes to find a model quick that was slow at first. */
  private static final int MANY = 300;

  private static final String PATH = "/v2/models/gate/infer";
  private static final String LIVE = "/v2/health/live";
  private static final String INFER =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}";

  /** A server of a model that executes on the thread of its request. */
  private static TestServer server(GateBackend gate) throws Exception {
    return new TestServer()
        .load(
            ModelSpec.builder("gate")
                .backend(gate)
                .inline(true)
                .input("IN", DataType.FP32, -1, -1)
                .output("OUT", DataType.FP32, -1, -1));
  }

  /** Sends so many requests that are answered at once; the next stream. */
  private static int askQuickly(FrameClient client, GateBackend gate) throws Exception {
    gate.open(MANY);
    int stream = 1;
    for (int i = 0; i < MANY; i++, stream += 2) {
      client.post(stream, PATH, INFER).await(stream).expect(200);
      gate.awaitBatch();
    }
    return stream;
  }

  @Test
  void aModelThatWasQuickAndBlocksKeepsNobodyWaiting() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = server(gate);
        FrameClient client = new FrameClient(server.port()).begin()) {
      int stream = askQuickly(client, gate);
      client.post(stream, PATH, INFER);
      gate.awaitBatch();
      client.get(stream + 2, LIVE).expect(200);
      gate.open(1);
      client.await(stream).expect(200);
      client.get(stream + 4, LIVE).expect(200);
    }
  }

  /** Sends so much that a thread of the platform reads it, where the machine is quick enough. */
  private static int makeBusy(FrameClient client, int first) throws Exception {
    int stream = first;
    boolean busy = false;
    for (int i = 0; i < 100 * MANY && !busy; i++, stream += 2) {
      client.post(stream, "/v2/models/identity/infer", INFER).await(stream).expect(200);
      busy = TestServer.hasThread("nrd-http-reader");
    }
    assumeTrue(busy, "it is never busy here");
    return stream;
  }

  @Test
  void aBusyConnectionKeepsNobodyWaiting() throws Exception {
    TestServer.await(() -> !TestServer.hasThread("nrd-http-reader"), "one of other tests reads");
    GateBackend gate = new GateBackend();
    try (TestServer server = server(gate);
        FrameClient client = new FrameClient(server.port()).begin()) {
      server.load(
          ModelSpec.builder("identity")
              .backend("identity")
              .input("IN", DataType.FP32, -1, -1)
              .output("OUT", DataType.FP32, -1, -1));
      int stream = 1;
      for (int i = 0; i < 3; i++) {
        stream = makeBusy(client, stream);
        client.post(stream, PATH, INFER);
        gate.awaitBatch();
        client.get(stream + 2, LIVE).expect(200);
        gate.open(1);
        client.await(stream).expect(200);
        stream += 4;
      }
    }
  }

  @Test
  void aQuickModelThatIsBusyKeepsNobodyWaiting() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = server(gate);
        FrameClient client = new FrameClient(server.port()).begin();
        FrameClient other = new FrameClient(server.port()).begin()) {
      int stream = askQuickly(client, gate);
      other.post(1, PATH, INFER);
      gate.awaitBatch();
      client.post(stream, PATH, INFER);
      TestServer.await(() -> server.statistics("gate").pendingCount() == 1, "it does not wait");
      client.get(stream + 2, LIVE).expect(200);
      gate.open(2);
      client.await(stream).expect(200);
      other.await(1).expect(200);
    }
  }

  /** More requests in one piece than are answered in one, each with the body of its own. */
  @Test
  void whatComesTogetherIsAnsweredTogether() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = server(gate);
        FrameClient client = new FrameClient(server.port()).begin()) {
      int first = askQuickly(client, gate);
      int end = first + 2 * WireLimits.MAX_STREAMS;
      gate.open(WireLimits.MAX_STREAMS);
      ByteArrayOutputStream frames = new ByteArrayOutputStream();
      for (int stream = first; stream < end; stream += 2) {
        byte[] body =
            INFER.replace("[1,2]}", "[" + stream + ",2]}").getBytes(StandardCharsets.US_ASCII);
        byte[] head = FrameClient.block("POST", PATH);
        frames.write(FrameClient.bytes(FrameClient.HEADERS, FrameClient.END_HEADERS, stream, head));
        frames.write(FrameClient.bytes(FrameClient.DATA, FrameClient.END_STREAM, stream, body));
      }
      client.send(frames.toByteArray());
      for (int stream = first; stream < end; stream += 2) {
        FrameClient.Reply reply = client.await(stream).expect(200);
        assertTrue(reply.text().contains("[" + stream + ".0,2.0]"), reply.text());
      }
      assertEquals(MANY + WireLimits.MAX_STREAMS, server.statistics("gate").inferenceCount());
    }
  }

  /** A connection that is never idle ends, too, at whatever moment the server is told to stop. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void aServerThatStopsEndsABusyConnection(long seed) throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = server(gate);
        FrameClient client = new FrameClient(server.port()).begin()) {
      int first = askQuickly(client, gate);
      gate.open(1_000_000);
      Thread busy =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  for (int stream = first; ; stream += 2) {
                    client.post(stream, PATH, INFER).await(stream);
                  }
                } catch (IOException e) {
                  // the server has ended the connection, of which nothing else is said here
                }
              });
      Thread.sleep(Duration.ofNanos(new Random(seed).nextInt(20_000_000)));
      assertTrue(server.http().stop(TestServer.PATIENCE.dividedBy(2)), "it is still under way");
      busy.join();
    }
  }
}
