package io.nereid.server.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.server.http.FrameClient;
import io.nereid.server.shared.HeapBudget;
import io.nereid.types.DataType;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the heap holds for clients that do not take their replies, or begin many calls. */
class UnreadRepliesTest {

  private static final int FREE_BYTES = 1 << 20;
  private static final int CALLS = 100;

  /** So many are copied: they are sent from where they lie only if they are larger. */
  private static final int ELEMENTS = 12_000;

  private final HeapBudget heap = HeapBudget.ofThisProcess();
  private long taken;
  private long before;

  /** Somebody else has nearly all that requests may hold. */
  @BeforeEach
  void leaveLittle() {
    taken = heap.requestBytes() - heap.takenByRequests() - FREE_BYTES;
    assertTrue(heap.take(taken));
    before = heap.takenByConnections();
  }

  @AfterEach
  void nothingIsHeld() {
    InferFixture.await(
        () -> heap.takenByRequests() == taken && heap.takenByConnections() == before,
        "something is still counted");
    heap.giveBack(taken);
  }

  private static ModelInferRequest request(int call) {
    byte[] bytes = new byte[4 * ELEMENTS];
    new Random(call).nextBytes(bytes);
    return ModelInferRequest.newBuilder()
        .setModelName("echo")
        .addInputs(InferFixture.input("IN", "FP32", 1, ELEMENTS))
        .addRawInputContents(ByteString.copyFrom(bytes))
        .build();
  }

