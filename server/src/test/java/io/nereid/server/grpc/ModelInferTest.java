package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.floats;
import static io.nereid.server.grpc.InferFixture.input;
import static io.nereid.server.grpc.InferFixture.parameter;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCalls;
import io.nereid.model.Batch;
import io.nereid.model.ModelSpec;
import io.nereid.proto.InferParameter;
import io.nereid.proto.InferTensorContents;
import io.nereid.proto.ModelInferRequest;
import io.nereid.proto.ModelInferRequest.InferRequestedOutputTensor;
import io.nereid.proto.ModelInferResponse;
import io.nereid.server.http.GateBackend;
import io.nereid.server.memory.Segment;
import io.nereid.types.DataType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** ModelInfer, from a client's side. */
class ModelInferTest {

  /** A row of six elements, raw. */
  private static byte[] sixElements(DataType type) {
    if (type == DataType.BYTES) {
      ByteBuffer bytes = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
      for (String word : new String[] {"", "a", "ä", "\0", "word", "more words"}) {
        byte[] encoded = word.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        bytes.putInt(encoded.length).put(encoded);
      }
      return java.util.Arrays.copyOf(bytes.array(), bytes.position());
    }
    byte[] bytes = new byte[6 * type.byteSize()];
    new Random(type.ordinal()).nextBytes(bytes);
    return bytes;
  }

  @ParameterizedTest
  @EnumSource
  void everyDatatypeRaw(DataType type) {
    try (InferFixture server = new InferFixture().identity("m", type)) {
      ByteString raw = ByteString.copyFrom(sixElements(type));
      ModelInferResponse response =
          server.infer(
              ModelInferRequest.newBuilder()
                  .setModelName("m")
                  .setId("id of it")
                  .addInputs(input("IN", type.name(), 2, 3))
                  .addRawInputContents(raw));
      assertEquals("m", response.getModelName());
      assertEquals("1", response.getModelVersion());
      assertEquals("id of it", response.getId());
      assertEquals(0, response.getParametersCount());
      assertEquals(1, response.getOutputsCount());
      ModelInferResponse.InferOutputTensor output = response.getOutputs(0);
      assertEquals("OUT", output.getName());
      assertEquals(type.name(), output.getDatatype());
      assertEquals(List.of(2L, 3L), output.getShapeList());
      assertEquals(List.of(raw), response.getRawOutputContentsList());
    }
  }

  /** Values that show that narrow types take the low bytes. */
  private static InferTensorContents contents(DataType type) {
    InferTensorContents.Builder contents = InferTensorContents.newBuilder();
    for (int i = 0; i < 3; i++) {
      long value = i * 0x0101_0101_0101_01FFL - 2;
      switch (type) {
        case BOOL -> contents.addBoolContents(i != 1);
        case INT8, INT16, INT32 -> contents.addIntContents((int) value);
        case INT64 -> contents.addInt64Contents(value);
        case UINT8, UINT16, UINT32 -> contents.addUintContents((int) value);
        case UINT64 -> contents.addUint64Contents(value);
        case FP32 -> contents.addFp32Contents(i + 0.5f);
        case FP64 -> contents.addFp64Contents(i + 0.25);
        case BYTES -> contents.addBytesContents(ByteString.copyFromUtf8("x".repeat(i)));
        case FP16, BF16 -> throw new AssertionError(type);
      }
    }
    return contents.build();
  }

