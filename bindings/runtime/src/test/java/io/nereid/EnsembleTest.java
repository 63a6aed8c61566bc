package io.nereid;

import static io.nereid.RepositoryFixture.BATCHING;
import static io.nereid.RepositoryFixture.NEGATING;
import static io.nereid.RepositoryFixture.answer;
import static io.nereid.RepositoryFixture.assertFails;
import static io.nereid.RepositoryFixture.index;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Backend;
import io.nereid.model.DynamicBatching;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.model.SequenceBatching;
import io.nereid.statistics.ModelStatistics;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Graphs of models that are served as one. */
class EnsembleTest extends RuntimeTest {

  @TempDir Path directory;

  private static Ensemble.Step step(String model, Map<String, String> in, Map<String, String> out) {
    return new Ensemble.Step(model, OptionalLong.empty(), in, out);
  }

  /** IN to OUT through each of the models, one after another. */
  static Ensemble chain(String... models) {
    List<Ensemble.Step> steps = new ArrayList<>();
    for (int i = 0; i < models.length; i++) {
      String from = i == 0 ? "IN" : "t" + i;
      String to = i == models.length - 1 ? "OUT" : "t" + (i + 1);
      steps.add(step(models[i], Map.of("IN", from), Map.of("OUT", to)));
    }
    return new Ensemble(steps);
  }

  static ModelSpec ensemble(String name, Ensemble graph) {
    return ModelSpec.builder(name)
        .maxBatchSize(8)
        .input("IN", DataType.FP32, 4)
        .output("OUT", DataType.FP32, 4)
        .ensemble(graph)
        .build();
  }

  /** Adds a number to the first element of each request. */
  private static Backend adding(float number) {
    return context ->
        batch -> {
          float[] values = batch.input("IN").toFloatArray();
          for (int i = 0; i < values.length; i += 4) {
            values[i] += number;
          }
          batch.output("OUT", Tensor.ofFloats(values, batch.size(), 4));
        };
  }

  // ---- What it does ----------------------------------------------------------------------------

  @Test
  void aChainOfIdleModelsRunsOnTheCallersThread() {
    Duration any = Duration.ofHours(1);
    nereid.load(identity("a").backend(adding(1)).inlineBudget(any).build());
    nereid.load(identity("b").backend(adding(10)).inlineBudget(any).build());
    Model model = nereid.load(ensemble("e", chain("a", "b", "a")));
    try (var request = model.newRequest().input("IN", row(5));
        var response = request.infer()) {
      assertEquals(17, response.output("OUT").floatAt(0));
      assertTrue(response.ranInline());
    }
    assertEquals(2, nereid.model("a").statistics().success().count());
    assertEquals(1, nereid.model("b").statistics().success().count());
    ModelStatistics own = model.statistics();
    assertEquals(1, own.success().count());
    assertEquals(1, own.inferenceCount());
    assertTrue(own.computeInfer().totalNs() > 0);
  }

  @Test
  void stepsThatNeedNotWaitForEachOtherRunAtTheSameTime() {
    CyclicBarrier both = new CyclicBarrier(2);
    Backend meeting =
        context ->
            batch -> {
              both.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
              batch.output("OUT", batch.input("IN"));
            };
    nereid.load(identity("left").backend(meeting).build());
    nereid.load(identity("right").backend(meeting).build());
    ModelSpec spec =
        ModelSpec.builder("e")
            .maxBatchSize(8)
            .input("IN", DataType.FP32, 4)
            .output("L", DataType.FP32, 4)
            .output("R", DataType.FP32, 4)
            .ensemble(
                new Ensemble(
                    List.of(
                        step("left", Map.of("IN", "IN"), Map.of("OUT", "L")),
                        step("right", Map.of("IN", "IN"), Map.of("OUT", "R")))))
            .build();
    try (var request = nereid.load(spec).newRequest().input("IN", row(5));
        var response = request.infer()) {
      assertEquals(5, response.output("L").floatAt(0));
      assertEquals(5, response.output("R").floatAt(0));
    }
  }

