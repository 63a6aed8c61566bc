package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.nereid.Model;
import io.nereid.model.RepositoryOptions;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.server.http.FrameClient;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Streams whose clients leave, or do not read, while the server has more for them. */
class AbandonedStreamTest {

  // Together fewer than the server lets one connection cancel.
  private static final int ROUNDS = 40;
  private static final int STREAMS = 8;

  /** A reader that waited for ever would keep the response that it holds. */
  @Test
  void noThreadReadsOn() throws Exception {
    try (InferFixture server = new InferFixture().repeat()) {
      for (int round = 0; round < ROUNDS; round++) {
        CountDownLatch begun = new CountDownLatch(STREAMS);
        List<ClientCall<?, ?>> calls = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
          calls.add(begin(server, begun));
        }
        assertTrue(begun.await(InferFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS));
        calls.forEach(call -> call.cancel("enough", null));
        server.awaitNoLiveBuffers();
      }
    }
  }

  /** Responses that nobody takes would keep the model's instance for ever. */
  @Test
  void aModelIsUnloadedWhoseClientDoesNotRead() throws Exception {
    GrpcLimits limits =
        new GrpcLimits(Integer.MAX_VALUE, 0, Duration.ofSeconds(10), 8192, 100, 100);
    try (GrpcFixture server =
            new GrpcFixture(
                RepositoryOptions.builder().explicit().build(),
                GrpcOptions.DEFAULT.withLimits(limits));
        FrameClient client = new FrameClient(server.server().port()).begin(0)) {
      server.nereid().load(InferFixture.repeatModel().build());
      byte[] request = GrpcFrames.message(StreamInferTest.repeat(10_000, 0).build().toByteArray());
      client.send(GrpcFrames.begun(1, GrpcFrames.path("ModelStreamInfer"), request, false));
      Model model = server.nereid().model("repeat");
      InferFixture.await(() -> model.statistics().executingCount() > 0, "it is idle");
      CompletableFuture.runAsync(model::unload)
          .get(InferFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      client.awaitReset(1);
    }
  }

  /** A request counts with what it keeps of its message, until its reply is in the transport. */
  @Test
  void unreadRequestsHoldABudget() throws Exception {
    MessageBudget heap = MessageBudget.HEAP;
    int left = 1 << 20;
    long others = heap.most() - left;
    String id = "i".repeat(left / 5); // each character counts twice
    ModelInferRequest.Builder parameters = InferFixture.floats("m", 1).setId("parameters");
    for (int i = 0; i < 1000; i++) {
      parameters.putParameters("p" + i, InferFixture.parameter(true));
    }
    assertTrue(heap.take(others));
    try (InferFixture server = new InferFixture().identity("m", DataType.FP32);
        FrameClient client = new FrameClient(server.port()).begin(0)) {
      client.head(1, false, "POST", GrpcFrames.path("ModelStreamInfer"), GrpcFrames.FIELDS);
      for (int i = 0; i < 4; i++) {
        send(client, InferFixture.floats("x", i).setId(id));
      }
      send(client, parameters);
      InferFixture.await(
          () -> heap.taken() > others + 2 * 2 * id.length() + 1000 * 150, "they do not count");
      client.grant(1, FrameClient.LARGE_WINDOW).data(1, new byte[0], true);
      ByteBuffer body = ByteBuffer.wrap(client.await(1).body.toByteArray());
      for (int i = 0; i < 3; i++) {
        assertEquals(id, next(body).getInferResponse().getId());
      }
      String refusal = next(body).getErrorMessage();
      assertTrue(refusal.contains("messages hold on the heap"), refusal);
      assertEquals("parameters", next(body).getInferResponse().getId());
      InferFixture.await(() -> heap.taken() == others, "some is held");
    } finally {
      heap.giveBack(others);
    }
  }

  private static void send(FrameClient client, ModelInferRequest.Builder request)
      throws IOException {
    client.data(1, GrpcFrames.message(request.build().toByteArray()), false);
  }

  private static ModelStreamInferResponse next(ByteBuffer body) throws IOException {
    byte[] message = new byte[body.getInt(body.position() + 1)];
    body.position(body.position() + 5).get(message);
    return ModelStreamInferResponse.parseFrom(message);
  }

  /** A call that takes all responses, and more than it can ever take are to come. */
  private static ClientCall<?, ?> begin(InferFixture server, CountDownLatch begun) {
    ClientCall<ModelInferRequest, ModelStreamInferResponse> call =
        server.channel().newCall(InferFixture.STREAM, CallOptions.DEFAULT);
    call.start(
        new ClientCall.Listener<>() {
          private boolean first = true;

          @Override
          public void onMessage(ModelStreamInferResponse response) {
            if (first) {
              begun.countDown();
              first = false;
            }
          }
        },
        new Metadata());
    call.request(Integer.MAX_VALUE);
    call.sendMessage(StreamInferTest.repeat(10_000, 0).build());
    return call;
  }
}