  private static ByteString raw(DataType type) {
    ByteBuffer bytes = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 3; i++) {
      long value = i * 0x0101_0101_0101_01FFL - 2;
      switch (type) {
        case BOOL -> bytes.put((byte) (i != 1 ? 1 : 0));
        case INT8, UINT8 -> bytes.put((byte) value);
        case INT16, UINT16 -> bytes.putShort((short) value);
        case INT32, UINT32 -> bytes.putInt((int) value);
        case INT64, UINT64 -> bytes.putLong(value);
        case FP32 -> bytes.putFloat(i + 0.5f);
        case FP64 -> bytes.putDouble(i + 0.25);
        case BYTES -> bytes.putInt(i).put("x".repeat(i).getBytes());
        case FP16, BF16 -> throw new AssertionError(type);
      }
    }
    return ByteString.copyFrom(bytes.flip());
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"FP16", "BF16"})
  void everyDatatypeTyped(DataType type) {
    try (InferFixture server = new InferFixture().identity("m", type)) {
      ModelInferResponse response =
          server.infer(
              ModelInferRequest.newBuilder()
                  .setModelName("m")
                  .addInputs(input("IN", type.name(), 1, 3).setContents(contents(type))));
      assertEquals(raw(type), response.getRawOutputContents(0));
      // Nothing in nothing is legal, too.
      response =
          server.infer(
              ModelInferRequest.newBuilder()
                  .setModelName("m")
                  .addInputs(input("IN", type.name(), 1, 0)));
      assertEquals(ByteString.EMPTY, response.getRawOutputContents(0));
    }
  }

  private static final ModelSpec.Builder two(String name) {
    return ModelSpec.builder(name)
        .backend("identity")
        .input("A", DataType.INT32, -1)
        .input("B", DataType.FP32, -1)
        .output("X", DataType.INT32, -1)
        .output("Y", DataType.FP32, -1);
  }

  /** The fields of a request in any order, with unknown ones between, mean the same. */
  @Test
  void theOrderOfFieldsDoesNotMatter() throws Exception {
    Random random = new Random(7);
    WireFuzz fuzz = new WireFuzz(random, List.of());
    try (InferFixture server = new InferFixture().load(two("two")).load(two("other"))) {
      for (int i = 0; i < 300; i++) {
        boolean raw = random.nextBoolean();
        ModelInferRequest request = twoInputs(raw);
        List<WireFuzz.Field> fields = new ArrayList<>(WireFuzz.fields(request));
        if (random.nextInt(3) == 0) { // the last one counts
          fields.addFirst(
              WireFuzz.fields(ModelInferRequest.newBuilder().setModelName("other").build())
                  .getFirst());
        }
        IncomingRequest read =
            IncomingRequest.read(server.state(), Fragments.of(fuzz.reordered(fields), random));
        try (read) {
          assertEquals(null, read.failure());
          assertEquals("two", read.model().name());
          try (var response = read.request().infer()) {
            assertEquals(3, response.output("X").intAt(2));
            assertEquals(2.5f, response.output("Y").floatAt(1));
            assertEquals(3, response.output("X").elementCount());
            assertEquals(2, response.output("Y").elementCount());
          }
        }
      }
    }
  }

  private static ModelInferRequest twoInputs(boolean raw) {
    ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName("two");
    InferTensorContents ints =
        InferTensorContents.newBuilder().addAllIntContents(List.of(1, 2, 3)).build();
    InferTensorContents floats =
        InferTensorContents.newBuilder().addAllFp32Contents(List.of(1.5f, 2.5f)).build();
    if (!raw) {
      return request
          .addInputs(input("A", "INT32", 3).setContents(ints))
          .addInputs(input("B", "FP32", 2).setContents(floats))
          .build();
    }
    ByteBuffer a = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    a.putInt(1).putInt(2).putInt(3);
    ByteBuffer b = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
    b.putFloat(1.5f).putFloat(2.5f);
    return request
        .addInputs(input("A", "INT32", 3))
        .addInputs(input("B", "FP32", 2))
        .addRawInputContents(ByteString.copyFrom(a.flip()))
        .addRawInputContents(ByteString.copyFrom(b.flip()))
        .build();
  }

  @Test
  void parametersReachTheBackend() {
    AtomicReference<Map<String, Object>> seen = new AtomicReference<>();
    ModelSpec.Builder model =
        ModelSpec.builder("m")
            .backend(context ->
                (Batch batch) -> {
                  seen.set(Map.copyOf(batch.request(0).parameters()));
                  batch.output("OUT", batch.input("IN"));
                })
            .input("IN", DataType.FP32, -1, -1)
            .output("OUT", DataType.FP32, -1, -1);
    try (InferFixture server = new InferFixture().load(model)) {
      server.infer(
          floats("m", 1)
              .putParameters("bool", parameter(true))
              .putParameters("int", parameter(-5))
              .putParameters("string", parameter("ä"))
              .putParameters("double", InferParameter.newBuilder().setDoubleParam(0.5).build())
              .putParameters("uint", InferParameter.newBuilder().setUint64Param(-1).build())
              .putParameters("sequence_id", parameter("a"))
              .putParameters("sequence_start", parameter(true))
              .putParameters("priority", parameter(3))
              .putParameters("timeout", parameter(3_600_000_000L))
              .putParameters("triton_enable_empty_final_response", parameter(true)));
      assertEquals(
          Map.of(
              "bool",
              true,
              "int",
              -5L,
              "string",
              "ä",
              "double",
              0.5,
              "uint",
              new java.math.BigInteger("18446744073709551615")),
          seen.get());
    }
  }

  @Test
  void outputsCanBeChosenAndClassified() {
    ModelSpec.Builder model = two("two");
    try (InferFixture server = new InferFixture().load(model)) {
      ModelInferResponse response =
          server.infer(
              twoInputs(true).toBuilder()
                  .addOutputs(
                      InferRequestedOutputTensor.newBuilder()
                          .setName("Y")
                          .putParameters("classification", parameter(1))));
      assertEquals(1, response.getOutputsCount());
      assertEquals("BYTES", response.getOutputs(0).getDatatype());
      assertEquals(List.of(1L), response.getOutputs(0).getShapeList());
      assertEquals("2.500000:1", response.getRawOutputContents(0).substring(4).toStringUtf8());
    }
  }

  @Test
  void sharedMemoryMixesWithRawContents() throws Exception {
    try (Segment segment = new Segment(64);
        InferFixture server = new InferFixture().load(two("two"))) {
      server.state().sharedMemory().register("r", segment.key(), 0, 64);
      segment.write(4, new byte[] {9, 0, 0, 0, 8, 0, 0, 0});
      ModelInferRequest.Builder request =
          ModelInferRequest.newBuilder()
              .setModelName("two")
              .addInputs(
                  input("A", "INT32", 2)
                      .putParameters("shared_memory_region", parameter("r"))
                      .putParameters("shared_memory_byte_size", parameter(8))
                      .putParameters("shared_memory_offset", parameter(4)))
              .addInputs(input("B", "FP32", 2))
              .addRawInputContents(twoInputs(true).getRawInputContents(1))
              .addOutputs(InferRequestedOutputTensor.newBuilder().setName("X"))
              .addOutputs(
                  InferRequestedOutputTensor.newBuilder()
                      .setName("Y")
                      .putParameters("shared_memory_region", parameter("r"))
                      .putParameters("shared_memory_byte_size", parameter(16))
                      .putParameters("shared_memory_offset", parameter(32)));
      ModelInferResponse response = server.infer(request);
      assertEquals(
          ByteString.copyFrom(new byte[] {9, 0, 0, 0, 8, 0, 0, 0}),
          response.getRawOutputContents(0));
      assertEquals(ByteString.EMPTY, response.getRawOutputContents(1));
      assertEquals(request.getRawInputContents(0), ByteString.copyFrom(segment.read(32, 8)));
      request.addRawInputContents(ByteString.EMPTY);
      server.fails(
          io.grpc.Status.Code.INVALID_ARGUMENT, "number of raw input contents (2)", request);
    }
  }

  /** Neither a tensor's size nor its way through many buffers changes it. */
  @Test
  void largeTensorsGoBothWays() {
    byte[] bytes = new byte[40 << 20];
    new Random(1).nextBytes(bytes);
    ByteString raw = UnsafeByteOperations.unsafeWrap(bytes);
    try (InferFixture server = new InferFixture().identity("m", DataType.FP32)) {
      ModelInferRequest.Builder request =
          ModelInferRequest.newBuilder()
              .setModelName("m")
              .addInputs(input("IN", "FP32", 1, bytes.length / 4))
              .addRawInputContents(raw);
      assertEquals(raw, server.infer(request).getRawOutputContents(0));
      assertEquals(
          raw,
          server
              .infer(request, InferFixture.patient().withCompression("gzip"))
              .getRawOutputContents(0));
    }
  }

  @Test
  void manyCallsOnOneConnection() throws Exception {
    try (InferFixture server = new InferFixture().identity("m", DataType.FP32)) {
      List<Future<ModelInferResponse>> calls = new ArrayList<>();
      for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 256; i++) {
          calls.add(
              ClientCalls.futureUnaryCall(
                  server.channel().newCall(InferFixture.INFER, InferFixture.patient()),
                  floats("m", i).setId("" + i).build()));
        }
      }
      for (Future<ModelInferResponse> call : calls) {
        ModelInferResponse response = call.get(60, TimeUnit.SECONDS);
        assertEquals(response.getId(), "" + (int) InferFixture.firstFloat(response));
      }
    }
  }

  /** A request that waits for its model holds up nothing else on its connection. */
  @Test
  void aSlowModelBlocksNoOther() throws Exception {
    GateBackend gate = new GateBackend();
    try (InferFixture server = new InferFixture().gate(gate).identity("m", DataType.FP32)) {
      List<Future<ModelInferResponse>> slow = new ArrayList<>();
      ManagedChannel channel = server.channel();
      for (int i = 0; i < 8; i++) {
        slow.add(
            ClientCalls.futureUnaryCall(
                channel.newCall(InferFixture.INFER, InferFixture.patient()),
                floats("gate", i).build()));
      }
      gate.awaitBatch();
      for (int i = 0; i < 20; i++) {
        assertEquals(i, InferFixture.firstFloat(server.infer(floats("m", i))));
      }
      assertTrue(slow.stream().noneMatch(Future::isDone));
      gate.open(8);
      for (int i = 0; i < 8; i++) {
        assertEquals(i, InferFixture.firstFloat(slow.get(i).get(60, TimeUnit.SECONDS)));
      }
    }
  }
}
