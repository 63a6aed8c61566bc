package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The client against a Nereid server, the same over both protocols. */
abstract class ServerContract extends CancellationContract {

  private static InferRequest.Builder floats(String model, float... values) {
    return InferRequest.builder(model).input("IN", Tensor.ofFloats(values, 1, values.length));
  }

  // ---- Health and metadata ---------------------------------------------------------------------

  @Test
  void health() {
    assertTrue(client.serverLive());
    assertTrue(client.serverReady());
    assertTrue(client.modelReady("m"));
    assertTrue(client.modelReady("m", "1"));
    assertFalse(client.modelReady("m", "2"));
    assertFalse(client.modelReady("none"));
    assertThrows(InferenceException.class, () -> client.loadModel("broken"));
    assertFalse(client.serverReady());
    assertFalse(client.modelReady("broken"));
    assertTrue(client.serverLive());
  }

  @Test
  void metadata() {
    ServerMetadata metadata = client.serverMetadata();
    assertEquals("nereid", metadata.name());
    assertTrue(metadata.extensions().contains("statistics"), metadata::toString);
    assertEquals(
        new ModelMetadata(
            "m",
            List.of("1"),
            "identity",
            List.of(new ModelMetadata.TensorMetadata("IN", "FP32", List.of(-1L, -1L))),
            List.of(new ModelMetadata.TensorMetadata("OUT", "FP32", List.of(-1L, -1L)))),
        client.modelMetadata("m"));
    assertEquals(client.modelMetadata("m"), client.modelMetadata("m", "1"));
    InferenceException unknown =
        assertThrows(InferenceException.class, () -> client.modelMetadata("none"));
    assertEquals(StatusCode.NOT_FOUND, unknown.code());
    assertEquals("Request for unknown model: 'none' is not found", unknown.getMessage());
  }

  @Test
  void configuration() {
    byte[] config = client.modelConfig("m").getBytes(java.nio.charset.StandardCharsets.UTF_8);
    Map<?, ?> members = (Map<?, ?>) JsonReading.tree(config, config.length);
    assertEquals("m", members.get("name"));
    assertEquals(4L, members.get("max_batch_size"));
    Map<?, ?> input = (Map<?, ?>) ((List<?>) members.get("input")).getFirst();
    assertEquals("TYPE_FP32", input.get("data_type"));
    assertEquals(List.of(-1L), input.get("dims"));
  }

  @Test
  void statistics() {
    client.infer(floats("m", 1, 2).build()).close();
    ModelUsage one = client.statistics("m", "1");
    assertEquals("m", one.name());
    assertEquals(1, one.success().count());
    assertEquals(1, one.inferenceCount());
    assertEquals(1, one.executionCount());
    assertTrue(one.success().totalNs() > 0);
    assertTrue(one.lastInference().isPresent());
    assertEquals(1, one.batches().getFirst().batchSize());
    assertEquals(1, client.statistics("m").size());
    assertEquals(1, client.statistics().size());
    assertThrows(InferenceException.class, () -> client.statistics("none"));
  }

  @Test
  void repository() {
    assertEquals(List.of(new IndexedModel("m", "1", "READY", "")), client.readyModels());
    assertEquals(
        List.of("broken", "m"),
        client.repositoryIndex().stream().map(IndexedModel::name).sorted().toList());
    client.unloadModel("m");
    await(() -> !client.modelReady("m"));
    client.loadModel("m");
    assertTrue(client.modelReady("m"));
    client.loadModel(
        "m",
        "{\"backend\":\"identity\",\"max_batch_size\":2,"
            + "\"input\":[{\"name\":\"IN\",\"data_type\":\"TYPE_INT32\",\"dims\":[3]}],"
            + "\"output\":[{\"name\":\"OUT\",\"data_type\":\"TYPE_INT32\",\"dims\":[3]}]}",
        Map.of());
    assertEquals("INT32", client.modelMetadata("m").inputs().getFirst().datatype());
    client.unloadModelAndDependents("m");
    await(() -> !client.modelReady("m"));
    InferenceException unknown =
        assertThrows(InferenceException.class, () -> client.loadModel("none"));
    assertTrue(unknown.getMessage().contains("none"), unknown::getMessage);
  }

  // ---- Inference -------------------------------------------------------------------------------