  /** Makes a call, on the stream of its number. */
  private static void ask(FrameClient client, int call) throws IOException {
    client.head(2 * call + 1, false, "POST", GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
    client.data(2 * call + 1, GrpcFrames.message(request(call).toByteArray()), true);
  }

  /** Has the server refuse a call of its own, so that it has come to the calls before. */
  private static void awaitServer(FrameClient client, int stream) throws IOException {
    FrameClient.Reply reply = client.reply(stream);
    client.head(stream, true, "POST", GrpcFrames.path("Nothing"), GrpcFrames.FIELDS);
    while (!reply.complete && reply.reset < 0) {
      client.next();
    }
  }

  private static void expectAnswer(FrameClient client, int call) throws IOException {
    byte[] reply = client.await(2 * call + 1).body.toByteArray();
    assertEquals("0", client.reply(2 * call + 1).fields.get("grpc-status"), "call " + call);
    ModelInferResponse response =
        ModelInferResponse.parseFrom(ByteString.copyFrom(reply, 5, reply.length - 5));
    assertEquals(request(call).getRawInputContents(0), response.getRawOutputContents(0));
  }

  /** Those that the client has no room for wait on the heap, as long as there is some. */
  @Test
  void waitOnTheHeapWhileThereIsSome() throws Exception {
    try (InferFixture server = new InferFixture().identity("echo", DataType.FP32);
        FrameClient client = new FrameClient(server.port()).begin(0)) {
      for (int call = 0; call < CALLS; call++) {
        ask(client, call);
      }
      for (int call = 0; call < CALLS; call++) {
        while (client.reply(2 * call + 1).fields.isEmpty()) {
          client.next();
        }
      }
      awaitServer(client, 2 * CALLS + 1);
      int refused = 0;
      for (int call = 0; call < CALLS; call++) {
        FrameClient.Reply reply = client.reply(2 * call + 1);
        if (reply.complete) {
          refused++;
          assertEquals("8", reply.fields.get("grpc-status"), reply.fields::toString);
          assertTrue(reply.fields.get("grpc-message").contains("there is no heap left"));
          assertEquals(0, reply.body.size(), "a part of a reply");
        }
      }
      int most = FREE_BYTES / (4 * ELEMENTS);
      assertTrue(CALLS - refused <= most && CALLS - refused > most / 2, refused + " were refused");
      for (int call = 0; call < CALLS; call++) {
        if (!client.reply(2 * call + 1).complete) {
          client.grant(2 * call + 1, FrameClient.LARGE_WINDOW);
          expectAnswer(client, call);
        }
      }
    }
  }

  /** Nothing more is read of who reads nothing, so that its replies are few. */
  @Test
  void holdUpWhoDoesNotRead() throws Exception {
    heap.giveBack(14 * FREE_BYTES); // some are queued, and answered together
    taken -= 14 * FREE_BYTES;
    try (InferFixture server = new InferFixture().identity("echo", DataType.FP32);
        FrameClient client = new FrameClient(server.port()).begin()) {
      Thread asking =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  for (int call = 0; call < 10 * CALLS; call++) {
                    ask(client, call);
                  }
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              });
      long most = 0;
      for (long last = -1; last != most || most == 0; Thread.sleep(300)) {
        last = most;
        most = Math.max(most, heap.takenByConnections() + heap.takenByRequests() - taken);
      }
      assertTrue(most < 12 * FREE_BYTES, most + " bytes");
      for (int call = 0; call < 10 * CALLS; call++) {
        expectAnswer(client, call);
      }
      asking.join();
    }
  }

  /** A reply that is compressed has a copy, which may be as large. */
  @Test
  void largeCopiesAreNotMadeWithoutHeap() throws Exception {
    String[] fields = {
      "content-type", "application/grpc", "te", "trailers", "grpc-accept-encoding", "gzip"
    };
    int[] sizes = {4 * FREE_BYTES, FREE_BYTES / 2};
    try (GrpcFixture server = LargeRepliesTest.server(GrpcCompression.LOW);
        FrameClient client = new FrameClient(server.server().port()).begin()) {
      for (int i = 0; i < sizes.length; i++) {
        byte[] request = LargeRepliesTest.request(sizes[i], 0, 0).toByteArray();
        client.head(2 * i + 1, false, "POST", GrpcFrames.path("ModelInfer"), fields);
        client.data(2 * i + 1, GrpcFrames.message(request), true).await(2 * i + 1);
      }
      FrameClient.Reply refused = client.reply(1);
      assertEquals("8", refused.fields.get("grpc-status"), refused.fields::toString);
      assertTrue(refused.fields.get("grpc-message").contains("there is no heap left"));
      FrameClient.Reply answered = client.reply(3);
      assertEquals("0", answered.fields.get("grpc-status"), answered.fields::toString);
      assertEquals("gzip", answered.fields.get("grpc-encoding"));
      LargeRepliesTest.awaitNoBuffers(server);
    }
  }

  /** A call counts from its head on. */
  @Test
  void callsThatDoNotGoOnAreRefusedInTheEnd() throws Exception {
    long free = heap.requestBytes() / 4 * 5 - taken - before - FREE_BYTES / 2;
    assertTrue(
        heap.takeForConnection(Math.min(free, heap.connectionBytes() - before - FREE_BYTES / 2)));
    long others = heap.takenByConnections() - before;
    try (InferFixture server = new InferFixture().identity("echo", DataType.FP32);
        FrameClient client = new FrameClient(server.port()).begin()) {
      int stream = -1;
      do {
        stream += 4;
        assertTrue(stream < 10_000, "nothing was refused");
        String[] fields = {
          "content-type", "application/grpc", "te", "trailers", "x", stream + "x".repeat(4000)
        };
        client.head(stream - 2, false, "POST", GrpcFrames.path("ModelInfer"), fields);
        awaitServer(client, stream);
      } while (client.reply(stream - 2).reset < 0);
      assertEquals(FrameClient.REFUSED_STREAM, client.reply(stream - 2).reset);
      assertTrue(stream / 4 <= FREE_BYTES / 4000, "stream " + stream);
      heap.giveBackOfConnection(others);
      others = 0;
      ask(client, stream);
      expectAnswer(client, stream);
    } finally {
      heap.giveBackOfConnection(others);
    }
  }
}
