package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferRequestedOutputTensor;
import io.nereid.proto.ModelInferResponse;
import io.nereid.server.http.FrameClient;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that are read before they are there as a whole, in pieces of any size. */
class LongMessagesTest {

  private static final int ROUNDS = 30;

  private static void begin(FrameClient client, int stream) throws IOException {
    client.head(stream, false, "POST", GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
  }

  private static ModelInferRequest request(Random random) {
    int[] sizes = new int[3];
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = random.nextBoolean() ? random.nextInt(100) : random.nextInt(120_000);
    }
    return LargeRepliesTest.request(sizes);
  }

  /** What it says is read as far as its last content when it begins, or by a thread that waits. */
  private static byte[] message(ModelInferRequest request, Random random) {
    byte[] bytes = request.toByteArray();
    if (random.nextInt(3) == 0) { // a field that nobody knows, behind the last content
      bytes = Arrays.copyOf(bytes, bytes.length + 3);
      bytes[bytes.length - 3] = 122;
      bytes[bytes.length - 2] = 1;
    }
    return GrpcFrames.message(bytes);
  }

  private static void send(
      FrameClient client, int stream, byte[] bytes, Random random, boolean ends)
      throws IOException {
    for (int from = 0; from < bytes.length; ) {
      int piece = random.nextInt(4) == 0 ? 1 + random.nextInt(2000) : 1 + random.nextInt(16_384);
      int to = Math.min(bytes.length, from + piece);
      client.data(stream, Arrays.copyOfRange(bytes, from, to), ends && to == bytes.length);
      from = to;
    }
  }

  private static void expect(FrameClient client, int stream, ModelInferRequest request)
      throws IOException {
    byte[] reply = client.await(stream).body.toByteArray();
    assertEquals("0", client.reply(stream).fields.get("grpc-status"));
    ModelInferResponse response =
        ModelInferResponse.parseFrom(ByteString.copyFrom(reply, 5, reply.length - 5));
    assertEquals(request.getRawInputContentsList(), response.getRawOutputContentsList());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void areReadAsTheyAreSent(long seed) throws Exception {
    Random random = new Random(seed);
    try (GrpcFixture server = LargeRepliesTest.server(GrpcCompression.NONE);
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      for (int stream = 1; stream < 2 * ROUNDS; stream += 2) {
        ModelInferRequest request = request(random);
        begin(client, stream);
        send(client, stream, message(request, random), random, true);
        expect(client, stream, request);
      }
      LargeRepliesTest.awaitNoBuffers(server);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void leaveNothingWhenTheyDoNotGoOn(long seed) throws Exception {
    Random random = new Random(seed);
    try (GrpcFixture server = LargeRepliesTest.server(GrpcCompression.NONE)) {
      try (FrameClient client = new FrameClient(server.server().port()).begin()) {
        for (int stream = 1; stream < 2 * ROUNDS; stream += 2) {
          byte[] bytes = message(request(random), random);
          byte[] some = Arrays.copyOf(bytes, random.nextInt(bytes.length));
          boolean ends = random.nextBoolean();
          begin(client, stream);
          send(client, stream, some, random, ends);
          if (ends && some.length > 0) {
            String status = client.await(stream).fields.get("grpc-status");
            assertTrue(List.of("3", "13").contains(status), status);
          } else if (random.nextInt(4) > 0) {
            client.reset(stream);
          }
        }
      } // those that are left end with the connection
      LargeRepliesTest.awaitNoBuffers(server);
    }
  }

  /** What still comes of a request that failed has no place, and goes to nobody else's. */
  @Test
  void thatFailedAreNotGoneOnWith() throws Exception {
    ModelInferRequest right = LargeRepliesTest.request(0, 0, 200_000);
    ModelInferRequest wrong =
        right.toBuilder()
            .addOutputs(InferRequestedOutputTensor.newBuilder().setName("NOPE"))
            .setRawInputContents(2, ByteString.copyFrom(new byte[200_000]))
            .build();
    try (GrpcFixture server = LargeRepliesTest.server(GrpcCompression.NONE);
        FrameClient one = new FrameClient(server.server().port()).begin();
        FrameClient other = new FrameClient(server.server().port()).begin()) {
      for (int stream = 1; stream < 40; stream += 4) {
        byte[] bad = GrpcFrames.message(wrong.toByteArray());
        byte[] good = GrpcFrames.message(right.toByteArray());
        begin(one, stream);
        one.data(stream, Arrays.copyOf(bad, 10_000), false);
        begin(one, stream + 2); // answered when that was read
        one.data(stream + 2, GrpcFrames.message(new byte[1]), true).await(stream + 2);
        begin(other, stream);
        other.data(stream, Arrays.copyOf(good, good.length - 10), false);
        begin(other, stream + 2);
        other.data(stream + 2, GrpcFrames.message(new byte[1]), true).await(stream + 2);
        one.data(stream, Arrays.copyOfRange(bad, 10_000, bad.length), true);
        assertEquals("3", one.await(stream).fields.get("grpc-status"));
        other.data(stream, Arrays.copyOfRange(good, good.length - 10, good.length), true);
        expect(other, stream, right);
      }
    }
  }

  /** The model's name comes last, so that nothing has a place before. */
  @Test
  void mayNameTheirModelAtTheEnd() throws Exception {
    Random random = new Random(1);
    ModelInferRequest request = LargeRepliesTest.request(100_000, 10, 50_000);
    byte[] front = request.toBuilder().clearModelName().build().toByteArray();
    byte[] name = ModelInferRequest.newBuilder().setModelName("m").build().toByteArray();
    byte[] bytes = Arrays.copyOf(front, front.length + name.length);
    System.arraycopy(name, 0, bytes, front.length, name.length);
    try (GrpcFixture server = LargeRepliesTest.server(GrpcCompression.NONE);
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      begin(client, 1);
      send(client, 1, GrpcFrames.message(bytes), random, true);
      expect(client, 1, request);
    }
  }
}
