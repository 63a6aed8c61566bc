package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.input;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.stub.ClientCalls;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.Batch;
import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.server.http.FrameClient;
import io.nereid.server.shared.ServerState;
import io.nereid.types.DataType;
import java.io.IOException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replies whose outputs are sent from where the model left them. */
class LargeRepliesTest {

  private static final int LARGE = 600_000;

  private static GrpcFixture server(GrpcCompression compression) {
    return server(GrpcOptions.DEFAULT.withCompression(compression));
  }

  /** A model that answers each of its outputs X, Y and Z with its input of that name. */
  private static GrpcFixture server(GrpcOptions options) {
    Nereid nereid =
        Nereid.create(NereidOptions.builder().drainTimeout(Duration.ofSeconds(10)).build());
    ModelSpec.Builder model =
        ModelSpec.builder("m")
            .backend(context ->
                (Batch batch) -> {
                  for (String name : List.of("X", "Y", "Z")) {
                    batch.output(name, batch.input("IN " + name));
                  }
                });
    for (String name : List.of("X", "Y", "Z")) {
      model.input("IN " + name, DataType.UINT8, -1).output(name, DataType.UINT8, -1);
    }
    nereid.load(model.build());
    return new GrpcFixture(nereid, ServerState.builder(nereid).build(), options);
  }

  private static ModelInferRequest request(int... sizes) {
    ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName("m");
    Random random = new Random(1);
    for (int i = 0; i < 3; i++) {
      byte[] bytes = new byte[sizes[i]];
      random.nextBytes(bytes);
      request
          .addInputs(input("IN " + "XYZ".charAt(i), "UINT8", sizes[i]))
          .addRawInputContents(ByteString.copyFrom(bytes));
    }
    return request.build();
  }

  private static long liveBuffers(GrpcFixture server) {
    return server.nereid().poolStatistics().liveBuffers();
  }

  private static void awaitNoBuffers(GrpcFixture server) {
    InferFixture.await(() -> liveBuffers(server) == 0, "buffers are still in use");
  }

  @ParameterizedTest
  @CsvSource({
    "600000, 1, 0",
    "0, 600000, 0",
    "70000, 80000, 90000",
    "65300, 100, 100",
    "0, 0, 3000000"
  })
  void haveAllOutputs(int x, int y, int z) {
    ModelInferRequest request = request(x, y, z);
    try (GrpcFixture server = server(GrpcCompression.NONE)) {
      for (int i = 0; i < 3; i++) {
        ModelInferResponse reply =
            ClientCalls.blockingUnaryCall(
                server.channel(), InferFixture.INFER, CallOptions.DEFAULT, request);
        assertEquals(request.getRawInputContentsList(), reply.getRawOutputContentsList());
      }
      awaitNoBuffers(server);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"NONE", "LOW"})
  void streamedOrCompressedHaveThemAsWell(GrpcCompression compression) {
    ModelInferRequest request = request(LARGE, 10, 2 * LARGE);
    try (GrpcFixture server = server(compression)) {
      Iterator<ModelStreamInferResponse> replies =
          ClientCalls.blockingServerStreamingCall(
              server.channel().newCall(InferFixture.STREAM, CallOptions.DEFAULT), request);
      assertEquals(
          request.getRawInputContentsList(),
          replies.next().getInferResponse().getRawOutputContentsList());
      ModelInferResponse reply =
          ClientCalls.blockingUnaryCall(
              server.channel(), InferFixture.INFER, CallOptions.DEFAULT, request);
      assertEquals(request.getRawInputContentsList(), reply.getRawOutputContentsList());
      awaitNoBuffers(server);
    }
  }

