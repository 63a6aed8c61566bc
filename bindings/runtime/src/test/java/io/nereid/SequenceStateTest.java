package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model.Sequence;
import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.Initial;
import io.nereid.model.SequenceBatching.State;
import io.nereid.model.SequenceId;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** States that the core keeps for sequences, and requests that backends give back. */
class SequenceStateTest extends RuntimeTest {

  private static final Duration NEVER = Duration.ofHours(1);

  @TempDir Path directory;

  /** Adds its input to a state; negative numbers fail. */
  private static void add(Batch batch) {
    Tensor in = batch.input("IN");
    Tensor state = batch.input("STATE");
    Tensor sums = batch.output("NEXT", state.shape());
    Tensor out = batch.output("OUT", state.shape());
    for (int row = 0; row < Math.max(1, batch.size()); row++) {
      int sum = in.intAt(row) + state.intAt(row);
      sums.segment().setAtIndex(ValueLayout.JAVA_INT, row, sum);
      out.segment().setAtIndex(ValueLayout.JAVA_INT, row, sum);
    }
    for (int i = 0; i < batch.requestCount(); i++) {
      if (batch.request(i).input("IN").intAt(0) < 0) {
        batch.fail(i, StatusCode.INVALID_ARGUMENT, "negative");
      }
    }
  }

  private static ModelSpec.Builder adder(String name, State state, SequenceBatching sequences) {
    return ModelSpec.builder(name)
        .backend(context -> SequenceStateTest::add)
        .maxBatchSize(4)
        .input("IN", DataType.INT32, 1)
        .output("OUT", DataType.INT32, 1)
        .sequenceBatching(sequences.withMaxIdle(NEVER).withState(state));
  }

  private static final State STATE = State.of("STATE", "NEXT", DataType.INT32, 1);

  private static int next(Sequence sequence, int value) {
    return SequenceTest.infer(
        sequence.newRequest().input("IN", Tensor.ofInts(new int[] {value}, 1, 1)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aStateIsKeptFromOneRequestToTheNext(boolean sameBuffer) {
    State state =
        new State("STATE", "NEXT", DataType.INT32, List.of(1L), Optional.empty(), sameBuffer);
    Model model = nereid.load(adder("m", state, SequenceBatching.direct()).build());
    assertEquals(List.of("IN"), names(model));
    try (Sequence one = model.sequence(1);
        Sequence two = model.sequence(2)) {
      assertEquals(1, next(one, 1));
      assertEquals(10, next(two, 10));
      assertEquals(3, next(one, 2));
      assertTrue(model.statistics().sequences().orElseThrow().stateBytes() >= 8);
      assertFails(StatusCode.INVALID_ARGUMENT, () -> next(one, -1));
      // A failure leaves the state as it was, unless the backend has written over it.
      assertEquals(sameBuffer ? 5 : 6, next(one, 3));
      assertEquals(30, next(two, 20));
    }
  }

  private static List<String> names(Model model) {
    return model.spec().inputs().stream().map(input -> input.name()).toList();
  }

  @Test
  void aStateBeginsWithAFile() throws Exception {
    Path file = directory.resolve("start");
    byte[] content = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(100).array();
    Files.write(file, content); // and more than is needed
    State state = STATE.withInitial(new Initial("start", List.of(1L), Optional.of(file)));
    Model model = nereid.load(adder("m", state, SequenceBatching.oldest(4)).build());
    try (Sequence sequence = model.sequence(1)) {
      assertEquals(101, next(sequence, 1));
      assertEquals(103, next(sequence, 2));
    }
    Files.write(file, new byte[3]);
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "initial state 'STATE': it has 3 bytes, expected 4",
        () -> nereid.load(adder("short", state, SequenceBatching.direct()).build()));
  }

  /** A client may see the state, and then the model lists its output. */
  @Test
  void aStateCanBeAnOutput() {
    ModelSpec spec =
        adder("m", STATE, SequenceBatching.direct()).output("NEXT", DataType.INT32, 1).build();
    assertEquals(List.of(), spec.hiddenOutputs());
    Model model = nereid.load(spec);
    for (int i = 1; i <= 3; i++) {
      try (InferRequest request =
              SequenceTest.request(model, SequenceId.of(9), 5).sequenceStart(i == 1);
          InferResponse response = request.infer()) {
        assertEquals(5 * i, response.output("NEXT").intAt(0));
      }
    }
  }

  // ---- Iterative -------------------------------------------------------------------------------

  /** Counts IN down to zero, one by one, each time it is executed. */
  private static void countDown(Batch batch, List<Integer> executed) {
    Tensor state = batch.input("STATE");
    Tensor next = batch.output("NEXT", state.shape());
    executed.add(batch.requestCount());
    for (int i = 0; i < batch.requestCount(); i++) {
      BatchRequest request = batch.request(i);
      int row = (int) request.firstRow();
      int done = state.intAt(row) + 1;
      next.segment().setAtIndex(ValueLayout.JAVA_INT, row, done);
      int all = request.input("IN").intAt(0);
      request.output("OUT", 1, 1).segment().setAtIndex(ValueLayout.JAVA_INT, 0, done);
      boolean decoupled = request.parameters().containsKey("each");
      if (decoupled) {
        request.respond();
      }
      if (done < all) {
        request.reschedule();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBackendGivesRequestsBackUntilTheyAreDone(boolean decoupled) {
    List<Integer> executed = new ArrayList<>();
    Model model =
        nereid.load(
            ModelSpec.builder("m")
                .backend(context -> batch -> countDown(batch, executed))
                .maxBatchSize(4)
                .decoupled(decoupled)
                .input("IN", DataType.INT32, 1)
                .output("OUT", DataType.INT32, 1)
                .sequenceBatching(SequenceBatching.oldest(4).asIterative().withState(STATE))
                .build());
    for (int all : new int[] {5, 1, 3}) {
      executed.clear();
      InferRequest request = model.newRequest().input("IN", Tensor.ofInts(new int[] {all}, 1, 1));
      List<Integer> got = new ArrayList<>();
      if (decoupled) {
        request.parameter("each", true);
      }
      try (request;
          ResponseStream stream = request.inferStream()) {
        for (InferResponse next = stream.next(); next != null; next = stream.next()) {
          try (InferResponse response = next) {
            got.add(response.output("OUT").intAt(0));
          }
        }
      }
      List<Integer> expected = new ArrayList<>();
      for (int i = decoupled ? 1 : all; i <= all; i++) {
        expected.add(i);
      }
      assertEquals(expected, got);
      assertEquals(all, executed.size());
    }
  }

  @Test
  void onlyIterativeModelsGiveRequestsBack() {
    Model model =
        nereid.load(
            identity("m").backend(context -> batch -> batch.request(0).reschedule()).build());
    assertFails(StatusCode.FAILED_PRECONDITION, () -> roundTrip(model, 1));
  }
}