  @Test
  void deadlinesAndCancellationReachTheSteps() throws Exception {
    GateBackend gate = new GateBackend();
    nereid.load(gate.model("slow").build());
    Model model = nereid.load(ensemble("e", chain("slow", "slow")));
    Failures failures = new Failures();
    try (var first = model.newRequest().input("IN", row(1));
        var late = model.newRequest().input("IN", row(2)).deadline(Duration.ofMillis(50));
        var unwanted = model.newRequest().input("IN", row(3))) {
      var answer = first.inferAsync();
      gate.awaitBatch();
      var cancelled = unwanted.inferAsync();
      assertFails(StatusCode.DEADLINE_EXCEEDED, late::infer);
      assertTrue(unwanted.cancel());
      Throwable reason = cancelled.handle((response, e) -> e).get();
      assertEquals(StatusCode.CANCELLED, ((NereidException) reason).code());
      gate.open(2);
      try (var response = answer.get()) {
        assertEquals(1, response.output("OUT").floatAt(0));
      }
    }
    failures.join();
    assertEquals(List.of(1f, 1f), gate.executed, "what was given up never ran");
  }

  @Test
  void aFailingStepIsNamed() {
    nereid.load(
        identity("bad")
            .backend(context ->
                batch -> {
                  throw new NereidException(StatusCode.RESOURCE_EXHAUSTED, "no more");
                })
            .build());
    Model model = nereid.load(ensemble("e", chain("bad")));
    try (var request = model.newRequest().input("IN", row(1))) {
      NereidException e = assertFails(StatusCode.RESOURCE_EXHAUSTED, request::infer);
      assertEquals("in ensemble 'e', step 'bad': no more", e.getMessage());
    }
  }

  @Test
  void aResponseTellsTheSequenceOfItsRequest() {
    SequenceBatching direct = SequenceBatching.direct().withMaxIdle(Duration.ofHours(1));
    nereid.load(identity("steps").sequenceBatching(direct).build());
    Model model = nereid.load(ensemble("e", chain("steps")));
    try (Model.Sequence sequence = model.sequence("caller")) {
      try (var request = sequence.newRequest().input("IN", row(1));
          var response = request.infer()) {
        assertEquals(
            Map.of("sequence_id", "caller", "sequence_start", true, "sequence_end", false),
            response.parameters());
      }
      try (var request = sequence.lastRequest().input("IN", row(2));
          var response = request.infer()) {
        assertEquals(
            Map.of("sequence_id", "caller", "sequence_start", false, "sequence_end", true),
            response.parameters());
      }
    }
  }

  // ---- What is refused -------------------------------------------------------------------------

  @Test
  void graphsThatCannotWorkAreRefusedWithTheTensorsName() {
    nereid.load(identity("a").build());
    nereid.load(
        ModelSpec.builder("ints")
            .backend("identity")
            .maxBatchSize(8)
            .input("IN", DataType.INT32, 4)
            .output("OUT", DataType.INT32, 4)
            .build());
    nereid.load(
        ModelSpec.builder("wide")
            .backend("identity")
            .maxBatchSize(4)
            .input("IN", DataType.FP32, 5)
            .output("OUT", DataType.FP32, 5)
            .build());
    Map<String, String> in = Map.of("IN", "IN");
    refused("tensor 't1' is FP32 [-1, 4] as output 'OUT' of step 'a', but", chain("a", "ints"));
    refused("'IN' of step 'ints' is INT32 [-1, 4]", chain("a", "ints"));
    refused(
        "tensor 'OUT' is made twice: as output 'OUT' of step 'a' and as output 'OUT' of step 'a'",
        new Ensemble(
            List.of(step("a", in, Map.of("OUT", "OUT")), step("a", in, Map.of("OUT", "OUT")))));
    refused(
        "tensor 'nothing', which is input 'IN' of step 'a', is neither an input of the ensemble",
        new Ensemble(List.of(step("a", Map.of("IN", "nothing"), Map.of("OUT", "OUT")))));
    refused(
        "tensor 'OUT', which is the ensemble's output, is neither",
        new Ensemble(List.of(step("a", in, Map.of("OUT", "other")))));
    refused(
        "step 'a' has no input 'X', it has [IN]",
        new Ensemble(List.of(step("a", Map.of("IN", "IN", "X", "IN"), Map.of("OUT", "OUT")))));
    refused(
        "step 'a' needs its input 'IN'",
        new Ensemble(List.of(step("a", Map.of(), Map.of("OUT", "OUT")))));
    refused(
        "tensors depend on themselves: 'x', 'y'",
        new Ensemble(
            List.of(
                step("a", in, Map.of("OUT", "OUT")),
                step("a", Map.of("IN", "y"), Map.of("OUT", "x")),
                step("a", Map.of("IN", "x"), Map.of("OUT", "y")))));
    refused("max_batch_size is 8, but step 'wide' takes at most 4", chain("wide"));
    refused("ensemble 'e' is a step of itself", chain("e"));
    refused("step 'nobody' has no version", chain("nobody"), StatusCode.UNAVAILABLE);
  }

