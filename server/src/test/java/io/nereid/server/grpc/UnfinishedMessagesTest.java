package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.RepositoryModelLoadRequest;
import io.nereid.proto.RepositoryModelLoadResponse;
import io.nereid.server.LoggedLines;
import io.nereid.server.http.FrameClient;
import io.nereid.server.http.RawClient;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Messages that begin to arrive, and do not go on. */
class UnfinishedMessagesTest {

  private static final Duration PATIENT = Duration.ofMinutes(10);
  private static final int MIB = 1 << 20;
  private static final String HEALTH_CHECK = "/" + HealthService.NAME + "/Check";

  private final LoggedLines log = new LoggedLines();

  @AfterEach
  void nothingWasLogged() {
    log.close();
  }

  private static GrpcFixture server(long unfinishedBytes, Duration requestTime) {
    GrpcLimits limits =
        new GrpcLimits(Integer.MAX_VALUE, unfinishedBytes, requestTime, 8192, 100, 100);
    return new GrpcFixture(
        RepositoryOptions.builder().explicit().build(), GrpcOptions.DEFAULT.withLimits(limits));
  }

  private static FrameClient connect(GrpcFixture server) throws IOException {
    return new FrameClient(server.server().port()).begin();
  }

  /** Begins a message of some length, and sends that many bytes of it. */
  private static void begin(FrameClient client, int stream, String method, int length, int sent)
      throws IOException {
    byte[] bytes = ByteBuffer.allocate(5 + sent).position(1).putInt(length).array();
    client.send(GrpcFrames.begun(stream, GrpcFrames.path(method), bytes, false));
  }

  private static void expect(FrameClient client, int stream, String status, String text)
      throws IOException {
    FrameClient.Reply reply = client.await(stream).expect(200);
    assertEquals(status, reply.fields.get("grpc-status"), reply.fields::toString);
    assertTrue(reply.fields.get("grpc-message").contains(text), reply.fields::toString);
  }

  /** A message that is good for any method. */
  private static byte[] unknownField(int byteCount) {
    byte[] unknownField = ByteBuffer.allocate(byteCount).put((byte) 122).array();
    int length = byteCount - 4;
    unknownField[1] = (byte) (length & 0x7F | 0x80);
    unknownField[2] = (byte) (length >> 7 & 0x7F | 0x80);
    unknownField[3] = (byte) (length >> 14);
    return unknownField;
  }

  /** Expects an answer to a message of a size, which names no model to load. */
  private static void expectServed(FrameClient client, int stream, int byteCount)
      throws IOException {
    FrameClient.Reply reply =
        GrpcFrames.call(client, stream, "RepositoryModelLoad", unknownField(byteCount));
    assertEquals("3", reply.fields.get("grpc-status"), reply.fields::toString);
  }

  /** The same where a pause of this machine may take longer than the server allows. */
  private static void awaitServed(GrpcFixture server, int byteCount) {
    InferFixture.await(() -> isServed(server, byteCount), "nothing is served any more");
  }

  private static boolean isServed(GrpcFixture server, int byteCount) {
    try (FrameClient client = connect(server)) {
      return GrpcFrames.call(client, 1, "RepositoryModelLoad", unknownField(byteCount))
          .fields
          .get("grpc-status")
          .equals("3");
    } catch (IOException e) {
      return false; // a frame was late
    }
  }

