package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.internal.request.StreamQueue;
import io.nereid.model.Backend;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ensembles with a decoupled step. */
class EnsembleStreamTest extends RuntimeTest {

  private static final int ADDED = 1000;

  private static final String REPEATED =
      """
      platform: "ensemble"
      input [ { name: "IN" data_type: TYPE_INT32 dims: -1 },
              { name: "DELAY" data_type: TYPE_UINT32 dims: -1 },
              { name: "WAIT" data_type: TYPE_UINT32 dims: 1 } ]
      output { name: "OUT" data_type: TYPE_INT32 dims: 1 }
      ensemble_scheduling {
        max_inflight_requests: 2
        step {
          model_name: "r"
          model_version: -1
          input_map [ { key: "IN" value: "IN" }, { key: "DELAY" value: "DELAY" },
                      { key: "WAIT" value: "WAIT" } ]
          output_map { key: "OUT" value: "between" }
        }
        step {
          model_name: "copy"
          model_version: -1
          input_map { key: "IN" value: "between" }
          output_map { key: "OUT" value: "OUT" }
        }
      }
      """;

  @TempDir Path directory;

  private final CountdownBackend countdown = new CountdownBackend();

  /** Adds a number to all elements. */
  private static Backend adding(int number) {
    return context ->
        batch -> {
          int[] values = batch.input("IN").toIntArray();
          for (int i = 0; i < values.length; i++) {
            values[i] += number;
          }
          batch.output("OUT", Tensor.ofInts(values, batch.input("IN").shape()));
        };
  }

  private static ModelSpec.Builder ints(String name) {
    return ModelSpec.builder(name)
        .maxBatchSize(8)
        .input("IN", DataType.INT32, -1)
        .output("OUT", DataType.INT32, -1);
  }

  private static ModelSpec ensemble(String name, int limit, String... models) {
    List<Ensemble.Step> steps = EnsembleTest.chain(models).steps();
    return ints(name).ensemble(new Ensemble(steps, limit)).build();
  }

  /** A countdown with a model behind it that adds. */
  private Model stream(int limit) {
    nereid.load(countdown.model("c").instanceCount(2).build());
    nereid.load(ints("a").backend(adding(ADDED)).build());
    return nereid.load(ensemble("e", limit, "c", "a"));
  }

  private static void check(InferResponse response, int count, int number) {
    CountdownBackend.check(response, count + ADDED, number + ADDED);
  }

  // ---- What comes ------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource({"0,0", "1,0", "9,0", "500,0", "500,1", "500,5"})
  void eachResponsePassesTheStepsBehind(int count, int limit) {
    for (boolean last : new boolean[] {false, true}) {
      countdown.lastAtEnd = last;
      Model model = stream(limit);
      assertTrue(model.spec().decoupled());
      try (var request = CountdownBackend.request(model, count);
          var stream = request.inferStream()) {
        for (int i = 0; i < count; i++) {
          check(stream.next(), count, i);
        }
        assertNull(stream.next());
      }
      assertEquals(1, model.statistics().success().count());
      assertEquals(count, nereid.model("a").statistics().success().count());
      assertEquals(0, nereid.poolStatistics().liveBuffers());
      model.unload();
    }
  }

  @Test
  void itIsDecoupledBecauseItsStepIs() throws IOException {
    Model model = stream(3);
    String config = model.configuration().toJson();
    assertTrue(config.contains("\"model_transaction_policy\":{\"decoupled\":true}"), config);
    assertTrue(config.contains("\"max_inflight_requests\":3"), config);
    try (var request = CountdownBackend.request(model, 1)) {
      assertFails(StatusCode.UNIMPLEMENTED, request::infer);
    }
    ModelSpec plain = ints("plain").decoupled(true).ensemble(EnsembleTest.chain("a", "a")).build();
    Model loaded = nereid.load(plain);
    assertFalse(loaded.spec().decoupled());
    assertTrue(loaded.configuration().toJson().contains("\"decoupled\":false"));
    try (var request = CountdownBackend.request(loaded, 1);
        var response = request.infer()) {
      assertEquals(1 + 2 * ADDED, response.output("OUT").intAt(0));
    }
  }