  @Test
  void stepsHaveALimitHoweverTheyAreNested() {
    nereid.load(identity("a").build());
    nereid.load(ensemble("wide", new Ensemble(many("a", 999))));
    nereid.load(ensemble("half", chain("wide", "a")));
    refused(
        "expected at most 1024 steps, those of ensembles among them counted as well, got 2002",
        chain("wide", "wide"));
    refused("counted as well, got 1104", new Ensemble(many("half", 101)));
  }

  /** One step of a model, and this many of another. */
  private static List<Ensemble.Step> many(String model, int others) {
    List<Ensemble.Step> steps =
        new ArrayList<>(List.of(step(model, Map.of("IN", "IN"), Map.of("OUT", "OUT"))));
    for (int i = 0; i < others; i++) {
      steps.add(step("a", Map.of("IN", "IN"), Map.of("OUT", "t" + i)));
    }
    return steps;
  }

  private void refused(String message, Ensemble graph) {
    refused(message, graph, StatusCode.INVALID_ARGUMENT);
  }

  private void refused(String message, Ensemble graph, StatusCode code) {
    RepositoryFixture.assertFails(code, message, () -> nereid.load(ensemble("e", graph)));
  }

  @Test
  void anEnsembleCannotComeToUseItself() {
    nereid.load(identity("a").build());
    nereid.load(ensemble("inner", chain("a")));
    nereid.load(ensemble("outer", chain("inner", "a")));
    RepositoryFixture.assertFails(
        StatusCode.INVALID_ARGUMENT,
        "ensemble 'inner' is a step of itself",
        () -> nereid.load(ensemble("inner", chain("outer"))));
    roundTrip(nereid.model("outer"), 4);
  }

  // ---- When its models change ------------------------------------------------------------------

  @Test
  void anEnsembleFollowsItsModels() {
    nereid.load(identity("a").backend(adding(1)).build());
    Model inner = nereid.load(ensemble("inner", chain("a")));
    Model outer = nereid.load(ensemble("outer", chain("inner", "a")));
    assertEquals(2, answer(outer, 0));
    nereid.load(identity("a").backend(adding(5)).build());
    assertEquals(10, answer(outer, 0), "reloaded");
    nereid.load(identity("a").version(2).backend(adding(7)).build());
    assertEquals(14, answer(outer, 0), "a newer version");
    nereid.model("a", 2).unload();
    assertEquals(10, answer(outer, 0), "the older one again");
    nereid.model("a", 1).unload();
    for (Model model : List.of(inner, outer)) {
      assertEquals(ModelState.INCOMPLETE, model.state());
    }
    assertEquals(
        "ensemble 'inner' needs model 'a', which is not loaded", inner.failure().orElse(""));
    RepositoryFixture.assertFails(
        StatusCode.UNAVAILABLE, "'outer' version 1 is not at ready state", outer::newRequest);
    nereid.load(identity("a").backend(adding(9)).build());
    assertEquals(18, answer(outer, 0), "it comes back");
    outer.unload();
    nereid.load(identity("a").backend(adding(0)).build());
    assertEquals(ModelState.UNLOADED, outer.state(), "what was unloaded stays so");
  }

  @Test
  void anEnsembleFollowsAModelThatWasReplacedWhileItWasLoaded() throws Exception {
    nereid.load(identity("a").build());
    for (int i = 1; i <= 300; i++) {
      ModelSpec next = identity("a").backend(adding(i)).build();
      Failures failures = new Failures();
      Thread replacing = failures.startVirtual(() -> nereid.load(next));
      Model model = nereid.load(ensemble("e", chain("a")));
      failures.join(replacing);
      assertEquals(i, answer(model, 0));
      model.unload();
    }
  }

