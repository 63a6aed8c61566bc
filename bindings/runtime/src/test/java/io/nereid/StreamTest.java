package io.nereid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.internal.request.StreamQueue;
import io.nereid.model.BatchRequest;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.WarmUp;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams: responses in order, their memory, their end. */
class StreamTest extends RuntimeTest {

  private final CountdownBackend backend = new CountdownBackend();

  /** Reads a stream that must have this many responses. */
  private static void read(Model model, int count) {
    try (var request = CountdownBackend.request(model, count);
        var stream = request.inferStream()) {
      for (int i = 0; i < count; i++) {
        CountdownBackend.check(stream.next(), count, i);
      }
      assertNull(stream.next());
      assertNull(stream.next());
    }
  }

  @ParameterizedTest
  @CsvSource({"0,2", "1,2", "2,2", "7,3", "8,2", "9,2", "500,2", "20,300000"})
  void responsesComeInOrder(int count, int elements) {
    backend.elements = elements;
    Model model = nereid.load(backend.model("m").build());
    read(model, count);
    assertEquals(count, backend.sent.get());
    assertEquals(1, model.statistics().success().count());
  }

  @Test
  void theOutputsAtTheEndOfExecuteAreTheFinalResponse() {
    backend.lastAtEnd = true;
    Model model = nereid.load(backend.model("m").build());
    try (var request = CountdownBackend.request(model, 3).id("me");
        var stream = request.inferStream()) {
      for (int i = 0; i < 3; i++) {
        InferResponse response = stream.next();
        assertEquals(i == 2, response.isFinal());
        assertEquals(Optional.of("me"), response.id());
        assertEquals(List.of("OUT"), response.outputNames());
        assertEquals("m", response.modelName());
        assertEquals(i == 2 ? 1 : 0, response.executedBatchSize());
        assertEquals(i == 2, response.timings().computeInferNs() > 0);
        assertFalse(response.ranInline() || response.cacheHit());
        CountdownBackend.check(response, 3, i);
      }
      assertNull(stream.next());
    }
  }

  @Test
  void modelsThatAreNotDecoupledHaveOneResponse() {
    for (boolean inline : new boolean[] {true, false}) {
      Model model = nereid.load(identity("m").inline(inline).build());
      try (var request = model.newRequest().input("IN", row(5));
          var stream = request.inferStream()) {
        try (var response = stream.next()) {
          assertEquals(5f, response.output("OUT").floatAt(0));
          assertTrue(response.isFinal());
          assertEquals(inline, response.ranInline());
        }
        assertNull(stream.next());
      }
    }
  }

  @Test
  void aSingleAnswerOfADecoupledModelIsRefused() {
    Model model = nereid.load(backend.model("m").build());
    try (var request = CountdownBackend.request(model, 1)) {
      String expected =
          "infer doesn't support models with decoupled transaction policy, and 'm' is one: use"
              + " inferStream";
      assertFails(StatusCode.UNIMPLEMENTED, expected, request::infer);
      assertFails(StatusCode.UNIMPLEMENTED, expected, request::inferAsync);
      try (var stream = request.inferStream()) { // it was not sent, so it still can be
        CountdownBackend.check(stream.next(), 1, 0);
      }
      assertClosed(request::inferStream);
    }
  }

  @Test
  void anInvalidRequestIsNotSentAndFailsAtOnce() {
    Model model = nereid.load(backend.model("m").build());
    try (var request = model.newRequest()) {
      assertFails(StatusCode.INVALID_ARGUMENT, request::inferStream);
      request.input("IN", Tensor.ofInts(new int[] {1}, 1, 1));
      try (var stream = request.inferStream()) {
        CountdownBackend.check(stream.next(), 1, 0);
      }
    }
    try (var request = model.newRequest().input("IN", Tensor.ofInts(new int[2], 1, 2))) {
      assertFails(StatusCode.INVALID_ARGUMENT, request::inferStream);
    }
  }

  @Test
  void responsesOutliveStreamRequestAndModel() {
    Model model = nereid.load(backend.model("m").build());
    List<InferResponse> kept = new ArrayList<>();
    try (var request = CountdownBackend.request(model, 20);
        var stream = request.inferStream()) {
      for (int i = 0; i < 20; i++) {
        kept.add(stream.next());
      }
    }
    read(model, 30);
    model.unload();
    for (int i = 0; i < 20; i++) {
      InferResponse response = kept.get(i);
      assertArrayEquals(new int[] {20, i}, response.output("OUT").toIntArray());
      Tensor out = response.output("OUT");
      response.close();
      response.close();
      assertClosed(out::toIntArray);
      assertClosed(() -> response.output("OUT"));
      assertClosed(response::timings);
      assertClosed(response::id);
      assertEquals(19 - i, nereid.poolStatistics().liveBuffers());
    }
  }