  @Test
  void anEnsembleOfARepositoryStreamsAsWell() throws IOException {
    RepositoryFixture files = new RepositoryFixture(directory);
    files.model(
        "r",
        """
        backend: "repeat"
        model_transaction_policy { decoupled: true }
        input [ { name: "IN" data_type: TYPE_INT32 dims: -1 },
                { name: "DELAY" data_type: TYPE_UINT32 dims: -1 },
                { name: "WAIT" data_type: TYPE_UINT32 dims: 1 } ]
        output [ { name: "OUT" data_type: TYPE_INT32 dims: 1 },
                 { name: "IDX" data_type: TYPE_UINT32 dims: 1 } ]
        """,
        1);
    files.model(
        "copy",
        """
        backend: "identity"
        input { name: "IN" data_type: TYPE_INT32 dims: 1 }
        output { name: "OUT" data_type: TYPE_INT32 dims: 1 }
        """,
        1);
    files.model("e", REPEATED, 1);
    try (Nereid own = Nereid.open(directory)) {
      Model model = own.model("e");
      assertEquals(2, model.spec().ensemble().orElseThrow().maxInflightRequests());
      String config = model.configuration().toCommentedText();
      assertTrue(config.contains("decoupled: true"), config);
      try (var request =
              model
                  .newRequest()
                  .input("IN", Tensor.ofInts(new int[] {5, 6, 7}, 3))
                  .input("DELAY", Tensor.of(DataType.UINT32, MemorySegment.ofArray(new int[3]), 3))
                  .input("WAIT", Tensor.of(DataType.UINT32, MemorySegment.ofArray(new int[1]), 1));
          var stream = request.inferStream()) {
        for (int i = 0; i < 3; i++) {
          try (var response = stream.next()) {
            assertEquals(5 + i, response.output("OUT").intAt(0));
          }
        }
        assertNull(stream.next());
      }
    }
  }