  /** Asks with little room for the reply, and waits until some of it has come. */
  private static FrameClient ask(GrpcFixture server, int stream, FrameClient client)
      throws IOException {
    byte[] message = GrpcFrames.message(request(LARGE, LARGE, 0).toByteArray());
    client.head(stream, false, "POST", GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
    client.data(stream, message, true).await(FrameClient.DATA, 0);
    assertTrue(liveBuffers(server) > 0, "the outputs were copied");
    return client;
  }

  @Test
  void areKeptUntilTheClientHasThem() throws Exception {
    try (GrpcFixture server = server(GrpcCompression.NONE);
        FrameClient client = new FrameClient(server.server().port()).begin(1000)) {
      ask(server, 1, client).grant(1, 10 * LARGE);
      byte[] reply = client.await(1).body.toByteArray();
      assertEquals("0", client.reply(1).fields.get("grpc-status"));
      ModelInferResponse response =
          ModelInferResponse.parseFrom(ByteString.copyFrom(reply, 5, reply.length - 5));
      assertEquals(
          request(LARGE, LARGE, 0).getRawInputContentsList(), response.getRawOutputContentsList());
      awaitNoBuffers(server);
    }
  }

  private static GrpcFixture impatientServer() {
    GrpcLimits limits = new GrpcLimits(Integer.MAX_VALUE, 0, Duration.ofSeconds(1), 8192, 100, 100);
    return server(GrpcOptions.DEFAULT.withLimits(limits));
  }

  /** Sends requests over a stream whose replies have no room. */
  private static void stream(FrameClient client, int stream, int count) throws IOException {
    client.head(stream, false, "POST", GrpcFrames.path("ModelStreamInfer"), GrpcFrames.FIELDS);
    for (int i = 0; i < count; i++) {
      client.data(stream, GrpcFrames.message(request(LARGE, 0, 0).toByteArray()), false);
    }
  }

  /** A slow client may take as long as it wants, and a stream may rest. */
  @Test
  void areDroppedIfTheClientTakesNone() throws Exception {
    try (GrpcFixture server = impatientServer();
        FrameClient client = new FrameClient(server.server().port()).begin(0)) {
      stream(client, 1, 1);
      client.grant(1, 2 * LARGE);
      while (client.reply(1).body.size() < LARGE) {
        client.next();
      }
      stream(client, 3, 3);
      client.head(5, false, "POST", GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
      client.data(5, GrpcFrames.message(request(LARGE, 0, 0).toByteArray()), true);
      stream(client, 7, 1);
      while (client.reply(3).reset < 0 || client.reply(5).reset < 0) {
        client.grant(7, 1).await(FrameClient.DATA, 0);
      }
      client.grant(7, 2 * LARGE);
      while (client.reply(7).body.size() < LARGE) {
        client.next();
      }
      for (int stream : new int[] {1, 7}) {
        client.data(stream, new byte[0], true);
        assertEquals("0", client.await(stream).fields.get("grpc-status"));
      }
      awaitNoBuffers(server);
    }
  }

  /** What waits for a stream counts as all unread replies do. */
  @Test
  void holdABoundedPartOfTheMemory() throws Exception {
    long most = ReplyBuffers.limit().mostOfOne();
    int size = (int) Math.min(1 << 30, most / 5 * 2);
    long fitting = (most - LARGE) / size;
    try (InferFixture server =
            new InferFixture(NereidOptions.builder().poolByteLimit((fitting + 4) * size));
        FrameClient client = new FrameClient(server.port()).begin(0)) {
      server.load(
          ModelSpec.builder("large")
              .backend(context -> (Batch batch) -> batch.output("OUT", size))
              .input("IN", DataType.FP32, -1, -1)
              .output("OUT", DataType.UINT8, -1));
      client.head(1, false, "POST", GrpcFrames.path("ModelStreamInfer"), GrpcFrames.FIELDS);
      byte[] request = InferFixture.floats("large", 1).build().toByteArray();
      for (int i = 0; i < fitting + 3; i++) {
        client.data(1, GrpcFrames.message(request), false);
      }
      InferFixture.await(() -> server.successes("large") == fitting + 3, "not all were executed");
      InferFixture.await(
          () -> server.nereid().poolStatistics().liveBuffers() == fitting, "others are held");
      client.hangUp();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void areGivenBackWhenTheClientLeaves(boolean resets) throws Exception {
    try (GrpcFixture server = server(GrpcCompression.NONE);
        FrameClient client = new FrameClient(server.server().port()).begin(1000)) {
      ask(server, 1, client);
      if (resets) {
        client.reset(1);
        awaitNoBuffers(server);
        ask(server, 3, client);
      }
      client.hangUp();
      awaitNoBuffers(server);
    }
  }
}