  @Test
  void aModelThatFitsNoLongerLeavesTheEnsembleAsItWas() {
    nereid.load(identity("a").build());
    Model model = nereid.load(ensemble("e", chain("a")));
    nereid.load(identity("a").maxBatchSize(2).build());
    roundTrip(model, 3);
    assertTrue(model.failure().orElse("").contains("takes at most 2"), "" + model.failure());
    assertEquals(2, nereid.model("a").spec().maxBatchSize());
    nereid.load(identity("a").build());
    roundTrip(model, 3);
    assertTrue(model.failure().isEmpty());
  }

  @Test
  void aFailedLoadChangesNothing() {
    nereid.load(identity("a").backend(adding(1)).build());
    Model plain = nereid.load(identity("p").build());
    Model model = nereid.load(ensemble("e", chain("a")));
    refused("no version that is ready", "e", chain("a", "nobody"));
    refused("no version that is ready", "p", chain("a", "nobody"));
    nereid.load(identity("a").backend(adding(2)).build());
    assertEquals(2, answer(model, 0), "it follows the models that it is served with");
    refused("no version that is ready", "e", chain("nobody"));
    nereid.model("a").unload();
    assertEquals(ModelState.INCOMPLETE, model.state(), "and leaves with them");
    roundTrip(plain, 3);
    nereid.load(identity("a").backend(adding(4)).build());
    assertEquals(4, answer(model, 0));
  }

  private void refused(String message, String name, Ensemble graph) {
    RepositoryFixture.assertFails(
        StatusCode.UNAVAILABLE, message, () -> nereid.load(ensemble(name, graph)));
  }

  @Test
  void aCircleThatWasRefusedLeavesNoThreadsWaitingForEachOther() throws Exception {
    nereid.load(identity("a").build());
    nereid.load(ensemble("e1", chain("a")));
    nereid.load(ensemble("e2", chain("e1")));
    RepositoryFixture.assertFails(
        StatusCode.INVALID_ARGUMENT,
        "'e1' is a step of itself",
        () -> nereid.load(ensemble("e1", chain("e2"))));
    Failures failures = new Failures();
    Thread[] threads = new Thread[2];
    for (int t = 0; t < threads.length; t++) {
      String own = "e" + (t + 1);
      String other = t == 0 ? "a" : "e1";
      threads[t] =
          failures.startPlatform(() -> {
            for (int i = 0; i < 100; i++) {
              try {
                nereid.load(ensemble(own, chain(other))).unload();
              } catch (NereidException e) {
                assertEquals(StatusCode.UNAVAILABLE, e.code(), e.getMessage());
              }
            }
          });
    }
    failures.join(threads);
  }

  @Test
  void theReasonForAMissingStepIsTold() {
    RepositoryFixture.assertFails(
        StatusCode.NOT_FOUND,
        "unknown backend",
        () -> nereid.load(identity("a").backend("no.such.Backend").build()));
    refused("step 'a' has no version that is ready: unknown backend", "e", chain("a"));
  }

  @Test
  void closingLeavesNobodyBehindAndComplainsOfNothing() {
    List<ModelEvent> events = new CopyOnWriteArrayList<>();
    try (Nereid own = Nereid.create()) {
      own.addListener(events::add);
      own.load(identity("a").build());
      own.load(ensemble("e", chain("a")));
      own.load(ensemble("z", chain("e")));
    }
    assertTrue(events.stream().noneMatch(ModelEvent.Failed.class::isInstance), events::toString);
    assertEquals(3, events.stream().filter(ModelEvent.Unloaded.class::isInstance).count());
  }

  @Test
  void reloadingAStepUnderLoadLosesNoRequest() throws Exception {
    ModelSpec step = identity("a").dynamicBatching(DynamicBatching.create()).build();
    nereid.load(step);
    Model model = nereid.load(ensemble("e", chain("a", "a")));
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong answered = new AtomicLong();
    Failures failures = new Failures();
    Thread[] threads = new Thread[16];
    for (int t = 0; t < threads.length; t++) {
      int thread = t;
      threads[t] =
          failures.startVirtual(() -> {
            for (int i = 0; !stop.get(); i++) {
              roundTrip(model, thread * 100_000 + i);
              answered.incrementAndGet();
            }
          });
    }
    for (int reload = 0; reload < 20; reload++) {
      long before = answered.get();
      nereid.load(step);
      await(() -> answered.get() > before || failures.any(), "requests after a reload");
    }
    stop.set(true);
    failures.join(threads);
  }