  @Test
  void valuesThatComeUnequallyOftenAreNotJoined() {
    nereid.load(countdown.model("c").build());
    nereid.load(
        ModelSpec.builder("join")
            .backend(adding(0))
            .maxBatchSize(8)
            .input("IN", DataType.INT32, -1)
            .input("TOO", DataType.INT32, -1)
            .output("OUT", DataType.INT32, -1)
            .build());
    Ensemble graph =
        new Ensemble(
            List.of(
                new Ensemble.Step(
                    "c", OptionalLong.empty(), Map.of("IN", "IN"), Map.of("OUT", "t")),
                new Ensemble.Step(
                    "join",
                    OptionalLong.empty(),
                    Map.of("IN", "t", "TOO", "IN"),
                    Map.of("OUT", "OUT"))));
    NereidException refused =
        assertFails(
            StatusCode.INVALID_ARGUMENT, () -> nereid.load(ints("e").ensemble(graph).build()));
    assertTrue(
        refused
            .getMessage()
            .startsWith("step 'join' receives inputs originated from different decoupled models"),
        refused::getMessage);
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "response_cache is not possible with a decoupled model",
        () ->
            nereid.load(
                ints("e").responseCache(true).ensemble(EnsembleTest.chain("c", "c")).build()));
  }

  @Test
  void streamsInStreamsKeepTheirOrder() {
    nereid.load(countdown.model("c").build());
    CountdownBackend inner = new CountdownBackend();
    nereid.load(inner.model("inner").build());
    nereid.load(
        ints("second")
            .backend(context ->
                batch -> {
                  int[] values = batch.input("IN").toIntArray();
                  batch.output("OUT", Tensor.ofInts(new int[] {values[1] + 1}, 1, 1));
                })
            .build());
    Model model = nereid.load(ensemble("e", 0, "c", "second", "inner"));
    try (var request = CountdownBackend.request(model, 5);
        var stream = request.inferStream()) {
      for (int i = 1; i <= 5; i++) {
        for (int j = 0; j < i; j++) {
          CountdownBackend.check(stream.next(), i, j);
        }
      }
      assertNull(stream.next());
    }
  }

  // ---- How it ends, and what holds it up -------------------------------------------------------

  @Test
  void aFailureComesBehindTheResponsesBeforeIt() {
    countdown.failAfter = 3;
    Model model = stream(0);
    try (var request = CountdownBackend.request(model, 5);
        var stream = request.inferStream()) {
      for (int i = 0; i < 3; i++) {
        check(stream.next(), 5, i);
      }
      assertFails(StatusCode.INTERNAL, "in ensemble 'e', step 'c': failed after 3", stream::next);
    }
  }

  @Test
  void anErrorAmongAStepsResponsesEndsTheStream() {
    countdown.errorAt = 1;
    Model model = stream(0);
    try (var request = CountdownBackend.request(model, 5);
        var stream = request.inferStream()) {
      check(stream.next(), 5, 0);
      assertFails(
          StatusCode.NOT_FOUND, "in ensemble 'e', step 'c': without nümber 1", stream::next);
    }
    assertEquals(1, countdown.cancelled.get(), "respondError has told the backend");
  }

  @Test
  void anExceptionOfALaterStepEndsTheStream() {
    Model model = stream(2);
    nereid.load(
        ints("a")
            .backend(context ->
                batch -> {
                  if (batch.input("IN").intAt(1) == 2) {
                    throw new IllegalStateException("two");
                  }
                  batch.output("OUT", batch.input("IN"));
                })
            .build());
    try (var request = CountdownBackend.request(model, -1);
        var stream = request.inferStream()) {
      CountdownBackend.check(stream.next(), -1, 0);
      CountdownBackend.check(stream.next(), -1, 1);
      assertFails(StatusCode.INTERNAL, stream::next);
    }
    await(() -> countdown.cancelled.get() == 1, "the decoupled step to be told");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aReaderThatIsSlowHoldsUpTheDecoupledStep(int limit) {
    Model model = stream(limit);
    try (var request = CountdownBackend.request(model, -1);
        var stream = request.inferStream()) {
      await(() -> countdown.sent.get() >= StreamQueue.CAPACITY, "the queue to be full");
      for (int i = 0; i < 100; i++) {
        int sent = countdown.sent.get();
        assertTrue(sent <= i + StreamQueue.CAPACITY + limit, "read " + i + ", sent " + sent);
        check(stream.next(), -1, i);
      }
    }
    await(() -> countdown.cancelled.get() == 1, "the decoupled step to be told");
  }

  @Test
  void noMoreAreOnTheirWayThanAllowed() {
    Semaphore permits = new Semaphore(0);
    nereid.load(countdown.model("c").build());
    nereid.load(
        ints("a")
            .inline(false)
            .backend(context ->
                batch -> {
                  permits.tryAcquire(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                  batch.output("OUT", batch.input("IN"));
                })
            .build());
    Model model = nereid.load(ensemble("e", 3, "c", "a"));
    try (var request = CountdownBackend.request(model, 50);
        var stream = request.inferStream()) {
      // One executes, and the others wait for it.
      await(() -> nereid.model("a").statistics().pendingCount() == 2, "three to be on their way");
      assertTrue(countdown.sent.get() <= 3);
      for (int i = 0; i < 50; i++) {
        permits.release();
        CountdownBackend.check(stream.next(), 50, i);
        assertTrue(countdown.sent.get() <= i + 1 + 3);
      }
      assertNull(stream.next());
    }
  }

  @Test
  void aStreamGoesOnWhenAStepIsLoadedAgain() throws Exception {
    Model model = stream(0);
    Failures failures = new Failures();
    try (var request = CountdownBackend.request(model, 30);
        var stream = request.inferStream()) {
      for (int i = 0; i < 5; i++) {
        check(stream.next(), 30, i);
      }
      // Waits until the old load has answered all it has.
      Thread loading =
          failures.startVirtual(() -> nereid.load(ints("a").backend(adding(7)).build()));
      await(() -> first(model) == 1 + 7, "the ensemble to take the new load");
      for (int i = 5; i < 30; i++) {
        check(stream.next(), 30, i);
      }
      assertNull(stream.next());
      failures.join(loading);
    }
  }

  private static int first(Model model) {
    try (var request = CountdownBackend.request(model, 1);
        var stream = request.inferStream();
        var response = stream.next()) {
      return response.output("OUT").intAt(0);
    }
  }

  @Test
  void unloadingEndsAStreamThatNobodyReads() {
    nereid.close();
    nereid = Nereid.create(options().drainTimeout(Duration.ofSeconds(1)).build());
    Model model = stream(0);
    try (var request = CountdownBackend.request(model, -1);
        var stream = request.inferStream()) {
      await(() -> countdown.sent.get() >= StreamQueue.CAPACITY, "the queue to be full");
      model.unload();
      await(() -> countdown.cancelled.get() == 1, "the decoupled step to be told");
      NereidException failure = null;
      while (failure == null) {
        try (var response = stream.next()) {
          assertTrue(response != null, "it ended as if it were complete");
        } catch (NereidException e) {
          failure = e;
        }
      }
      assertEquals(StatusCode.UNAVAILABLE, failure.code());
    }
  }
}