  @Test
  void aCallWithoutAMessageHasATime() throws IOException {
    try (GrpcFixture server = server(0, Duration.ofMillis(500));
        FrameClient client = connect(server)) {
      client.head(1, false, "POST", GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
      expect(client, 1, "4", "the first message of a call");
      client.head(3, false, "POST", GrpcFrames.path("ModelStreamInfer"), GrpcFrames.FIELDS);
      expect(client, 3, "4", "the first message of a call");
      awaitServed(server, 100_000);
    }
  }

  @Test
  void aHeadHasATime() throws IOException {
    byte[] block = FrameClient.block("POST", GrpcFrames.path("ServerLive"), GrpcFrames.FIELDS);
    byte[] whole = FrameClient.bytes(FrameClient.HEADERS, 0, 1, block); // more is to follow
    try (GrpcFixture server = server(0, Duration.ofMillis(500));
        FrameClient half = connect(server);
        FrameClient open = connect(server)) {
      half.send(Arrays.copyOf(whole, whole.length / 2));
      open.send(whole);
      assertTrue(half.isClosedByServer());
      assertTrue(open.isClosedByServer());
      awaitServed(server, 100_000);
    }
  }

  @Test
  void shareABudget() throws Exception {
    try (GrpcFixture server = server(MIB, PATIENT);
        FrameClient one = connect(server);
        FrameClient other = connect(server)) {
      begin(one, 1, "ModelInfer", 900_000, 400_000);
      expectServed(one, 3, 10_000); // by now all of the other call has been read
      begin(other, 1, "ServerMetadata", 900_000, 400_000);
      begin(other, 3, "ModelStreamInfer", 900_000, 400_000);
      expect(other, 3, "8", "--grpc-max-total-input-size");
      expectServed(other, 5, 10_000); // what comes in one frame needs no budget
      one.reset(1);
      expectServed(one, 5, 500_000); // the place of the one that was given up
      other.hangUp();
      InferFixture.await(() -> server.server().connectionCount() == 1, "it did not go");
      for (int stream = 7; stream < 25; stream += 2) {
        expectServed(one, stream, 1_000_000);
      }
    }
  }

  /** gRPC keeps the only message of a call until the client has closed its side. */
  @Test
  void wholeOnesCountUntilTheirCallIsComplete() throws Exception {
    try (GrpcFixture server = server(MIB, PATIENT);
        FrameClient client = connect(server)) {
      client.head(1, false, "POST", GrpcFrames.path("RepositoryModelLoad"), GrpcFrames.FIELDS);
      client.data(1, GrpcFrames.message(unknownField(600_000)), false);
      client.head(3, false, "POST", GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
      client.data(3, GrpcFrames.message(unknownField(600_000)), false);
      expect(client, 3, "8", "--grpc-max-total-input-size");
      for (int stream = 5; stream < 125; stream += 2) { // each message comes in one frame
        client.head(stream, false, "POST", HEALTH_CHECK, GrpcFrames.FIELDS);
        client.data(stream, GrpcFrames.message(unknownField(10_000)), false);
      }
      expect(client, 123, "8", "--grpc-max-total-input-size");
      client.data(1, new byte[0], true);
      assertEquals("3", client.await(1).fields.get("grpc-status"));
      expectServed(client, 125, 500_000);
    }
  }

  @Test
  void wholeOnesHaveATimeToEndTheirCall() throws Exception {
    try (GrpcFixture server = server(MIB, Duration.ofMillis(500));
        FrameClient client = connect(server)) {
      byte[] nothing = GrpcFrames.message(new byte[0]);
      client.send(GrpcFrames.begun(1, GrpcFrames.path("ModelStreamInfer"), nothing, false));
      client.await(FrameClient.DATA, 0);
      begin(client, 3, "ModelInfer", 100, 100);
      expect(client, 3, "4", "the end of a call's only message");
      client.send(GrpcFrames.begun(5, HEALTH_CHECK, nothing, false));
      expect(client, 5, "4", "--grpc-request-timeout-secs");
      client.data(1, new byte[0], true); // a stream may rest
      assertEquals("0", client.await(1).fields.get("grpc-status"));
    }
  }

  @Test
  void noneIsLargerThanTheBudget() throws Exception {
    try (GrpcFixture server = server(MIB, PATIENT);
        FrameClient client = connect(server)) {
      begin(client, 1, "ModelInfer", 2 * MIB, 1);
      expect(client, 1, "8", "expected a message of at most 1048576 bytes, got 2097152");
    }
  }

  @Test
  void manySmallPiecesTakeMoreThanTheirBytes() throws Exception {
    try (GrpcFixture server = server(MIB, PATIENT);
        FrameClient client = connect(server)) {
      begin(client, 1, "ModelInfer", 900_000, 0);
      for (int i = 0; i < 5_000; i++) {
        client.data(1, new byte[1], false);
      }
      expect(client, 1, "8", "--grpc-max-total-input-size");
    }
  }

  /** What was under way by then is no mistake that ends the connection. */
  @Test
  void manyMayBeRefused() throws Exception {
    try (GrpcFixture server = server(MIB, PATIENT);
        FrameClient client = connect(server)) {
      for (int stream = 1; stream < 40; stream += 2) {
        begin(client, stream, "ModelInfer", 2 * MIB, 900_000);
        expect(client, stream, "8", "--grpc-max-total-input-size");
      }
      expectServed(client, 41, 900_000);
    }
  }

  @Test
  void haveATimeToGetOn() throws Exception {
    try (GrpcFixture server = server(MIB, Duration.ofMillis(500));
        FrameClient client = connect(server)) {
      begin(client, 1, "ModelInfer", 900_000, 100_000); // all of it fits into a socket
      expect(client, 1, "4", "--grpc-request-timeout-secs");
      client.head(3, false, "POST", GrpcFrames.path("ServerReady"), GrpcFrames.FIELDS);
      client.data(3, new byte[3], false); // not even its length
      expect(client, 3, "4", "--grpc-request-timeout-secs");
      awaitServed(server, 1_000_000); // nothing was kept
    }
  }

  @Test
  void aByteNowAndThenIsNotEnough() throws Exception {
    try (GrpcFixture server = server(MIB, Duration.ofMillis(500));
        FrameClient client = connect(server)) {
      begin(client, 1, "ModelInfer", 900_000, 10);
      Thread trickling =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  while (true) {
                    client.data(1, new byte[1], false);
                    Thread.sleep(5);
                  }
                } catch (IOException | InterruptedException e) {
                  // It was cut off, as it should be.
                }
              });
      expect(client, 1, "4", "--grpc-request-timeout-secs");
      trickling.interrupt();
      trickling.join();
    }
  }

  @Test
  void clientsLearnWhy() {
    RepositoryModelLoadRequest large =
        RepositoryModelLoadRequest.newBuilder().setModelName("m".repeat(2 * MIB)).build();
    try (GrpcFixture server = server(MIB, PATIENT)) {
      Status status =
          assertThrows(
                  StatusRuntimeException.class,
                  () ->
                      server.call(
                          "RepositoryModelLoad",
                          large,
                          RepositoryModelLoadResponse.getDefaultInstance()))
              .getStatus();
      assertEquals(Status.Code.RESOURCE_EXHAUSTED, status.getCode(), status::toString);
      assertTrue(status.getDescription().contains("total-input-size"), status::toString);
    }
  }

  /** A stream that was answered before has its header fields already. */
  @Test
  void endTheirStream() throws Exception {
    try (GrpcFixture server = server(MIB, Duration.ofMillis(500));
        FrameClient client = connect(server)) {
      server
          .nereid()
          .load(
              ModelSpec.builder("identity")
                  .backend("identity")
                  .input("IN", DataType.UINT8, -1)
                  .output("OUT", DataType.UINT8, -1)
                  .build());
      byte[] request =
          ModelInferRequest.newBuilder()
              .setModelName("identity")
              .addInputs(InferFixture.input("IN", "UINT8", 3))
              .addRawInputContents(ByteString.copyFrom(new byte[3]))
              .build()
              .toByteArray();
      byte[] message = GrpcFrames.message(request);
      byte[] begun =
          GrpcFrames.begun(
              1, GrpcFrames.path("ModelStreamInfer"), Arrays.copyOf(message, 3), false);
      byte[] rest = Arrays.copyOfRange(message, 3, message.length);
      client.send(RawClient.concat(begun, FrameClient.dataFrames(1, rest, false)));
      client.await(FrameClient.DATA, 0);
      client.data(1, Arrays.copyOf(message, message.length - 1), false);
      FrameClient.Reply reply = client.await(1);
      assertEquals("4", reply.fields.get("grpc-status"), reply.fields::toString);
      InferFixture.await(
          () -> server.nereid().poolStatistics().liveBuffers() == 0, "buffers are still in use");
    }
  }
}