  @Test
  void aStreamedOutputCanBeAnotherRequestsInput() {
    Model from = nereid.load(backend.model("from").build());
    Model to =
        nereid.load(
            ModelSpec.builder("to")
                .backend("identity")
                .maxBatchSize(8)
                .input("IN", DataType.INT32, 2)
                .output("OUT", DataType.INT32, 2)
                .build());
    try (var request = CountdownBackend.request(from, 2);
        var stream = request.inferStream();
        var next = to.newRequest()) {
      long before = nereid.poolStatistics().allocations();
      try (var response = stream.next()) {
        assertFalse(response.isFinal());
        next.input("IN", response.output("OUT"));
        assertTrue(nereid.poolStatistics().allocations() <= before + 2, "the input was copied");
      }
      try (var answer = next.infer()) {
        assertArrayEquals(new int[] {2, 0}, answer.output("OUT").toIntArray());
      }
    }
  }

  @Test
  void decoupledRequestsAreBatchedAndAnsweredApart() throws Exception {
    Model model =
        nereid.load(
            backend
                .model("m")
                .dynamicBatching(
                    DynamicBatching.builder()
                        .preferredBatchSizes(4)
                        .maxQueueDelay(Duration.ofHours(1))
                        .build())
                .build());
    Failures failures = new Failures();
    Thread[] readers = new Thread[4];
    for (int i = 0; i < readers.length; i++) {
      int count = 3 + i;
      readers[i] = failures.startVirtual(() -> read(model, count));
    }
    failures.join(readers);
    assertEquals(4, backend.largestBatch.get());
    assertEquals(3 + 4 + 5 + 6, backend.sent.get());
  }

