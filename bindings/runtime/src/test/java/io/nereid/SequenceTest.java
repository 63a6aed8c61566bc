package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model.Sequence;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceId;
import io.nereid.statistics.SequenceStatistics;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Sequences of requests to a backend in Java that is told about them by controls. */
class SequenceTest extends RuntimeTest {

  /** So long that no sequence ends by it in a test. */
  private static final Duration NEVER = Duration.ofHours(1);

  private static final String NO_START =
      "inference request for sequence 5 to model 'm' must specify the START flag on the first"
          + " request of the sequence";

  private final AccumulatorBackend backend = new AccumulatorBackend();

  /** Both strategies, two sequences at a time. */
  enum Way {
    DIRECT(SequenceBatching.direct()),
    OLDEST(SequenceBatching.oldest(2));

    private final SequenceBatching sequences;

    Way(SequenceBatching sequences) {
      this.sequences = sequences.withMaxIdle(NEVER);
    }
  }

  private Model load(Way way) {
    return nereid.load(backend.model("m", 2, DataType.UINT64, way.sequences).build());
  }

  @AfterEach
  void theBackendSawNothingWrong() {
    assertEquals(List.of(), backend.faults);
  }

  static InferRequest request(Model model, SequenceId id, int value) {
    return model.newRequest().input("IN", Tensor.ofInts(new int[] {value}, 1, 1)).sequence(id);
  }

  static int infer(InferRequest filled) {
    try (InferRequest request = filled;
        InferResponse response = request.infer()) {
      return response.output("OUT").intAt(0);
    }
  }

  private static int next(Sequence sequence, int value) {
    return infer(sequence.newRequest().input("IN", Tensor.ofInts(new int[] {value}, 1, 1)));
  }

  private static int last(Sequence sequence, int value) {
    return infer(sequence.lastRequest().input("IN", Tensor.ofInts(new int[] {value}, 1, 1)));
  }

  private static SequenceStatistics figures(Model model) {
    return model.statistics().sequences().orElseThrow();
  }

  static Stream<Arguments> waysAndIds() {
    return Stream.of(Way.values())
        .flatMap(way ->
            Stream.of(
                    DataType.UINT64,
                    DataType.INT64,
                    DataType.UINT32,
                    DataType.INT32,
                    DataType.BYTES)
                .map(type -> Arguments.of(way, type)));
  }

  /** More sequences than slots, each sent as a whole: the later ones wait in the backlog. */
  @ParameterizedTest
  @MethodSource("waysAndIds")
  void eachSequenceHasASumOfItsOwn(Way way, DataType ids) {
    Model model = nereid.load(backend.model("m", 2, ids, way.sequences).instanceCount(2).build());
    Random random = new Random(18);
    List<CompletableFuture<?>> answers = new ArrayList<>();
    for (int i = 1; i <= 40; i++) {
      SequenceId id = ids == DataType.BYTES ? SequenceId.of("sequence " + i) : SequenceId.of(i);
      int sum = 0;
      int length = 1 + random.nextInt(6);
      for (int step = 1; step <= length; step++) {
        sum += step;
        int expected = sum;
        InferRequest request =
            request(model, id, step).sequenceStart(step == 1).sequenceEnd(step == length);
        answers.add(
            request
                .inferAsync()
                .thenAccept(response -> {
                  try (request;
                      response) {
                    assertEquals(expected, response.output("OUT").intAt(0), id::toString);
                  }
                }));
      }
    }
    answers.forEach(CompletableFuture::join);
    SequenceStatistics figures = figures(model);
    assertEquals(new SequenceStatistics(4, 0, 0, 40, 40, 0, 0), figures);
    assertTrue(backend.mostRequests <= 2, () -> "" + backend.mostRequests);
  }

  @ParameterizedTest
  @EnumSource
  void sequencesShareBatches(Way way) throws Exception {
    Model model = load(way);
    backend.shut();
    List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
    List<InferRequest> requests = new ArrayList<>();
    for (int i = 1; i <= 2; i++) {
      requests.add(request(model, SequenceId.of(i), i).sequenceStart(true));
      requests.add(request(model, SequenceId.of(i), i).sequenceEnd(true));
    }
    requests.forEach(request -> answers.add(request.inferAsync()));
    backend.awaitBatch();
    backend.open(10);
    int[] expected = {1, 2, 2, 4};
    for (int i = 0; i < 4; i++) {
      try (InferResponse response = answers.get(i).join()) {
        assertEquals(expected[i], response.output("OUT").intAt(0));
      }
      requests.get(i).close();
    }
    assertEquals(2, backend.mostRequests);
  }

