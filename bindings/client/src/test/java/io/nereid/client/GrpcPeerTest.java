package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.nereid.proto.InferParameter;
import io.nereid.proto.InferTensorContents;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferResponse;
import io.nereid.proto.ModelInferResponse.InferOutputTensor;
import io.nereid.proto.ModelReadyRequest;
import io.nereid.proto.ModelReadyResponse;
import io.nereid.proto.ServerReadyRequest;
import io.nereid.proto.ServerReadyResponse;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Replies over gRPC of servers that are not Nereid, and calls that fail. */
class GrpcPeerTest {

  private static final InferRequest REQUEST =
      InferRequest.builder("m").id("1").input("IN", Tensor.ofInts(new int[] {1, 2}, 2)).build();

  private static <T> void reply(StreamObserver<T> to, T message) {
    to.onNext(message);
    to.onCompleted();
  }

  private static InferOutputTensor output(
      String name, String datatype, InferTensorContents.Builder contents, long... shape) {
    InferOutputTensor.Builder output =
        InferOutputTensor.newBuilder().setName(name).setDatatype(datatype);
    for (long dim : shape) {
      output.addShape(dim);
    }
    return contents == null ? output.build() : output.setContents(contents).build();
  }

  private static InferTensorContents.Builder contents() {
    return InferTensorContents.newBuilder();
  }

