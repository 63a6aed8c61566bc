package io.nereid.tensorrt;

import static io.nereid.tensorrt.NetworkBuilder.dims;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Model.Sequence;
import io.nereid.Nereid;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.model.SequenceBatching.Direct;
import io.nereid.model.SequenceBatching.Initial;
import io.nereid.model.SequenceBatching.Kind;
import io.nereid.model.SequenceBatching.Oldest;
import io.nereid.model.SequenceBatching.State;
import io.nereid.model.TensorSpec;
import io.nereid.statistics.SequenceStatistics;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import org.bytedeco.tensorrt.global.nvinfer.ElementWiseOperation;
import org.bytedeco.tensorrt.nvinfer.ITensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sequences whose states stay on the device. */
class SequenceGpuTest extends GpuTest {

  private static final Duration NEVER = Duration.ofHours(1);
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Elements of a state. */
  private static final int SIZE = 64;

  private static final State STATE = State.of("state", "next", DataType.FP32, SIZE);

  // cudaMemcpyKind
  private static final int TO_DEVICE = 1;
  private static final int FROM_DEVICE = 2;
  private static final int WITHIN = 3;

  /** The sum of the inputs of a sequence; a state of one element takes the size of the input. */
  static void adder(NetworkBuilder builder) {
    org.bytedeco.tensorrt.global.nvinfer.DataType type =
        org.bytedeco.tensorrt.global.nvinfer.DataType.kFLOAT;
    ITensor x = builder.input("x", type, -1, -1);
    ITensor state = builder.input("state", type, -1, -1);
    var network = builder.network();
    builder.output("y", network.addElementWise(x, state, ElementWiseOperation.kSUM));
    builder.output("next", network.addElementWise(x, state, ElementWiseOperation.kSUM));
    builder.profile(profile -> {
      for (String input : List.of("x", "state")) {
        profile.shapes(input, dims(1, 1), dims(4, SIZE), dims(4, SIZE));
      }
    });
  }

  /** Of batches of the oldest, one at a time. */
  static ModelSpec.Builder adderSpec(Path plan) {
    return adderSpec(plan, batching(false), STATE).parameter("batches_in_flight", "1");
  }

  private ModelSpec.Builder adderSpec(SequenceBatching sequences, State state) {
    return adderSpec(plan(SequenceGpuTest::adder), sequences, state);
  }

  private static ModelSpec.Builder adderSpec(Path plan, SequenceBatching sequences, State state) {
    return spec(plan)
        .maxBatchSize(4)
        .input("x", DataType.FP32, -1)
        .output("y", DataType.FP32, -1)
        .sequenceBatching(sequences.withMaxIdle(NEVER).withState(state));
  }

  private static SequenceBatching batching(boolean direct) {
    return direct ? SequenceBatching.direct() : SequenceBatching.oldest(4);
  }

  private static Tensor all(float value, int size) {
    float[] values = new float[size];
    Arrays.fill(values, value);
    return Tensor.ofFloats(values, 1, size);
  }

  private static InferRequest request(Sequence sequence, float value) {
    return sequence.newRequest().input("x", all(value, SIZE));
  }

  private static InferRequest last(Sequence sequence, float value) {
    return sequence.lastRequest().input("x", all(value, SIZE));
  }

  /** The sum so far, which all elements are. */
  private static float sum(InferResponse response) {
    try (response) {
      float[] sums = response.output("y").toFloatArray();
      assertEquals(SIZE, sums.length);
      assertArrayEquals(all(sums[0], SIZE).toFloatArray(), sums);
      return sums[0];
    }
  }

  private static float infer(InferRequest request) {
    try (request) {
      return sum(request.infer());
    }
  }

  static float next(Sequence sequence, float value) {
    return infer(request(sequence, value));
  }

  private static SequenceStatistics statistics(Model model) {
    return model.statistics().sequences().orElseThrow();
  }