  /** One tensor [2, 3] of every datatype, with its extreme values. */
  static Tensor sample(DataType type) {
    return switch (type) {
      case BOOL -> Tensor.ofBooleans(new boolean[] {true, false, true, true, false, false}, 2, 3);
      case INT8, UINT8 ->
          Tensor.of(type, ByteBuffer.wrap(new byte[] {0, 1, -1, 127, -128, 5}), 2, 3);
      case INT16, UINT16 ->
          Tensor.of(
              type, ByteBuffer.wrap(new byte[] {0, 0, 1, 0, -1, -1, -1, 127, 0, -128, 5, 0}), 2, 3);
      case INT32 ->
          Tensor.ofInts(new int[] {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 5}, 2, 3);
      case UINT32 ->
          Tensor.of(type, Tensor.ofInts(new int[] {0, 1, -1, 1 << 31, 7, 5}, 6).byteBuffer(), 2, 3);
      case INT64 -> Tensor.ofLongs(new long[] {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, 5}, 2, 3);
      case UINT64 ->
          Tensor.of(
              type, Tensor.ofLongs(new long[] {0, 1, -1, 1L << 63, 7, 5}, 6).byteBuffer(), 2, 3);
      case FP16, BF16 ->
          Tensor.ofHalfFloats(
              type, new float[] {0, 1, -2.5f, Float.POSITIVE_INFINITY, Float.NaN, 0.125f}, 2, 3);
      case FP32 ->
          Tensor.ofFloats(
              new float[] {0, 6.8f, -1e38f, Float.NEGATIVE_INFINITY, Float.NaN, Float.MIN_VALUE},
              2,
              3);
      case FP64 ->
          Tensor.ofDoubles(
              new double[] {0, 6.8, -1e308, Double.MIN_VALUE, Double.NaN, Double.MAX_VALUE}, 2, 3);
      case BYTES ->
          Tensor.ofStrings(
              new String[] {"", "a", "\u00e4\u20ac\ud83d\ude00", "\0\"\\\n", "x", "y"}, 2, 3);
    };
  }

  @ParameterizedTest
  @EnumSource
  void everyDatatypeComesBackAsItWent(DataType type) {
    loadIdentity(type);
    Tensor in = sample(type);
    InferRequest request = InferRequest.builder(type.name()).input("IN", in).id("7").build();
    try (InferResponse response = client.infer(request)) {
      assertEquals(type.name(), response.modelName());
      assertEquals("1", response.modelVersion());
      assertEquals("7", response.id().orElseThrow());
      assertEquals(List.of("OUT"), response.outputNames());
      assertTrue(response.isFinal());
      Tensor out = response.output("OUT");
      assertEquals(type, out.dataType());
      assertArrayEquals(new long[] {2, 3}, out.shape());
      assertArrayEquals(in.toByteArray(), out.toByteArray());
      assertTrue(out.byteBuffer().isReadOnly());
      assertEquals(out.byteSize(), out.byteBuffer().remaining());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1000, 1024, 2048, 4096, 150_528, 2_000_000})
  void everySizeComesBackAsItWent(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = i;
    }
    loadIdentity(DataType.FP32);
    try (InferResponse response = client.infer(floats("FP32", values).output("OUT").build())) {
      assertArrayEquals(values, response.output("OUT").toFloatArray());
    }
    try (Arena arena = Arena.ofConfined()) {
      // Memory that no other thread may touch.
      MemorySegment confined = arena.allocate(Math.max(1, count * 4L), 4).asSlice(0, count * 4L);
      confined.copyFrom(MemorySegment.ofArray(values));
      Tensor tensor = Tensor.of(DataType.FP32, confined.asByteBuffer(), 1, count);
      try (InferResponse response =
          client.infer(InferRequest.builder("FP32").input("IN", tensor).build())) {
        assertEquals(confined.asByteBuffer(), response.output("OUT").byteBuffer());
      }
    }
    ByteBuffer direct = ByteBuffer.allocateDirect(count * 4);
    direct.order(java.nio.ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(values);
    Tensor tensor = Tensor.of(DataType.FP32, direct, 1, count);
    try (InferResponse response =
        client.infer(InferRequest.builder("FP32").input("IN", tensor).build())) {
      assertEquals(direct, response.output("OUT").byteBuffer());
    }
  }

  @Test
  void severalInputsAndOutputsKeepTheirPlaces() {
    server
        .nereid()
        .load(
            ModelSpec.builder("swap")
                .backend(context ->
                    batch -> {
                      batch.output("X", batch.input("B"));
                      batch.output("Y", batch.input("A"));
                    })
                .input("A", DataType.FP32, -1)
                .input("B", DataType.BYTES, -1)
                .output("X", DataType.BYTES, -1)
                .output("Y", DataType.FP32, -1)
                .build());
    InferRequest.Builder request =
        InferRequest.builder("swap")
            .input("B", Tensor.ofStrings(new String[] {"one", "two"}, 2))
            .input("A", Tensor.ofFloats(new float[5000], 5000));
    try (InferResponse response = client.infer(request.build())) {
      assertArrayEquals(new String[] {"one", "two"}, response.output("X").toStringArray());
      assertArrayEquals(new float[5000], response.output("Y").toFloatArray());
    }
    try (InferResponse response = client.infer(request.output("Y").build())) {
      assertEquals(List.of("Y"), response.outputNames());
      InferenceException absent =
          assertThrows(InferenceException.class, () -> response.output("X"));
      assertEquals(StatusCode.NOT_FOUND, absent.code());
    }
  }

