package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.input;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.Batch;
import io.nereid.model.ModelSpec;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelStreamInferResponse;
import io.nereid.proto.ServerLiveRequest;
import io.nereid.proto.ServerLiveResponse;
import io.nereid.server.http.FrameClient;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerState;
import io.nereid.types.DataType;
import java.io.IOException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replies whose outputs are sent from where the model left them. */
class LargeRepliesTest {

  private static final int LARGE = 600_000;

  /** A number of classes that takes a reply of 3 MB, which clients allow, and more heap memory. */
  private static final int MANY = 200_000;

  private static GrpcFixture server(
      GrpcCompression compression, ServerServiceDefinition... others) {
    return server(GrpcOptions.DEFAULT.withCompression(compression), others);
  }

  /** A model that answers each of its outputs X, Y and Z with its input of that name. */
  private static GrpcFixture server(GrpcOptions options, ServerServiceDefinition... others) {
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
    return new GrpcFixture(nereid, ServerState.builder(nereid).build(), options, List.of(others));
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
  void haveAllOutputs(int x, int y, int z) throws Exception {
    ModelInferRequest request = request(x, y, z);
    try (GrpcFixture server = server(GrpcCompression.NONE)) {
      for (int i = 0; i < 3; i++) {
        ModelInferResponse reply = get(infer(server, request));
        assertEquals(request.getRawInputContentsList(), reply.getRawOutputContentsList());
      }
      awaitNoBuffers(server);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"NONE", "LOW"})
  void streamedOrCompressedHaveThemAsWell(GrpcCompression compression) throws Exception {
    ModelInferRequest request = request(LARGE, 10, 2 * LARGE);
    try (GrpcFixture server = server(compression)) {
      Iterator<ModelStreamInferResponse> replies =
          ClientCalls.blockingServerStreamingCall(
              server.channel().newCall(InferFixture.STREAM, CallOptions.DEFAULT), request);
      assertEquals(
          request.getRawInputContentsList(),
          replies.next().getInferResponse().getRawOutputContentsList());
      ModelInferResponse reply = get(infer(server, request));
      assertEquals(request.getRawInputContentsList(), reply.getRawOutputContentsList());
      awaitNoBuffers(server);
    }
  }

  /** Asks with little room for the reply, and waits until some of it has come. */
  private static FrameClient ask(GrpcFixture server, int stream, FrameClient client)
      throws IOException {
    byte[] message = GrpcFrames.message(request(LARGE, LARGE, 0).toByteArray());
    client.send(GrpcFrames.begun(stream, GrpcFrames.path("ModelInfer"), message, true));
    client.await(FrameClient.DATA, 0);
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
    GrpcLimits limits = new GrpcLimits(Integer.MAX_VALUE, 0, Duration.ofSeconds(2), 8192, 100, 100);
    try (GrpcFixture server = server(GrpcOptions.DEFAULT.withLimits(limits))) {
      InferFixture.await(() -> dropsOnlyOthers(server), "others were dropped, too");
      awaitNoBuffers(server);
    }
  }

  private static boolean dropsOnlyOthers(GrpcFixture server) {
    try (FrameClient client = new FrameClient(server.server().port()).begin(0)) {
      stream(client, 1, 1);
      takeAll(client, 1);
      stream(client, 3, 3);
      byte[] message = GrpcFrames.message(request(LARGE, 0, 0).toByteArray());
      client.send(GrpcFrames.begun(5, GrpcFrames.path("ModelInfer"), message, true));
      stream(client, 7, 1);
      while (client.reply(3).reset < 0 || client.reply(5).reset < 0) {
        client.grant(7, 1).next();
      }
      takeAll(client, 7);
      client.data(1, new byte[0], true).data(7, new byte[0], true);
      return List.of(client.await(1), client.await(7)).stream()
          .allMatch(reply -> reply.fields.get("grpc-status").equals("0"));
    } catch (IOException e) {
      return false; // a pause of this machine was longer than the limit
    }
  }

  private static void takeAll(FrameClient client, int stream) throws IOException {
    client.grant(stream, 2 * LARGE);
    FrameClient.Reply reply = client.reply(stream);
    while (reply.body.size() < LARGE && reply.reset < 0) {
      client.next();
    }
  }

  /** Responses that wait in a stream count as all unread replies do. */
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

  // ---- Classes ---------------------------------------------------------------------------------

  /** A call without tensors that is answered when it is let through. */
  private static final MethodDescriptor<ServerLiveRequest, ServerLiveResponse> WAIT =
      GrpcFixture.method(
          "test.Waiting/Wait",
          MethodType.UNARY,
          ServerLiveRequest.getDefaultInstance(),
          ServerLiveResponse.getDefaultInstance());

  private static ServerServiceDefinition waiting(CountDownLatch begun, CountDownLatch open) {
    return new ServiceMethods("test.Waiting", () -> null)
        .add(
            "Wait",
            ServerLiveRequest.getDefaultInstance(),
            request -> {
              begun.countDown();
              await(open);
              return ServerLiveResponse.getDefaultInstance();
            })
        .definition();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(GrpcFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A request for all classes of so many scores. */
  private static ModelInferRequest classes(int count) {
    return request(count, 0, 0).toBuilder()
        .addOutputs(
            ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                .setName("X")
                .putParameters("classification", InferFixture.parameter(count)))
        .build();
  }

  private static ListenableFuture<ModelInferResponse> infer(
      GrpcFixture server, ModelInferRequest request) {
    return ClientCalls.futureUnaryCall(
        server.channel().newCall(InferFixture.INFER, CallOptions.DEFAULT), request);
  }

  private static <T> T get(ListenableFuture<T> future) throws Exception {
    return future.get(GrpcFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  /** A client's side of a stream. */
  private static final class Streamed implements StreamObserver<ModelStreamInferResponse> {
    final LinkedBlockingQueue<ModelStreamInferResponse> responses = new LinkedBlockingQueue<>();
    final StreamObserver<ModelInferRequest> requests;

    Streamed(GrpcFixture server) {
      requests =
          ClientCalls.asyncBidiStreamingCall(
              server.channel().newCall(InferFixture.STREAM, CallOptions.DEFAULT), this);
    }

    @Override
    public void onNext(ModelStreamInferResponse response) {
      responses.add(response);
    }

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}

    ModelStreamInferResponse next() throws Exception {
      ModelStreamInferResponse next =
          responses.poll(GrpcFixture.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertTrue(next != null, "no response came");
      return next;
    }
  }

  private static long count(GrpcFixture server) {
    return server.nereid().model("m").statistics().success().count();
  }

  /**
   * The connection's own threads are taken, so that its large classifications wait, and no other.
   */
  @Test
  void manyClassesAreMadeBesideTheEventLoop() throws Exception {
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch open = new CountDownLatch(1);
    long before = HeapBudget.ofThisProcess().takenByRequests();
    try (GrpcFixture server = server(GrpcCompression.NONE, waiting(begun, open))) {
      for (int i = 0; i < 2; i++) {
        ClientCalls.futureUnaryCall(
            server.channel().newCall(WAIT, CallOptions.DEFAULT),
            ServerLiveRequest.getDefaultInstance());
      }
      await(begun);
      ListenableFuture<ModelInferResponse> many = infer(server, classes(MANY));
      ListenableFuture<ModelInferResponse> cancelled = infer(server, classes(MANY));
      Streamed given = new Streamed(server);
      given.requests.onNext(classes(MANY));
      Streamed stream = new Streamed(server);
      stream.requests.onNext(classes(MANY));
      stream.requests.onNext(classes(3));
      InferFixture.await(() -> count(server) == 5, "they were not executed");
      for (int i = 0; i < 50; i++) {
        assertEquals(1, get(infer(server, classes(3))).getOutputsCount());
      }
      assertFalse(many.isDone());
      assertTrue(stream.responses.isEmpty());
      cancelled.cancel(true);
      given.requests.onError(new IllegalStateException("the client gives up"));
      open.countDown();
      ModelInferResponse first = stream.next().getInferResponse();
      assertEquals(get(many).getRawOutputContentsList(), first.getRawOutputContentsList());
      assertEquals(MANY, first.getOutputs(0).getShape(0));
      ModelInferResponse second = stream.next().getInferResponse();
      assertEquals(3, second.getOutputs(0).getShape(0));
      stream.requests.onCompleted();
      awaitNoBuffers(server);
      InferFixture.await(
          () -> HeapBudget.ofThisProcess().takenByRequests() == before, "heap is still held");
    }
  }

  @Test
  void theHeapForManyClassesIsCounted() throws Exception {
    HeapBudget heap = HeapBudget.ofThisProcess();
    try (GrpcFixture server = server(GrpcCompression.NONE)) {
      long others = heap.requestBytes() - heap.takenByRequests() - MANY;
      assertTrue(heap.take(others));
      Streamed stream = new Streamed(server);
      try {
        ExecutionException failure =
            assertThrows(ExecutionException.class, () -> get(infer(server, classes(MANY))));
        Status status = Status.fromThrowable(failure.getCause());
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, status.getCode());
        assertTrue(status.getDescription().contains("heap memory"), status::getDescription);
        stream.requests.onNext(classes(MANY));
        assertEquals(status.getDescription(), stream.next().getErrorMessage());
      } finally {
        heap.giveBack(others);
      }
      stream.requests.onNext(classes(MANY));
      assertEquals("", stream.next().getErrorMessage());
      stream.requests.onCompleted();
      awaitNoBuffers(server);
    }
  }
}