  private static void await(BooleanSupplier condition, String what) throws InterruptedException {
    long startNs = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - startNs < PATIENCE.toNanos(), what + " did not come");
      Thread.sleep(1);
    }
  }

  private static Rehearsal rehearsal() {
    assumeTrue(
        Rehearsal.find().isPresent(),
        "needs test-doubles/rehearsal in place of NVIDIA's libraries");
    return Rehearsal.find().orElseThrow();
  }

  // ---- What is computed ------------------------------------------------------------------------

  /** The sum of the inputs of a sequence, plus 1 000 for its first. */
  private static void accumulate(NetworkBuilder builder) {
    org.bytedeco.tensorrt.global.nvinfer.DataType type =
        org.bytedeco.tensorrt.global.nvinfer.DataType.kFLOAT;
    ITensor x = builder.input("x", type, -1, 1);
    ITensor state = builder.input("state", type, -1, 1);
    ITensor start = builder.input("start", type, -1, 1);
    var network = builder.network();
    var sum = network.addElementWise(x, state, ElementWiseOperation.kSUM).getOutput(0);
    builder.output("y", network.addElementWise(sum, start, ElementWiseOperation.kSUM));
    builder.output("next", network.addElementWise(x, state, ElementWiseOperation.kSUM));
    builder.profile(profile -> {
      for (String input : List.of("x", "state", "start")) {
        profile.shapes(input, dims(1, 1), dims(4, 1), dims(4, 1));
      }
    });
  }

  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "false, true", "true, true"})
  void aStateIsKeptBesideAControl(boolean direct, boolean graphs) {
    SequenceBatching sequences =
        batching(direct)
            .withMaxIdle(NEVER)
            .withControl(new SequenceBatching.Control("start", Kind.START, DataType.FP32, 0, 1_000))
            .withState(State.of("state", "next", DataType.FP32, 1));
    Model model =
        nereid.load(
            spec(plan(SequenceGpuTest::accumulate))
                .maxBatchSize(4)
                .input("x", DataType.FP32, 1)
                .output("y", DataType.FP32, 1)
                .parameter("optimization.cuda.graphs", Boolean.toString(graphs))
                .sequenceBatching(sequences)
                .build());
    List<Sequence> all = List.of(model.sequence(1), model.sequence(2), model.sequence(3));
    for (int step = 1; step <= 4; step++) {
      for (int i = 0; i < all.size(); i++) {
        float expected = step * (i + 1) + (step == 1 ? 1_000 : 0);
        try (InferRequest request =
                all.get(i).newRequest().input("x", Tensor.ofFloats(new float[] {i + 1}, 1, 1));
            InferResponse response = request.infer()) {
          assertEquals(expected, response.output("y").floatAt(0));
        }
      }
    }
    try (InferRequest request = model.newRequest()) {
      assertFalse(request.takesDeviceInputs(0));
    }
    all.forEach(Sequence::close);
  }

  /** Some begin, some go on and some end in the same batch, which two requests make. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneBeginsWhereAnotherEnds(boolean direct) throws Exception {
    SequenceBatching pairs =
        SequenceBatching.of(
            direct ? new Direct(NEVER, 1) : new Oldest(4, List.of(2), NEVER, false));
    Model model =
        nereid.load(
            adderSpec(pairs, STATE).maxBatchSize(2).parameter("batches_in_flight", "1").build());
    Sequence one = model.sequence(1);
    Sequence two = model.sequence(2);
    Sequence three = model.sequence(3);
    Sequence four = model.sequence(4);
    assertSums(request(one, 1), 1, request(two, 10), 10);
    assertSums(request(two, 10), 20, request(one, 1), 2);
    assertSums(last(one, 1), 3, request(two, 10), 30);
    await(() -> statistics(model).ended() == 1, "the end of the first");
    assertSums(request(three, 100), 100, last(two, 10), 40);
    await(() -> statistics(model).ended() == 2, "the end of the second");
    assertSums(request(four, 1000), 1000, last(three, 100), 200);
    assertEquals(5, model.statistics().executionCount());
  }

  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "false, true", "true, true"})
  void manySequencesShareBatches(boolean direct, boolean sameBuffer) throws Exception {
    State state =
        new State(
            "state", "next", DataType.FP32, List.of((long) SIZE), Optional.empty(), sameBuffer);
    Model model = nereid.load(adderSpec(batching(direct), state).build());
    List<Future<?>> clients = new ArrayList<>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int client = 0; client < 12; client++) {
        Random random = new Random(client);
        clients.add(
            threads.submit(() -> {
              for (int i = 0; i < 10; i++) {
                runSequence(model, random);
              }
            }));
      }
    }
    for (Future<?> client : clients) {
      client.get();
    }
    await(() -> statistics(model).ended() == 120, "the end of the last sequence");
    assertEquals(0, statistics(model).stateBytes());
  }

  private static void runSequence(Model model, Random random) {
    int length = 1 + random.nextInt(8);
    Sequence sequence = model.sequence(1 + random.nextLong(Long.MAX_VALUE));
    float expected = 0;
    for (int i = 1; i <= length; i++) {
      float value = random.nextInt(1000);
      expected += value;
      assertEquals(expected, infer(i == length ? last(sequence, value) : request(sequence, value)));
    }
  }

  @Test
  void aStateBeginsWithAFile() throws Exception {
    ByteBuffer content = ByteBuffer.allocate(SIZE * 4).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < SIZE; i++) {
      content.putFloat(0.5f);
    }
    Path file = Files.write(directory.resolve("start"), content.array());
    Initial initial = new Initial("start", List.of((long) SIZE), Optional.of(file));
    Model model = nereid.load(adderSpec(batching(true), STATE.withInitial(initial)).build());
    Sequence one = model.sequence(1);
    assertEquals(1.5f, next(one, 1));
    assertEquals(2.5f, next(one, 1));
    assertEquals(7.5f, next(model.sequence(2), 7));
    assertEquals(3.5f, next(one, 1));
    assertEquals(4.5f, next(model.sequence(1), 4), "begun anew");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void statesGrow(boolean sameBuffer) {
    State state =
        new State("state", "next", DataType.FP32, List.of(-1L), Optional.empty(), sameBuffer);
    Model model = nereid.load(adderSpec(batching(false), state).build());
    Sequence small = model.sequence(1);
    Sequence large = model.sequence(2);
    try (InferRequest request = small.newRequest().input("x", all(3, 1));
        InferResponse response = request.infer()) {
      assertArrayEquals(new float[] {3}, response.output("y").toFloatArray());
    }
    assertEquals(5, next(large, 5));
    assertEquals(4 + SIZE * 4, statistics(model).stateBytes());
    assertEquals(7, next(small, 4));
    assertEquals(6, next(large, 1));
    assertEquals(2 * SIZE * 4, statistics(model).stateBytes());
  }

  /** It goes to clients, too, where the model lists it. */
  @Test
  void aStateCanBeAnOutput() {
    Model model =
        nereid.load(adderSpec(batching(true), STATE).output("next", DataType.FP32, SIZE).build());
    Sequence sequence = model.sequence(1);
    for (int step = 1; step <= 3; step++) {
      try (InferRequest request = request(sequence, 1);
          InferResponse response = request.infer()) {
        assertEquals(step, response.output("next").floatAt(SIZE - 1));
      }
    }
  }

  /** The engine tells the rest. Instances are on all GPUs, and each sequence is on one of them. */
  @Test
  void aConfigurationNeedsToNameTheStateAlone() throws Exception {
    Path models =
        repository(
            plan(SequenceGpuTest::adder),
            """
            max_batch_size: 4
            sequence_batching {
              max_sequence_idle_microseconds: 3600000000
              state {
                input_name: "state" output_name: "next" data_type: TYPE_FP32 dims: [ 64 ]
                use_same_buffer_for_input_output: true use_growable_memory: true
              }
            }
            """);
    try (Nereid own = Nereid.open(models)) {
      Model model = own.model("m");
      assertEquals(List.of("x"), model.spec().inputs().stream().map(TensorSpec::name).toList());
      assertEquals(List.of("y"), model.spec().outputs().stream().map(TensorSpec::name).toList());
      List<Sequence> sequences = LongStream.rangeClosed(1, 12).mapToObj(model::sequence).toList();
      for (int step = 1; step <= 3; step++) {
        for (int i = 0; i < sequences.size(); i++) {
          assertEquals(step * i, next(sequences.get(i), i));
        }
      }
    }
  }

  // ---- Where states lie ------------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void statesDoNotPassTheProcessor(boolean direct) {
    Rehearsal rehearsal = rehearsal();
    Model model = nereid.load(adderSpec(batching(direct), STATE).build());
    Sequence sequence = model.sequence(1);
    next(sequence, 1); // what all begin with is brought there once
    next(model.sequence(2), 1);
    long[] before = new long[4];
    for (int kind = TO_DEVICE; kind <= WITHIN; kind++) {
      before[kind] = rehearsal.copied(kind);
    }
    int steps = 10;
    for (int step = 2; step <= 1 + steps; step++) {
      assertEquals(step, next(sequence, 1));
    }
    assertEquals(1, next(model.sequence(2), 1), "begun anew");
    long bytes = (steps + 1) * SIZE * 4L;
    assertEquals(bytes, rehearsal.copied(TO_DEVICE) - before[TO_DEVICE], "x alone");
    assertEquals(bytes, rehearsal.copied(FROM_DEVICE) - before[FROM_DEVICE], "y alone");
    assertEquals(2 * bytes, rehearsal.copied(WITHIN) - before[WITHIN], "states, in and out");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aStateIsWrittenOverWhereThatIsWanted(boolean sameBuffer) {
    State state =
        new State(
            "state", "next", DataType.FP32, List.of((long) SIZE), Optional.empty(), sameBuffer);
    Model model = nereid.load(adderSpec(batching(true), state).build());
    Sequence sequence = model.sequence(1);
    assertEquals(1, next(sequence, 1));
    memory().trim();
    long live = memory().liveBytes();
    assertEquals(2, next(sequence, 1));
    assertEquals(3, next(sequence, 1));
    assertEquals(live, memory().liveBytes());
    assertEquals(sameBuffer ? 0 : DevicePool.SMALLEST, memory().idleBytes());
  }

  @Test
  void aStateGoesWithItsSequence() throws Exception {
    Model model =
        nereid.load(adderSpec(batching(true), STATE).parameter("batches_in_flight", "1").build());
    infer(last(model.sequence(1), 1));
    await(() -> statistics(model).ended() == 1, "the end");
    long none = memory().liveBytes();
    Sequence sequence = model.sequence(2);
    next(sequence, 1);
    assertEquals(none + DevicePool.SMALLEST, memory().liveBytes());
    infer(last(sequence, 1));
    await(() -> memory().liveBytes() == none, "the state that ended");
    next(model.sequence(3), 1);
    next(model.sequence(4), 1);
    assertEquals(none + 2 * DevicePool.SMALLEST, memory().liveBytes());
    model.unload(); // those that are left are looked for after each test
  }

  @Test
  void aStateGoesWhenItsSequenceIsIdleForTooLong() throws Exception {
    ModelSpec spec =
        adderSpec(batching(false), STATE)
            .parameter("batches_in_flight", "1")
            .sequenceBatching(batching(false).withMaxIdle(Duration.ofMillis(5)).withState(STATE))
            .build();
    Model model = nereid.load(spec);
    infer(last(model.sequence(1), 1));
    await(() -> statistics(model).ended() == 1, "the end");
    long none = memory().liveBytes();
    next(model.sequence(2), 1);
    await(() -> statistics(model).idleEnded() == 1, "the idle end");
    assertEquals(none, memory().liveBytes());
  }

  // ---- What goes wrong -------------------------------------------------------------------------

  private static NereidException failure(CompletableFuture<InferResponse> answer) {
    ExecutionException e = assertThrows(ExecutionException.class, answer::get);
    return (NereidException) e.getCause();
  }

  @Test
  void aCancelledRequestLeavesTheStateAsItWas() throws Exception {
    SequenceBatching full = SequenceBatching.of(new Direct(NEVER, 1));
    Model model =
        nereid.load(
            adderSpec(full, STATE).maxBatchSize(2).parameter("batches_in_flight", "1").build());
    Sequence one = model.sequence(1);
    Sequence two = model.sequence(2);
    assertSums(request(one, 1), 1, request(two, 10), 10);
    long live = memory().liveBytes();
    try (InferRequest waits = request(one, 100)) {
      CompletableFuture<InferResponse> answer = waits.inferAsync();
      assertTrue(waits.cancel());
      assertEquals(StatusCode.CANCELLED, failure(answer).code());
    }
    assertSums(request(one, 2), 3, last(two, 10), 20);
    await(() -> statistics(model).ended() == 1, "the end");
    Sequence lost = model.sequence(3);
    try (InferRequest waits = request(lost, 100)) {
      CompletableFuture<InferResponse> answer = waits.inferAsync();
      assertTrue(waits.cancel());
      assertEquals(StatusCode.CANCELLED, failure(answer).code());
    }
    assertEquals(1, statistics(model).active(), "one without its START is none");
    assertTrue(memory().liveBytes() < live);
    assertSums(request(one, 2), 5, request(model.sequence(4), 9), 9);
  }

  private static void assertSums(
      InferRequest one, float expectedOne, InferRequest two, float expectedTwo) throws Exception {
    try (one;
        two) {
      CompletableFuture<InferResponse> answerOne = one.inferAsync();
      CompletableFuture<InferResponse> answerTwo = two.inferAsync();
      assertEquals(expectedOne, sum(answerOne.get()));
      assertEquals(expectedTwo, sum(answerTwo.get()));
    }
  }

  /** Each call of an execution fails once: the state is that of the last one that succeeded. */
  @Test
  void aFailedRequestLeavesTheStateAsItWas() {
    Rehearsal rehearsal = rehearsal();
    Model model =
        nereid.load(adderSpec(batching(true), STATE).parameter("batches_in_flight", "1").build());
    Sequence sequence = model.sequence(1);
    float sum = next(sequence, 1);
    Map<String, Long> before = rehearsal.calls();
    sum = next(sequence, 1);
    Map<String, Long> after = rehearsal.calls();
    int failures = 0;
    for (String call : after.keySet()) {
      long count = after.get(call) - before.getOrDefault(call, 0L);
      for (long nth = 1; nth <= count && !call.endsWith("~late"); nth++) {
        rehearsal.fail(call, nth, 2);
        try {
          assertEquals(sum + 1, next(sequence, 1), call);
          sum++;
        } catch (NereidException e) {
          failures++;
        } finally {
          assertEquals(0, rehearsal.misuses(), call);
          rehearsal.reset();
        }
        assertEquals(++sum, next(sequence, 1), call + " " + nth);
      }
    }
    assertTrue(failures >= 6, "of copies, in and out, and of the execution: " + failures);
  }

  // ---- Reloads ---------------------------------------------------------------------------------

  @Test
  void sequencesEndOnTheLoadOnWhichTheyBegan() throws Exception {
    List<ModelEvent> events = new CopyOnWriteArrayList<>();
    nereid.addListener(events::add);
    ModelSpec spec = adderSpec(batching(true), STATE).build();
    Model model = nereid.load(spec);
    Sequence old = model.sequence(1);
    assertEquals(1, next(old, 1));
    Thread reload = Thread.ofVirtual().start(() -> nereid.load(spec));
    await(
        () -> events.stream().filter(ModelEvent.Ready.class::isInstance).count() == 2,
        "the new load");
    Sequence fresh = model.sequence(2);
    assertEquals(5, next(fresh, 5));
    assertEquals(2, next(old, 1));
    long live = memory().liveBytes();
    assertEquals(3, infer(last(old, 1)));
    reload.join();
    assertTrue(memory().liveBytes() < live);
    assertEquals(10, next(fresh, 5));
  }
}