  @Test
  void parametersArriveWithTheirTypes() {
    AtomicReference<Map<String, ?>> seen = new AtomicReference<>();
    server
        .nereid()
        .load(
            ModelSpec.builder("parameters")
                .backend(context ->
                    batch -> {
                      seen.set(Map.copyOf(batch.request(0).parameters()));
                      batch.output("OUT", batch.input("IN"));
                    })
                .input("IN", DataType.FP32, -1, -1)
                .output("OUT", DataType.FP32, -1, -1)
                .build());
    InferRequest request =
        floats("parameters", 1)
            .parameter("flag", true)
            .parameter("count", 1L << 40)
            .parameter("ratio", 0.1)
            .parameter("text", "\u00e4\"\\\n")
            .priority(1)
            .timeout(Duration.ofHours(1))
            .build();
    client.infer(request).close();
    assertEquals(true, seen.get().get("flag"));
    assertEquals(1L << 40, seen.get().get("count"));
    assertEquals(0.1, seen.get().get("ratio"));
    assertEquals("\u00e4\"\\\n", seen.get().get("text"));
  }

  @Test
  void tensorsMayStayInSharedMemory() {
    loadIdentity(DataType.FP32);
    String key = "/nereid-" + getClass().getSimpleName() + ProcessHandle.current().pid();
    try (SharedMemory region = SharedMemory.create(key, 64_000)) {
      client.registerSharedMemory(region);
      assertEquals(
          List.of(new SharedMemory.Registration(region.name(), key, 0, 64_000)),
          client.sharedMemoryStatus());
      SharedMemory.Slice in = region.slice(256, 20_000);
      SharedMemory.Slice out = region.slice(32_000, 30_000);
      float[] values = new float[5000];
      for (int i = 0; i < values.length; i++) {
        values[i] = i;
      }
      in.byteBuffer().asFloatBuffer().put(values);
      Tensor tensor = Tensor.ofSharedMemory(DataType.FP32, in, 1, 5000);
      InferRequest.Builder request = InferRequest.builder("FP32").input("IN", tensor);
      try (InferResponse response = client.infer(request.build())) {
        assertArrayEquals(values, response.output("OUT").toFloatArray());
      }
      try (InferResponse response = client.infer(request.output("OUT", out).build())) {
        assertArrayEquals(values, response.output("OUT").toFloatArray());
        assertEquals(in.byteBuffer(), out.byteBuffer().limit(20_000));
      }
      client.unregisterSharedMemory(region.name());
      assertEquals(List.of(), client.sharedMemoryStatus());
      InferenceException gone =
          assertThrows(InferenceException.class, () -> client.infer(request.build()));
      assertTrue(gone.getMessage().contains(region.name()), gone::getMessage);
      client.registerSharedMemory("other", key, 128, 1000);
      client.unregisterAllSharedMemory();
      assertEquals(List.of(), client.sharedMemoryStatus());
    }
  }

  @Test
  void theBestClassesAreNamed() {
    InferRequest request = floats("m", 0.125f, 0.75f, 0.5f).classification("OUT", 2).build();
    try (InferResponse response = client.infer(request)) {
      Tensor classes = response.output("OUT");
      assertArrayEquals(new long[] {1, 2}, classes.shape());
      assertArrayEquals(new String[] {"0.750000:1", "0.500000:2"}, classes.toStringArray());
    }
  }

  @Test
  void refusalsSayWhy() {
    InferenceException shape =
        assertThrows(
            InferenceException.class,
            () ->
                client.infer(
                    InferRequest.builder("m")
                        .input("IN", Tensor.ofInts(new int[] {1}, 1, 1))
                        .build()));
    assertEquals(StatusCode.INVALID_ARGUMENT, shape.code());
    assertTrue(shape.getMessage().contains("data-type is 'INT32'"), shape::getMessage);
    InferenceException model =
        assertThrows(InferenceException.class, () -> client.infer(floats("none", 1).build()));
    assertEquals(StatusCode.NOT_FOUND, model.code());
    InferenceException output =
        assertThrows(
            InferenceException.class, () -> client.infer(floats("m", 1).output("NO").build()));
    assertTrue(output.getMessage().contains("unexpected inference output 'NO'"));
  }

  @Test
  void aClosedResponseIsNotRead() {
    InferResponse response = client.infer(floats("m", new float[2000]).build());
    Tensor out = response.output("OUT");
    response.close();
    response.close();
    assertThrows(IllegalStateException.class, () -> response.output("OUT"));
    assertThrows(IllegalStateException.class, out::byteBuffer);
    assertThrows(IllegalStateException.class, out::toFloatArray);
  }

  @Test
  void manyAtOnce() throws Exception {
    loadIdentity(DataType.FP32);
    Thread caller = Thread.currentThread();
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      float[] values = new float[i * 20 + 1];
      Arrays.fill(values, i);
      all.add(
          client
              .inferAsync(floats("FP32", values).build())
              .thenAccept(response -> {
                try (response) {
                  // The caller runs it when the answer was there first.
                  Thread current = Thread.currentThread();
                  assertTrue(current == caller || current.isVirtual(), current.toString());
                  assertArrayEquals(values, response.output("OUT").toFloatArray());
                }
              }));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
  }
}