  @ParameterizedTest
  @EnumSource
  void requestsOutsideOfASequenceAreRefused(Way way) {
    Model model = load(way);
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "inference request to model 'm' must specify a non-zero or non-empty correlation ID",
        () -> infer(request(model, SequenceId.NONE, 1)));
    assertFails(
        StatusCode.INVALID_ARGUMENT, NO_START, () -> infer(request(model, SequenceId.of(5), 1)));
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "inference request to model 'm' must specify batch-size 1 due to requirements of sequence"
            + " batcher",
        () ->
            infer(
                model
                    .newRequest()
                    .input("IN", Tensor.ofInts(new int[] {1, 2}, 2, 1))
                    .sequence(SequenceId.of(5))
                    .sequenceStart(true)));
    assertFails(
        StatusCode.UNIMPLEMENTED,
        "string correlation ID cannot be longer than 128 characters",
        () -> model.sequence("ü".repeat(65)));
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "inference request to model 'm' has the correlation ID 'a', expected a number: the model"
            + " takes them as UINT64",
        () -> infer(request(model, SequenceId.of("a"), 1).sequenceStart(true)));
  }

  @ParameterizedTest
  @EnumSource
  void aSecondStartBeginsAnew(Way way) {
    Model model = load(way);
    SequenceId id = SequenceId.of(-1);
    assertEquals(5, infer(request(model, id, 5).sequenceStart(true)));
    assertEquals(7, infer(request(model, id, 2)));
    assertEquals(3, infer(request(model, id, 3).sequenceStart(true)));
    assertEquals(4, infer(request(model, id, 1).sequenceEnd(true)));
    assertFails(StatusCode.INVALID_ARGUMENT, () -> infer(request(model, id, 3)));
    assertEquals(9, infer(request(model, id, 9).sequenceStart(true).sequenceEnd(true)));
    assertEquals(0, figures(model).active());
  }

  /** The name of a sequence may be any text, and is another than the number. */
  @Test
  void namesAreTakenAsTheyAre() {
    Model model = nereid.load(backend.model("m", 4, DataType.BYTES, Way.DIRECT.sequences).build());
    List<SequenceId> ids =
        Stream.of("7", "7\0", "Ünïcode 😀", "ü".repeat(64)).map(SequenceId::of).toList();
    for (int i = 0; i < ids.size(); i++) {
      assertEquals(i, infer(request(model, ids.get(i), i).sequenceStart(true)));
    }
    for (int i = 0; i < ids.size(); i++) {
      assertEquals(i + 10, infer(request(model, ids.get(i), 10).sequenceEnd(true)));
    }
  }

  @ParameterizedTest
  @EnumSource
  void idleTimeEndsASequence(Way way) {
    SequenceBatching brief = way.sequences.withMaxIdle(Duration.ofMillis(2));
    Model model = nereid.load(backend.model("m", 2, DataType.UINT64, brief).build());
    assertEquals(1, infer(request(model, SequenceId.of(5), 1).sequenceStart(true)));
    await(() -> figures(model).idleEnded() == 1, "the sequence to end");
    assertEquals(0, figures(model).active());
    assertFails(
        StatusCode.INVALID_ARGUMENT, NO_START, () -> infer(request(model, SequenceId.of(5), 1)));
  }

  // ---- What becomes of a sequence when one of its requests is given up
  // ---------------------------

  @ParameterizedTest
  @EnumSource
  void cancellingOneTakesAllThatWait(Way way) throws Exception {
    Model model = load(way);
    backend.shut();
    InferRequest first = request(model, SequenceId.of(5), 1).sequenceStart(true);
    CompletableFuture<InferResponse> runs = first.inferAsync();
    backend.awaitBatch();
    InferRequest second = request(model, SequenceId.of(5), 2);
    InferRequest third = request(model, SequenceId.of(5), 3);
    CompletableFuture<InferResponse> cancelled = second.inferAsync();
    CompletableFuture<InferResponse> behind = third.inferAsync();
    assertTrue(second.cancel());
    assertEquals(StatusCode.CANCELLED, failure(cancelled).code());
    NereidException why = failure(behind);
    assertEquals(StatusCode.CANCELLED, why.code());
    assertTrue(why.getMessage().contains("in its sequence"), why::getMessage);
    backend.open(10);
    runs.join().close();
    Stream.of(first, second, third).forEach(InferRequest::close);
    assertEquals(11, infer(request(model, SequenceId.of(5), 10).sequenceEnd(true)));
  }

  @ParameterizedTest
  @EnumSource
  void aTimeoutTakesThoseBehindIt(Way way) throws Exception {
    Model model = load(way);
    backend.shut();
    InferRequest first = request(model, SequenceId.of(5), 1).sequenceStart(true);
    CompletableFuture<InferResponse> runs = first.inferAsync();
    backend.awaitBatch();
    // Long enough for the third to come before its end.
    InferRequest second = request(model, SequenceId.of(5), 2).timeout(Duration.ofSeconds(2));
    InferRequest third = request(model, SequenceId.of(5), 3);
    CompletableFuture<InferResponse> late = second.inferAsync();
    CompletableFuture<InferResponse> behind = third.inferAsync();
    failure(late);
    assertEquals(StatusCode.CANCELLED, failure(behind).code());
    backend.open(10);
    runs.join().close();
    Stream.of(first, second, third).forEach(InferRequest::close);
    assertEquals(11, infer(request(model, SequenceId.of(5), 10).sequenceEnd(true)));
  }

  private static NereidException failure(CompletableFuture<?> future) {
    CompletionException e = assertThrows(CompletionException.class, future::join);
    return (NereidException) e.getCause();
  }

  // ---- Sequence --------------------------------------------------------------------------------

  @Test
  void aSequenceStartsAndEndsByItself() {
    Model model = nereid.load(backend.model("m", 2, DataType.BYTES, Way.OLDEST.sequences).build());
    try (Sequence sequence = model.sequence("a");
        Sequence other = model.sequence("b")) {
      assertEquals(1, next(sequence, 1));
      assertEquals(20, next(other, 20));
      assertEquals(3, next(sequence, 2));
      assertEquals(6, last(sequence, 3));
      assertThrows(IllegalStateException.class, sequence::newRequest);
      assertThrows(IllegalStateException.class, sequence::lastRequest);
      assertEquals(1, figures(model).active());
    }
    assertEquals(1, figures(model).active(), "closing sends nothing");
    assertThrows(IllegalArgumentException.class, () -> model.sequence(0));
    assertThrows(IllegalArgumentException.class, () -> model.sequence(""));
  }

  /** A request that was made but not sent, or not taken, has not started it. */
  @Test
  void theFirstThatSucceedsStartsIt() {
    Model model = load(Way.DIRECT);
    try (Sequence sequence = model.sequence(5)) {
      sequence.newRequest().close();
      InferRequest empty = sequence.newRequest();
      assertFails(StatusCode.INVALID_ARGUMENT, empty::infer);
      empty.close();
      InferRequest two = sequence.newRequest();
      two.input("IN", Tensor.ofInts(new int[] {1, 2}, 2, 1));
      assertFails(StatusCode.INVALID_ARGUMENT, two::infer);
      two.close();
      assertEquals(1, next(sequence, 1));
      assertEquals(3, next(sequence, 2));
      assertEquals(6, last(sequence, 3));
    }
    assertEquals(new SequenceStatistics(2, 0, 0, 1, 1, 0, 0), figures(model));
  }

  /** A request that nobody waits for any more has not started it, either. */
  @Test
  void aStartThatIsGivenUpBeforeItsTurnIsMadeUpFor() throws Exception {
    SequenceBatching one = SequenceBatching.oldest(1).withMaxIdle(NEVER);
    Model model = nereid.load(backend.model("m", 1, DataType.UINT64, one).build());
    backend.shut();
    Sequence before = model.sequence(1);
    Tensor value = Tensor.ofInts(new int[] {1}, 1, 1);
    InferRequest only = before.lastRequest().input("IN", value);
    CompletableFuture<InferResponse> runs = only.inferAsync();
    backend.awaitBatch();
    Sequence interrupted = model.sequence(5);
    InferRequest waits = interrupted.newRequest().input("IN", value);
    Thread.currentThread().interrupt();
    assertFails(StatusCode.CANCELLED, waits::infer);
    assertTrue(Thread.interrupted());
    Sequence left = model.sequence(6);
    InferRequest streams = left.newRequest().input("IN", value);
    streams.inferStream().close();
    backend.open(10);
    runs.join().close();
    Stream.of(only, waits, streams).forEach(InferRequest::close);
    assertEquals(3, last(interrupted, 3));
    assertEquals(4, last(left, 4));
  }

  @Test
  void modelsWithoutSequencesHaveNoFigures() {
    assertTrue(nereid.load(identity("plain").build()).statistics().sequences().isEmpty());
  }
}