  @Test
  void aFailureComesAfterTheResponsesBeforeIt() {
    backend.failAfter = 3;
    Model model = nereid.load(backend.model("m").build());
    try (var request = CountdownBackend.request(model, 10);
        var stream = request.inferStream()) {
      await(() -> model.statistics().failBackend() == 1, "the failure");
      for (int i = 0; i < 3; i++) {
        CountdownBackend.check(stream.next(), 10, i);
      }
      NereidException e = assertFails(StatusCode.INTERNAL, stream::next);
      assertEquals("failed after 3", e.getMessage());
      assertSame(e, assertThrows(NereidException.class, stream::next));
    }
    backend.failAfter = -1;
    read(model, 3);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void anErrorIsAResponseAndOthersFollow(int errorAt) {
    backend.errorAt = errorAt;
    Model model = nereid.load(backend.model("m").build());
    try (var request = CountdownBackend.request(model, 3).id("mine");
        var stream = request.inferStream()) {
      for (int i = 0; i < 3; i++) {
        if (i != errorAt) {
          CountdownBackend.check(stream.next(), 3, i);
          continue;
        }
        try (InferResponse response = stream.next()) {
          NereidException failure = response.failure().orElseThrow();
          assertEquals(StatusCode.NOT_FOUND, failure.code());
          assertEquals("without nümber " + i, failure.getMessage());
          assertEquals("mine", response.id().orElseThrow());
          assertEquals(List.of(), response.outputNames());
          assertSame(failure, assertThrows(NereidException.class, () -> response.output("OUT")));
          assertFalse(response.isFinal());
        }
      }
      assertNull(stream.next());
    }
    assertEquals(1, model.statistics().success().count());
  }

  @Test
  void anExceptionOfABackendEndsTheStream() {
    Model model =
        nereid.load(
            backend
                .model("m")
                .backend(context ->
                    batch -> {
                      batch.request(0).output("OUT", Tensor.ofInts(new int[] {1, 0}, 1, 2));
                      batch.request(0).respond();
                      throw new QuietException("broken");
                    })
                .build());
    try (var request = CountdownBackend.request(model, 1);
        var stream = request.inferStream()) {
      CountdownBackend.check(stream.next(), 1, 0);
      assertFails(StatusCode.INTERNAL, stream::next);
    }
  }

  @Test
  void outputsThatWereSentAreTheReceivers() throws Exception {
    List<Throwable> seen = new CopyOnWriteArrayList<>();
    Semaphore done = new Semaphore(0);
    Model model =
        nereid.load(
            backend
                .model("m")
                .backend(context ->
                    batch -> {
                      BatchRequest request = batch.request(0);
                      Tensor sent = request.output("OUT", 1, 2);
                      sent.copyFrom(Tensor.ofInts(new int[] {1, 0}, 1, 2));
                      request.respond();
                      seen.add(assertThrows(IllegalStateException.class, sent::segment));
                      seen.add(
                          assertThrows(
                              IllegalStateException.class,
                              () -> sent.copyFrom(Tensor.ofInts(new int[2], 1, 2))));
                      // Another response's output, made through the same request, is writable.
                      MemorySegment next = request.output("OUT", 1, 2).segment();
                      next.fill((byte) 0);
                      batch.request(0).respond();
                      done.release();
                    })
                .build());
    try (var request = CountdownBackend.request(model, 1);
        var stream = request.inferStream()) {
      CountdownBackend.check(stream.next(), 1, 0);
      CountdownBackend.check(stream.next(), 0, 0);
      assertNull(stream.next());
      done.acquire();
    }
    assertEquals(2, seen.size());
    assertEquals("the output was sent with its response", seen.getFirst().getMessage());
  }

  @Test
  void respondIsForDecoupledModelsAndWholeResponses() {
    List<NereidException> seen = new CopyOnWriteArrayList<>();
    Model plain =
        nereid.load(
            identity("plain")
                .backend(context ->
                    batch -> {
                      BatchRequest one = batch.request(0);
                      batch.output("OUT", batch.input("IN"));
                      seen.add(assertThrows(NereidException.class, one::respond));
                      Executable error = () -> one.respondError(StatusCode.INTERNAL, "no");
                      seen.add(assertThrows(NereidException.class, error));
                      Executable none = () -> one.respondError(StatusCode.OK, "no");
                      assertThrows(IllegalArgumentException.class, none);
                    })
                .build());
    try (var request = plain.newRequest().input("IN", row(1))) {
      request.infer().close();
    }
    assertEquals(2, seen.size());
    seen.forEach(e -> assertEquals(StatusCode.FAILED_PRECONDITION, e.code()));
    Model empty =
        nereid.load(
            backend.model("empty").backend(context -> batch -> batch.request(0).respond()).build());
    try (var request = CountdownBackend.request(empty, 1);
        var stream = request.inferStream()) {
      NereidException e = assertThrows(NereidException.class, stream::next);
      assertTrue(e.getMessage().contains("'OUT'"), e.getMessage());
    }
  }

  @Test
  void aSlowReaderHoldsTheBackendUp() throws Exception {
    Model model = nereid.load(backend.model("m").build());
    try (var request = CountdownBackend.request(model, 200);
        var stream = request.inferStream()) {
      for (int i = 0; i < 200; i++) {
        if (i % 50 == 10) {
          int ahead = i + StreamQueue.CAPACITY;
          await(() -> backend.sent.get() == ahead, "the backend to fill the queue");
          Thread.sleep(20);
          assertEquals(ahead, backend.sent.get());
        }
        // The input, what waits, what is about to be sent, and what was just read.
        assertTrue(nereid.poolStatistics().liveBuffers() <= StreamQueue.CAPACITY + 3);
        CountdownBackend.check(stream.next(), 200, i);
      }
      assertNull(stream.next());
    }
  }

  @Test
  void aWarmUpsResponsesAreDropped() {
    WarmUp warmUp =
        new WarmUp(
            "w",
            1,
            1,
            Map.of("IN", new WarmUp.Input(DataType.INT32, List.of(1L), new WarmUp.Zero())));
    Model model =
        nereid.load(
            backend
                .model("m")
                .backend(context ->
                    batch -> {
                      for (int i = 0; i < 20; i++) {
                        batch.request(0).output("OUT", Tensor.ofInts(new int[] {1, i}, 1, 2));
                        batch.request(0).respond();
                        backend.sent.incrementAndGet();
                      }
                    })
                .warmUp(warmUp)
                .build());
    assertEquals(20, backend.sent.get());
    assertNotNull(model);
    assertEquals(0, nereid.poolStatistics().liveBuffers());
  }
}