  @Test
  void requestsAreSentAsTheProtocolSays() throws Exception {
    BlockingQueue<ModelInferRequest> seen = new LinkedBlockingQueue<>();
    ClientOptions options = ClientOptions.builder().header("Authorization", "Bearer x").build();
    try (GrpcPeer peer =
            new GrpcPeer()
                .infer((request, to) -> {
                  seen.add(request);
                  reply(to, ModelInferResponse.getDefaultInstance());
                })
                .start();
        InferenceClient client = peer.connect(options)) {
      InferRequest request =
          InferRequest.builder("m")
              .version("3")
              .id("id")
              .input("A", Tensor.ofFloats(new float[5000], 5000))
              .input(
                  "B",
                  Tensor.ofSharedMemory(DataType.INT32, SharedMemory.Slice.of("region", 64, 8), 2))
              .input("C", Tensor.ofStrings(new String[] {"x"}, 1))
              .output("X")
              .classification("Y", 3)
              .output("Z", SharedMemory.Slice.of("region", 0, 64))
              .parameter("flag", true)
              .sequence("s", true, false)
              .deadline(Duration.ofSeconds(30))
              .build();
      client.infer(request).close();
      ModelInferRequest message = seen.take();
      assertEquals("m", message.getModelName());
      assertEquals("3", message.getModelVersion());
      assertEquals("id", message.getId());
      assertEquals(true, message.getParametersOrThrow("flag").getBoolParam());
      assertEquals("s", message.getParametersOrThrow("sequence_id").getStringParam());
      assertEquals(true, message.getParametersOrThrow("sequence_start").getBoolParam());
      assertEquals(3, message.getInputsCount());
      assertEquals(
          List.of(ByteString.copyFrom(new byte[20_000]), ByteString.copyFromUtf8("\1\0\0\0x")),
          message.getRawInputContentsList());
      var slice = message.getInputs(1).getParametersMap();
      assertEquals("region", slice.get("shared_memory_region").getStringParam());
      assertEquals(8, slice.get("shared_memory_byte_size").getInt64Param());
      assertEquals(64, slice.get("shared_memory_offset").getInt64Param());
      assertEquals(3, message.getOutputs(1).getParametersOrThrow("classification").getInt64Param());
      assertEquals(
          64,
          message.getOutputs(2).getParametersOrThrow("shared_memory_byte_size").getInt64Param());
      assertEquals(
          "Bearer x",
          peer.headers
              .take()
              .get(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER)));
      long remaining = peer.remainingMs.take();
      assertTrue(remaining > 10_000 && remaining <= 30_000, "a deadline of " + remaining);
    }
  }

  @Test
  void headersThatCannotBeSentAreRefused() {
    for (String value : List.of("a\r\nb", "a\n", "\u0000", "ä", "\u007f")) {
      ClientOptions options = ClientOptions.builder().header("authorization", value).build();
      for (String server : List.of("grpc://localhost:1", "http://localhost:1")) {
        if (server.startsWith("grpc") || value.contains("\n")) { // HTTP takes more than gRPC
          assertThrows(
              IllegalArgumentException.class, () -> InferenceClient.connect(server, options));
        }
      }
    }
  }

  @Test
  void typedContentsAreReadAsTensors() throws Exception {
    ModelInferResponse typed =
        ModelInferResponse.newBuilder()
            .setModelName("m")
            .addOutputs(output("BOOL", "BOOL", contents().addBoolContents(true), 1))
            .addOutputs(output("INT8", "INT8", contents().addIntContents(-3), 1))
            .addOutputs(output("UINT8", "UINT8", contents().addUintContents(200), 1))
            .addOutputs(output("INT16", "INT16", contents().addIntContents(-300), 1))
            .addOutputs(output("UINT16", "UINT16", contents().addUintContents(60_000), 1))
            .addOutputs(output("INT32", "INT32", contents().addIntContents(7).addIntContents(8), 2))
            .addOutputs(output("UINT32", "UINT32", contents().addUintContents(-1), 1))
            .addOutputs(output("INT64", "INT64", contents().addInt64Contents(1L << 40), 1))
            .addOutputs(output("UINT64", "UINT64", contents().addUint64Contents(-1), 1))
            .addOutputs(output("FP32", "FP32", contents().addFp32Contents(1.5f), 1, 1))
            .addOutputs(output("FP64", "FP64", contents().addFp64Contents(2.5), 1))
            .addOutputs(
                output(
                    "BYTES", "BYTES", contents().addBytesContents(ByteString.copyFromUtf8("x")), 1))
            .build();
    try (GrpcPeer peer = new GrpcPeer().infer((request, to) -> reply(to, typed)).start();
        InferenceClient client = peer.connect();
        InferResponse response = client.infer(REQUEST)) {
      assertArrayEquals(new boolean[] {true}, response.output("BOOL").toBooleanArray());
      assertArrayEquals(new byte[] {-3}, response.output("INT8").toByteArray());
      assertArrayEquals(new byte[] {(byte) 200}, response.output("UINT8").toByteArray());
      assertArrayEquals(new short[] {-300}, response.output("INT16").toShortArray());
      assertArrayEquals(new short[] {(short) 60_000}, response.output("UINT16").toShortArray());
      assertArrayEquals(new int[] {7, 8}, response.output("INT32").toIntArray());
      assertArrayEquals(new int[] {-1}, response.output("UINT32").toIntArray());
      assertArrayEquals(new long[] {1L << 40}, response.output("INT64").toLongArray());
      assertArrayEquals(new long[] {-1}, response.output("UINT64").toLongArray());
      assertArrayEquals(new float[] {1.5f}, response.output("FP32").toFloatArray());
      assertArrayEquals(new long[] {1, 1}, response.output("FP32").shape());
      assertArrayEquals(new double[] {2.5}, response.output("FP64").toDoubleArray());
      assertArrayEquals(new String[] {"x"}, response.output("BYTES").toStringArray());
      assertEquals("", response.modelVersion());
      assertTrue(response.id().isEmpty());
    }
  }

  @Test
  void repliesThatContradictThemselvesAreRefused() throws Exception {
    List<ModelInferResponse> wrong =
        List.of(
            ModelInferResponse.newBuilder().addOutputs(output("O", "FP32", null, 2)).build(),
            ModelInferResponse.newBuilder()
                .addOutputs(output("O", "FP32", null, 2))
                .addRawOutputContents(ByteString.copyFrom(new byte[7]))
                .build(),
            ModelInferResponse.newBuilder()
                .addOutputs(output("O", "FP32", null, 0))
                .addRawOutputContents(ByteString.EMPTY)
                .addRawOutputContents(ByteString.EMPTY)
                .build(),
            ModelInferResponse.newBuilder()
                .addOutputs(output("O", "FP99", null, 0))
                .addRawOutputContents(ByteString.EMPTY)
                .build(),
            ModelInferResponse.newBuilder()
                .addOutputs(output("O", "FP64", null, 1L << 40, 1L << 40))
                .addRawOutputContents(ByteString.EMPTY)
                .build(),
            ModelInferResponse.newBuilder()
                .addOutputs(output("O", "FP64", null, -1))
                .addRawOutputContents(ByteString.EMPTY)
                .build(),
            ModelInferResponse.newBuilder().addOutputs(output("O", "FP16", contents(), 0)).build(),
            ModelInferResponse.newBuilder()
                .addOutputs(output("O", "FP32", contents(), 0))
                .addOutputs(output("O", "FP32", contents(), 0))
                .build());
    AtomicInteger next = new AtomicInteger();
    try (GrpcPeer peer =
            new GrpcPeer()
                .infer((request, to) -> reply(to, wrong.get(next.getAndIncrement())))
                .start();
        InferenceClient client = peer.connect()) {
      for (int i = 0; i < wrong.size(); i++) {
        InferenceException failure =
            assertThrows(InferenceException.class, () -> client.infer(REQUEST), "reply " + i);
        assertEquals(StatusCode.INTERNAL, failure.code());
        assertTrue(failure.getMessage().startsWith("the server's reply is malformed: "));
      }
    }
  }

  @Test
  void outputsInSharedMemoryAreReadThere() throws Exception {
    InferParameter name = InferParameter.newBuilder().setStringParam("r").build();
    ModelInferResponse shared =
        ModelInferResponse.newBuilder()
            .addOutputs(
                output("S", "FP32", null, 2).toBuilder()
                    .putParameters("shared_memory_region", name))
            .addOutputs(output("R", "FP32", null, 1))
            .addRawOutputContents(ByteString.EMPTY)
            .addRawOutputContents(ByteString.copyFrom(new byte[4]))
            .build();
    // As some servers do: no place for the output that lies elsewhere.
    ModelInferResponse compact =
        shared.toBuilder()
            .clearRawOutputContents()
            .addRawOutputContents(ByteString.copyFrom(new byte[4]))
            .build();
    AtomicInteger calls = new AtomicInteger();
    String key = "/nereid-client-test-" + ProcessHandle.current().pid();
    try (SharedMemory region = SharedMemory.create(key, 4096);
        GrpcPeer peer =
            new GrpcPeer()
                .infer((request, to) -> reply(to, calls.getAndIncrement() == 0 ? shared : compact))
                .start();
        InferenceClient client = peer.connect()) {
      region.byteBuffer().putFloat(64, 1.5f).putFloat(68, 2.5f);
      InferRequest request =
          InferRequest.builder("m")
              .input("IN", Tensor.ofSharedMemory(DataType.FP32, region.slice(0, 8), 2))
              .output("S", region.slice(64, 100))
              .output("R")
              .build();
      for (int i = 0; i < 2; i++) {
        try (InferResponse response = client.infer(request)) {
          assertArrayEquals(new float[] {1.5f, 2.5f}, response.output("S").toFloatArray());
          assertArrayEquals(new float[1], response.output("R").toFloatArray());
        }
      }
    }
  }

  @Test
  void codesAndMessagesArrive() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    try (GrpcPeer peer =
            new GrpcPeer()
                .infer((request, to) ->
                    to.onError(
                        Status.fromCodeValue(calls.incrementAndGet())
                            .withDescription("because")
                            .asRuntimeException()))
                .start();
        InferenceClient client = peer.connect()) {
      for (int number = 1; number <= 16; number++) {
        InferenceException failure =
            assertThrows(InferenceException.class, () -> client.infer(REQUEST));
        assertEquals(StatusCode.values()[number], failure.code());
        assertEquals("because", failure.getMessage());
        assertTrue(failure.httpStatus().isEmpty());
      }
      assertEquals(16, calls.get()); // none was made again, UNAVAILABLE neither
    }
  }

  @Test
  void onlyWhatCannotDoHarmIsRepeated() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    try (GrpcPeer peer =
            new GrpcPeer()
                .unary(
                    "ServerReady",
                    ServerReadyRequest.getDefaultInstance(),
                    ServerReadyResponse.getDefaultInstance(),
                    (request, to) -> {
                      if (calls.incrementAndGet() < 3) {
                        to.onError(Status.UNAVAILABLE.asRuntimeException());
                      } else {
                        reply(to, ServerReadyResponse.newBuilder().setReady(true).build());
                      }
                    })
                .unary(
                    "ModelReady",
                    ModelReadyRequest.getDefaultInstance(),
                    ModelReadyResponse.getDefaultInstance(),
                    (request, to) -> to.onError(Status.NOT_FOUND.asRuntimeException()))
                .infer((request, to) -> {
                  if (calls.incrementAndGet() < 3) {
                    to.onError(Status.UNAVAILABLE.asRuntimeException());
                  } else {
                    reply(to, ModelInferResponse.getDefaultInstance());
                  }
                })
                .start();
        InferenceClient client = peer.connect();
        InferenceClient insistent =
            peer.connect(
                ClientOptions.builder().retry(RetryPolicy.DEFAULT.retryInfer(true)).build())) {
      assertTrue(client.serverReady());
      assertEquals(3, calls.getAndSet(0));
      assertFalse(client.modelReady("none"));
      assertThrows(InferenceException.class, () -> client.infer(REQUEST));
      assertEquals(1, calls.getAndSet(0));
      insistent.infer(REQUEST).close();
      assertEquals(3, calls.getAndSet(0));
      InferRequest sequence = InferRequest.builder("m").sequence(1, true, false).build();
      assertThrows(InferenceException.class, () -> insistent.infer(sequence));
      assertEquals(1, calls.get());
    }
  }

  @Test
  void aServerThatIsSlowIsLeft() throws Exception {
    AtomicInteger reached = new AtomicInteger();
    LinkedBlockingQueue<Boolean> cancelled = new LinkedBlockingQueue<>();
    try (GrpcPeer peer =
            new GrpcPeer()
                .infer((request, to) -> {
                  ((io.grpc.stub.ServerCallStreamObserver<ModelInferResponse>) to)
                      .setOnCancelHandler(() -> cancelled.add(true));
                  reached.incrementAndGet();
                })
                .start();
        InferenceClient client = peer.connect()) {
      for (int ms = 100; reached.get() == 0; ms *= 2) { // it may pass before the server hears of it
        InferRequest request = InferRequest.builder("m").deadline(Duration.ofMillis(ms)).build();
        InferenceException late =
            assertThrows(InferenceException.class, () -> client.infer(request));
        assertEquals(StatusCode.DEADLINE_EXCEEDED, late.code());
      }
      assertEquals(true, cancelled.poll(1, TimeUnit.MINUTES));
      client.inferAsync(REQUEST).cancel(true);
      // Cancelled before or after it reached the server: either way nothing is left there.
    }
  }

  @Test
  void aServerThatIsNotThereIsUnavailable() throws Exception {
    GrpcPeer peer = new GrpcPeer().start();
    InferenceClient unconnected = peer.connect();
    peer.close();
    try (InferenceClient client = unconnected) {
      InferenceException failure = assertThrows(InferenceException.class, client::serverLive);
      assertEquals(StatusCode.UNAVAILABLE, failure.code());
    }
  }

  @Test
  void repliesLargerThanAllowedAreRefused() throws Exception {
    ModelInferResponse large =
        ModelInferResponse.newBuilder()
            .addOutputs(output("O", "UINT8", null, 5_000_000))
            .addRawOutputContents(ByteString.copyFrom(new byte[5_000_000]))
            .build();
    try (GrpcPeer peer = new GrpcPeer().infer((request, to) -> reply(to, large)).start();
        InferenceClient unlimited = peer.connect();
        InferenceClient client =
            peer.connect(ClientOptions.builder().maxResponseBytes(1_000_000).build())) {
      InferenceException failure =
          assertThrows(InferenceException.class, () -> client.infer(REQUEST));
      assertEquals(StatusCode.RESOURCE_EXHAUSTED, failure.code());
      try (InferResponse response = unlimited.infer(REQUEST)) {
        ByteBuffer buffer = response.output("O").byteBuffer();
        assertEquals(5_000_000, buffer.remaining());
        assertEquals(ByteOrder.LITTLE_ENDIAN, buffer.order());
      }
    }
  }
}