  // ---- In a repository -------------------------------------------------------------------------

  @Test
  void ensemblesOfARepositoryAreLoadedAfterTheirModels() throws IOException {
    RepositoryFixture repository = new RepositoryFixture(directory);
    repository.model("a_top", RepositoryFixture.ensemble("b_sub", "z"), 1);
    repository.model("b_sub", RepositoryFixture.ensemble("z", "y"), 1);
    repository.model("y", NEGATING, 1);
    repository.model("z", BATCHING, 1);
    repository.model("round", RepositoryFixture.ensemble("square", "z"), 1);
    repository.model("square", RepositoryFixture.ensemble("round", "z"), 1);
    repository.model("lost", RepositoryFixture.ensemble("nobody", "z"), 1);
    try (Nereid own = Nereid.open(directory)) {
      assertEquals(
          List.of(
              "a_top/1 READY",
              "b_sub/1 READY",
              "lost/1 UNAVAILABLE: step 'nobody' has no version that is ready: there is no such"
                  + " model",
              "round UNAVAILABLE: ensemble 'round' needs itself through its steps [square, z]",
              "square UNAVAILABLE: ensemble 'square' needs itself through its steps [round, z]",
              "y/1 READY",
              "z/1 READY"),
          index(own));
      assertEquals(-3, answer(own.model("a_top"), 3));
    }
  }

  @Test
  void anEnsembleBringsItsModelsAndTakesThemAlong() throws IOException {
    RepositoryFixture repository = new RepositoryFixture(directory);
    repository.model("e", RepositoryFixture.ensemble("a", "b"), 1);
    repository.model("f", RepositoryFixture.ensemble("a", "a"), 1);
    repository.model("a", NEGATING, 1);
    repository.model("b", BATCHING, 1);
    try (Nereid own = Nereid.open(repository.options().explicit("e").build())) {
      assertEquals(List.of("a/1 READY", "b/1 READY", "e/1 READY", "f UNKNOWN"), index(own));
      own.repository().load("f");
      own.repository().unload("e", true);
      assertEquals(
          List.of(
              "a/1 READY", "b/1 UNAVAILABLE: unloaded", "e/1 UNAVAILABLE: unloaded", "f/1 READY"),
          index(own),
          "another ensemble still uses a");
      own.repository().unload("a");
      assertEquals(
          "f/1 UNAVAILABLE: ensemble 'f' needs model 'a', which is not loaded", index(own).get(3));
      own.repository().load("a");
      assertEquals(4, answer(own.model("f"), 4));
    }
  }

  @ParameterizedTest
  @CsvSource({"3, 2", "1, 1"})
  void nothingIsLeftOfEnsemblesThatWereReplacedWhileTheyRan(int reloads, int clients)
      throws Exception {
    CountDownLatch entered = new CountDownLatch(clients);
    CountDownLatch leave = new CountDownLatch(1);
    AtomicInteger opened = new AtomicInteger();
    ModelSpec step =
        identity("a")
            .instanceCount(clients)
            .backend(context -> {
              opened.incrementAndGet();
              return batch -> {
                entered.countDown();
                leave.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                batch.output("OUT", batch.input("IN"));
              };
            })
            .build();
    nereid.load(step);
    Model model = nereid.load(ensemble("e", chain("a")));
    Failures failures = new Failures();
    Thread[] threads = new Thread[clients + 1];
    for (int t = 0; t < clients; t++) {
      int first = t;
      threads[t] = failures.startPlatform(() -> roundTrip(model, first));
    }
    assertTrue(entered.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
    threads[clients] =
        failures.startPlatform(() -> {
          for (int i = 0; i < reloads; i++) {
            nereid.load(step);
          }
        });
    await(() -> opened.get() >= 2 * clients, "the reload to begin");
    leave.countDown();
    failures.join(threads);
    assertEquals((reloads + 1) * clients, opened.get());
  }
}
