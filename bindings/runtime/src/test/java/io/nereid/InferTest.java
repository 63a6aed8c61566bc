package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.statistics.ModelStatistics;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class InferTest extends RuntimeTest {

  @ParameterizedTest
  @EnumSource(value = DataType.class, mode = EnumSource.Mode.EXCLUDE, names = "BYTES")
  void everyFixedSizeTypeComesBackAsItWent(DataType type) {
    Model model =
        nereid.load(
            ModelSpec.builder("m")
                .backend("identity")
                .input("IN", type, 3, -1)
                .output("OUT", type, 3, -1)
                .build());
    byte[] bytes = new byte[6 * type.byteSize()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (type == DataType.BOOL ? i % 2 : i * 37);
    }
    Tensor in = Tensor.of(type, MemorySegment.ofArray(bytes), 3, 2);
    try (var request = model.newRequest().input("IN", in);
        var response = request.infer()) {
      Tensor out = response.output("OUT");
      assertEquals(type, out.dataType());
      assertArrayEquals(new long[] {3, 2}, out.shape());
      assertArrayEquals(bytes, out.toByteArray());
    }
  }

  @Test
  void identityAnswersWithWhatItWasGiven() {
    Model model =
        nereid.load(
            ModelSpec.builder("m")
                .backend("identity")
                .maxBatchSize(8)
                .input("A", DataType.FP32, 4)
                .input(TensorSpec.of("B", DataType.FP32, 4).asOptional())
                .output("X", DataType.FP32, 4)
                .output("Y", DataType.FP32, 4)
                .build());
    try (var request = model.newRequest().input("A", row(5));
        var response = request.infer()) {
      assertEquals(List.of("X"), response.outputNames());
      assertEquals(5, response.output("X").floatAt(0));
    }
    try (var request = model.newRequest().input("A", row(5)).input("B", row(6));
        var response = request.infer()) {
      assertEquals(List.of("X", "Y"), response.outputNames());
    }
    try (var request = model.newRequest().input("A", row(5)).output("Y");
        var response = request.infer()) {
      assertEquals(List.of(), response.outputNames());
    }
  }

  @Test
  void stringsComeBackAsTheyWent() {
    Model model =
        nereid.load(
            ModelSpec.builder("m")
                .backend("identity")
                .maxBatchSize(4)
                .input("IN", DataType.BYTES, 2)
                .output("OUT", DataType.BYTES, 2)
                .build());
    String[] strings = {"", "zwölf Boxkämpfer", "\0", "x"};
    try (var request = model.newRequest().input("IN", Tensor.ofStrings(strings, 2, 2));
        var response = request.infer()) {
      assertArrayEquals(strings, response.output("OUT").toStringArray());
      assertEquals("zwölf Boxkämpfer", response.output("OUT").stringAt(1));
    }
    try (var request = model.newRequest()) {
      Tensor in = request.allocateBytesInput("IN", 11, 1, 2);
      in.copyFrom(Tensor.ofStrings(new String[] {"ab", "c"}, 1, 2));
      try (var response = request.infer()) {
        assertArrayEquals(new String[] {"ab", "c"}, response.output("OUT").toStringArray());
      }
    }
  }

  @Test
  void partsOfAnOutputAreReadAndPassedOnUntilItsResponseIsClosed() {
    Model model = nereid.load(identity("m").build());
    Tensor kept;
    try (var request =
            model
                .newRequest()
                .input("IN", Tensor.ofArray(new float[][] {{1, 2, 3, 4}, {5, 6, 7, 8}}));
        var response = request.infer()) {
      Tensor out = response.output("OUT");
      kept = out.row(1);
      assertArrayEquals(new float[] {5, 6, 7, 8}, kept.toFloatArray());
      for (Tensor part : List.of(out.slice(0, 1), out.slice(1, 1), out.row(1).reshape(1, 4))) {
        try (var again = model.newRequest().input("IN", part);
            var answer = again.infer()) {
          assertArrayEquals(part.toFloatArray2d(), answer.output("OUT").toFloatArray2d());
        }
      }
    }
    assertThrows(IllegalStateException.class, kept::toFloatArray);
  }

  @Test
  void aPooledInputIsWrittenInPlaceAndAnOutputIsReadInPlace() {
    Model model = nereid.load(identity("m").build());
    try (var request = model.newRequest()) {
      Tensor in = request.allocateInput("IN", 2, 4);
      for (int i = 0; i < 8; i++) {
        in.segment().setAtIndex(JAVA_FLOAT, i, i);
      }
      try (var response = request.infer()) {
        MemorySegment out = response.output("OUT").segment();
        assertTrue(out.isNative() && out.isReadOnly());
        assertEquals(7f, out.getAtIndex(JAVA_FLOAT, 7));
        assertThrows(IllegalArgumentException.class, () -> out.setAtIndex(JAVA_FLOAT, 0, 1f));
      }
    }
  }

  @Test
  void memoryThatCannotGoAwayIsUsedInPlace() {
    GateBackend gate = new GateBackend();
    Model model = nereid.load(gate.model("m").build());
    MemorySegment memory = Arena.ofAuto().allocate(JAVA_FLOAT, 4);
    gate.open(1);
    long before = nereid.poolStatistics().allocations();
    try (var request = model.newRequest().input("IN", Tensor.of(DataType.FP32, memory, 1, 4))) {
      memory.set(JAVA_FLOAT, 0, 5f); // seen by the request, since nothing was copied
      assertEquals(before, nereid.poolStatistics().allocations());
      request.infer().close();
    }
    assertEquals(List.of(5f), gate.executed);
  }

  @Test
  void memoryOfAnArenaThatCanBeClosedIsCopied() {
    Model model = nereid.load(identity("m").build());
    for (Arena arena : List.of(Arena.ofConfined(), Arena.ofShared())) {
      MemorySegment memory = arena.allocate(JAVA_FLOAT, 4);
      memory.set(JAVA_FLOAT, 0, 9f);
      try (var request = model.newRequest().input("IN", Tensor.of(DataType.FP32, memory, 1, 4))) {
        arena.close();
        try (var response = request.infer()) {
          assertEquals(9f, response.output("OUT").floatAt(0));
        }
      }
    }
  }

  @Test
  void anInputThatCannotBeReadGivesTheRequestBack() {
    Model model = nereid.load(identity("m").build());
    Arena arena = Arena.ofShared();
    Tensor gone = Tensor.of(DataType.FP32, arena.allocate(JAVA_FLOAT, 4), 1, 4);
    arena.close();
    assertClosed(() -> model.newRequest().input("IN", gone));
    assertEquals(0, nereid.poolStatistics().liveBuffers());
    roundTrip(model, 3);
  }

  @Test
  void anOutputBecomesAnInputWithoutACopyAndOutlivesItsResponse() {
    Model model = nereid.load(identity("m").build());
    InferRequest second = model.newRequest();
    try (var first = model.newRequest().input("IN", row(6));
        var response = first.infer()) {
      long before = nereid.poolStatistics().allocations();
      second.input("IN", response.output("OUT"));
      assertEquals(before, nereid.poolStatistics().allocations());
    }
    try (second;
        var response = second.infer()) {
      assertEquals(6f, response.output("OUT").floatAt(0));
    }
  }

  @Test
  void onlyOutputsThatWereAskedForAreThere() {
    Model model = nereid.load(twoOutputs().build());
    try (var request = model.newRequest().input("A", row(1)).input("B", row(2)).output("Y");
        var response = request.infer()) {
      assertEquals(List.of("Y"), response.outputNames());
      assertEquals(2f, response.output("Y").floatAt(0));
      assertEquals(2f, response.output(1).floatAt(0));
      assertFails(StatusCode.NOT_FOUND, "output 'X' was not requested", () -> response.output("X"));
      assertThrows(IndexOutOfBoundsException.class, () -> response.output(2));
    }
    try (var request = model.newRequest().input("A", row(1)).input("B", row(2));
        var response = request.infer()) {
      assertEquals(List.of("X", "Y"), response.outputNames());
    }
  }

  static ModelSpec.Builder twoOutputs() {
    return ModelSpec.builder("two")
        .backend("identity")
        .maxBatchSize(8)
        .input("A", DataType.FP32, 4)
        .input(TensorSpec.of("B", DataType.FP32, 4))
        .output("X", DataType.FP32, 4)
        .output("Y", DataType.FP32, 4);
  }

  @Test
  void theResponseTellsWhatItIs() {
    Model model = nereid.load(identity("m").version(7).build());
    try (var request = model.newRequest().input("IN", floats(1, 2, 3, 4, 5, 6, 7, 8)).id("r-1");
        var response = request.infer()) {
      assertEquals("m", response.modelName());
      assertEquals(7, response.modelVersion());
      assertEquals(Optional.of("r-1"), response.id());
      assertEquals(2, response.executedBatchSize());
      assertTrue(response.ranInline());
      assertFalse(response.cacheHit());
      assertTrue(response.timings().computeInferNs() >= 0);
      assertEquals(0, response.timings().queueNs());
    }
    try (var request = model.newRequest().input("IN", row(1));
        var response = request.infer()) {
      assertEquals(Optional.empty(), response.id());
    }
  }

  @Test
  void theResponseCacheAnswersEqualRequests() {
    try (Nereid cached = Nereid.create(options().cacheByteLimit(1 << 20).build())) {
      Model model = cached.load(identity("m").responseCache(true).build());
      for (int i = 0; i < 3; i++) {
        try (var request = model.newRequest().input("IN", row(1));
            var response = request.infer()) {
          assertEquals(i > 0, response.cacheHit());
          assertEquals(1f, response.output("OUT").floatAt(0));
        }
      }
      assertEquals(2, cached.cacheStatistics().hits());
      assertEquals(1, cached.cacheStatistics().entries());
      assertEquals(1, model.statistics().executionCount());
    }
  }

  @Test
  void aModelThatMayNotRunInlineDoesNot() {
    Model model = nereid.load(identity("m").inline(false).build());
    try (var request = model.newRequest().input("IN", row(1));
        var response = request.infer()) {
      assertFalse(response.ranInline());
    }
  }

  @Test
  void requestsFromManyVirtualThreadsGetTheirOwnAnswers() throws Exception {
    Model model =
        nereid.load(identity("m").inline(false).dynamicBatching(DynamicBatching.create()).build());
    Failures failures = new Failures();
    Thread[] threads = new Thread[64];
    for (int t = 0; t < threads.length; t++) {
      int thread = t;
      threads[t] =
          failures.startVirtual(() -> {
            for (int i = 0; i < 100; i++) {
              roundTrip(model, thread * 1000 + i);
            }
          });
    }
    failures.join(threads);
    ModelStatistics statistics = model.statistics();
    assertEquals(6400, statistics.success().count());
    assertTrue(statistics.executionCount() <= 6400);
  }
}
