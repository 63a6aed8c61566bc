package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.DynamicBatching;
import io.nereid.model.LifecycleListener;
import io.nereid.model.LoadTimes;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.statistics.Histogram;
import io.nereid.statistics.ModelStatistics;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LifecycleTest extends RuntimeTest {

  private static final LoadTimes NO_TIME =
      new LoadTimes(Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO);

  private final GateBackend gate = new GateBackend();

  @Test
  void theHighestReadyVersionAnswers() {
    Model one = nereid.load(identity("m").build());
    Model three = nereid.load(identity("m").version(3).build());
    nereid.load(identity("m").version(2).build());
    assertSame(three, nereid.model("m"));
    assertSame(one, nereid.model("m", 1));
    assertEquals(List.of(3L, 2L, 1L), nereid.models().stream().map(Model::version).toList());
    three.unload();
    assertEquals(2, nereid.model("m").version());
    roundTrip(one, 1);
  }

  @Test
  void eventsTellTheWholeLife() {
    List<ModelEvent> events = new CopyOnWriteArrayList<>();
    nereid.addListener(events::add);
    nereid.addListener(event -> {
      throw new QuietException("a listener that fails");
    });
    Model model = nereid.load(identity("m").build());
    nereid.load(identity("m").build());
    model.unload();
    model.unload();
    assertEquals(
        List.of(
            new ModelEvent.Loading("m", 1),
            new ModelEvent.Ready("m", 1, NO_TIME),
            new ModelEvent.Loading("m", 1),
            new ModelEvent.Ready("m", 1, NO_TIME),
            new ModelEvent.Replaced("m", 1),
            new ModelEvent.Draining("m", 1),
            new ModelEvent.Unloaded("m", 1)),
        events.stream().map(LifecycleTest::timeless).toList());
    LoadTimes times = model.loadTimes();
    assertEquals(Duration.ZERO, times.read());
    assertTrue(times.session().isPositive(), "" + times);
    assertTrue(times.total().compareTo(times.session()) >= 0, "" + times);
  }

  /** Two events are equal when they differ in time only. */
  private static ModelEvent timeless(ModelEvent event) {
    return event instanceof ModelEvent.Ready(String name, long version, LoadTimes times)
        ? new ModelEvent.Ready(name, version, NO_TIME)
        : event;
  }

  @Test
  void aFailedReloadLeavesTheOldOneServing() {
    AtomicBoolean broken = new AtomicBoolean();
    ModelSpec spec =
        identity("m")
            .backend(context -> {
              if (broken.get()) {
                throw new IllegalStateException("no such weights");
              }
              return batch -> batch.output("OUT", batch.input("IN"));
            })
            .build();
    List<ModelEvent> events = new CopyOnWriteArrayList<>();
    Model model = nereid.load(spec);
    nereid.addListener(events::add);
    broken.set(true);
    NereidException e = assertFails(StatusCode.INTERNAL, () -> nereid.load(spec));
    assertTrue(e.getMessage().contains("no such weights"), e.getMessage());
    assertInstanceOf(ModelEvent.Failed.class, events.getLast());
    assertEquals(ModelState.READY, model.state());
    roundTrip(model, 1);
    model.unload();
    assertThrows(NereidException.class, () -> nereid.load(spec));
    assertEquals(ModelState.FAILED, model.state());
    assertFails(StatusCode.UNAVAILABLE, model::newRequest);
  }

  @Test
  void statisticsOutliveTheModel() {
    Model model = nereid.load(identity("m").build());
    roundTrip(model, 1);
    model.unload();
    assertEquals(1, model.statistics().success().count());
    assertEquals(ModelState.UNLOADED, model.state());
    assertEquals("m", model.spec().name());
  }

  @Test
  void unloadingFinishesWhatWasSent() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    Failures failures = new Failures();
    try (var executing = model.newRequest().input("IN", row(1));
        var waiting = model.newRequest().input("IN", row(2));
        var unsent = model.newRequest().input("IN", row(3))) {
      var first = executing.inferAsync();
      gate.awaitBatch();
      var second = waiting.inferAsync();
      Thread unloading = failures.startPlatform(model::unload);
      await(() -> model.state() == ModelState.DRAINING, "the model to drain");
      assertFails(
          StatusCode.UNAVAILABLE,
          "Request for unknown model: 'm' version 1 is not at ready state",
          model::newRequest);
      gate.open(2);
      first.get().close();
      second.get().close();
      failures.join(unloading);
      assertFails(StatusCode.UNAVAILABLE, unsent::infer);
      assertFails(StatusCode.UNAVAILABLE, model::newRequest);
    }
    assertEquals(List.of(1f, 2f), gate.executed);
  }

  @Test
  void aResponseOutlivesItsModel() {
    Model model = nereid.load(identity("m").build());
    InferRequest request = model.newRequest().input("IN", row(4));
    InferResponse response = request.infer();
    model.close();
    assertEquals(4f, response.output("OUT").floatAt(0));
    request.close();
    assertEquals(4f, response.output("OUT").floatAt(0));
    response.close();
  }

  @Test
  void aRequestMadeBeforeAReloadRunsOnTheOldModel() throws Exception {
    AtomicInteger opened = new AtomicInteger();
    ModelSpec spec =
        identity("m")
            .backend(context -> {
              float generation = opened.incrementAndGet();
              return batch -> batch.output("OUT", row(generation));
            })
            .build();
    Model model = nereid.load(spec);
    Failures failures = new Failures();
    try (var old = model.newRequest().input("IN", row(0))) {
      Thread loading = failures.startPlatform(() -> nereid.load(spec));
      await(() -> opened.get() == 2, "the new one to be opened");
      await(() -> answer(model) == 2f, "the new one to answer");
      assertTrue(loading.isAlive());
      try (var response = old.infer()) {
        assertEquals(1f, response.output("OUT").floatAt(0));
      }
      failures.join(loading);
    }
  }

  private static float answer(Model model) {
    try (var request = model.newRequest().input("IN", row(0));
        var response = request.infer()) {
      return response.output("OUT").floatAt(0);
    }
  }

  @Test
  void aFailureWithoutWordsIsAFailure() {
    ModelSpec spec =
        identity("m")
            .backend(
                new Backend() {
                  @Override
                  public BackendInstance open(ModelContext context) {
                    return batch -> batch.output("OUT", batch.input("IN"));
                  }

                  @Override
                  public List<Integer> devices() {
                    throw new IllegalStateException();
                  }
                })
            .build();
    assertThrows(IllegalStateException.class, () -> nereid.load(spec));
    Model model = nereid.models().getFirst();
    assertEquals(ModelState.FAILED, model.state());
    assertEquals("java.lang.IllegalStateException", model.failure().orElse(""));
  }

  @Test
  void aListenerThatFailsBadlyHarmsNobody() {
    nereid.addListener(event -> {
      throw new AssertionError("not an exception");
    });
    Model model = nereid.load(identity("m").build());
    nereid.load(identity("m").build());
    roundTrip(model, 1);
  }

  @Test
  void closingDoesNotWaitForALoadThatHangs() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    Nereid own =
        Nereid.create(NereidOptions.builder().drainTimeout(Duration.ofMillis(100)).build());
    Failures failures = new Failures();
    Thread loading =
        failures.startPlatform(() ->
            own.load(
                identity("slow")
                    .backend(context -> {
                      entered.countDown();
                      leave.await();
                      return batch -> batch.output("OUT", batch.input("IN"));
                    })
                    .build()));
    entered.await();
    NereidException e = assertFails(StatusCode.DEADLINE_EXCEEDED, own::close);
    assertTrue(e.getMessage().contains("'slow' version 1 is still"), e.getMessage());
    leave.countDown();
    failures.join(loading);
    await(() -> HandleCounts.read().runtimes() == 1, "the runtime to go after all");
  }

  @Test
  void anExecutionThatHangsHoldsUpNoChange() throws Exception {
    try (Nereid own =
        Nereid.create(NereidOptions.builder().drainTimeout(Duration.ofMillis(50)).build())) {
      Model model = own.load(gate.model("m").build());
      try (InferRequest request = model.newRequest().input("IN", row(1))) {
        CompletableFuture<InferResponse> answer = request.inferAsync();
        gate.awaitBatch();
        model.unload();
        assertEquals(ModelState.DRAINING, model.state());
        assertEquals(0, model.statistics().inferenceCount());
        roundTrip(own.load(identity("m").build()), 2);
        assertFalse(answer.isDone());
        gate.open(1);
        try (InferResponse response = answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
          assertEquals(1f, response.output("OUT").floatAt(0));
        }
      }
    }
  }

  @Test
  void unloadingOnVirtualThreadsLeavesOthersTheirProcessors() throws Exception {
    int count = 2 * Runtime.getRuntime().availableProcessors();
    Failures failures = new Failures();
    List<Thread> threads = new ArrayList<>();
    List<InferRequest> requests = new ArrayList<>();
    List<CompletableFuture<InferResponse>> answers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Model model = nereid.load(gate.model("m" + i).build());
      requests.add(model.newRequest().input("IN", row(i)));
      answers.add(requests.get(i).inferAsync());
      gate.awaitBatch();
      threads.add(failures.startVirtual(model::unload));
      await(() -> model.state() == ModelState.DRAINING, "the model to leave");
    }
    assertTrue(Thread.startVirtualThread(() -> {}).join(PATIENCE));
    gate.open(count);
    for (int i = 0; i < count; i++) {
      failures.join(threads.get(i));
      answers.get(i).get(PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
      requests.get(i).close();
    }
  }

  @Test
  void aListenerCannotClose() {
    List<RuntimeException> refused = new CopyOnWriteArrayList<>();
    LifecycleListener closing =
        event -> {
          try {
            nereid.close();
          } catch (IllegalStateException e) {
            refused.add(e);
          }
        };
    nereid.addListener(closing);
    roundTrip(nereid.load(identity("m").build()), 1);
    assertEquals(2, refused.size());
    nereid.removeListener(closing);
  }

  @Test
  void reloadingUnderLoadLosesNoRequest() throws Exception {
    ModelSpec spec =
        identity("m").dynamicBatching(DynamicBatching.create()).instanceCount(2).build();
    Model model = nereid.load(spec);
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong answered = new AtomicLong();
    Failures failures = new Failures();
    Thread[] threads = new Thread[32];
    for (int t = 0; t < threads.length; t++) {
      int thread = t;
      Failures.Part part =
          () -> {
            for (int i = 0; !stop.get(); i++) {
              roundTrip(thread % 3 == 0 ? nereid.model("m") : model, thread * 100_000 + i);
              answered.incrementAndGet();
            }
          };
      threads[t] = t % 8 == 0 ? failures.startPlatform(part) : failures.startVirtual(part);
    }
    for (int reload = 0; reload < 20; reload++) {
      long before = answered.get();
      nereid.load(spec);
      await(() -> answered.get() > before, "requests after a reload");
    }
    stop.set(true);
    failures.join(threads);
  }

  @Test
  void unloadingUnderLoadAnswersEveryRequestOneWayOrTheOther() throws Exception {
    ModelSpec spec = identity("m").dynamicBatching(DynamicBatching.create()).build();
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong refused = new AtomicLong();
    AtomicLong answered = new AtomicLong();
    Failures failures = new Failures();
    Model model = nereid.load(spec);
    Thread[] threads = new Thread[16];
    for (int t = 0; t < threads.length; t++) {
      threads[t] =
          failures.startVirtual(() -> {
            while (!stop.get()) {
              try {
                roundTrip(model, 5);
                answered.incrementAndGet();
              } catch (NereidException e) {
                assertEquals(StatusCode.UNAVAILABLE, e.code(), e.getMessage());
                refused.incrementAndGet();
                Thread.sleep(1);
              }
            }
          });
    }
    for (int i = 0; i < 20; i++) {
      long answeredBefore = answered.get();
      await(() -> answered.get() > answeredBefore, "answers");
      model.unload();
      long refusedBefore = refused.get();
      await(() -> refused.get() > refusedBefore, "refusals");
      nereid.load(spec);
    }
    stop.set(true);
    failures.join(threads);
  }

  @Test
  void statisticsCountWhatHappened() {
    Model model = nereid.load(identity("m").inlineBudget(Duration.ofHours(1)).build());
    for (int i = 0; i < 10; i++) {
      roundTrip(model, i);
    }
    try (var request = model.newRequest().input("IN", Tensor.ofInts(new int[4], 1, 4))) {
      assertFails(StatusCode.INVALID_ARGUMENT, request::infer);
    }
    ModelStatistics statistics = model.statistics();
    assertEquals(10, statistics.success().count());
    assertEquals(1, statistics.fail().count());
    assertEquals(1, statistics.failOther());
    assertEquals(10, statistics.inferenceCount());
    assertEquals(10, statistics.inlineCount());
    assertEquals(10, statistics.computeInfer().count());
    assertEquals(1, statistics.instanceCount());
    assertTrue(statistics.lastInference().isPresent());
    assertEquals(10, statistics.batches().getFirst().computeInfer().count());
    assertEquals(10, statistics.totalHistogram().count());
    Histogram twice = statistics.totalHistogram().merge(statistics.totalHistogram());
    assertEquals(20, twice.count());
    assertEquals(statistics.totalHistogram().percentileNs(50), twice.percentileNs(50));
    assertFalse(twice.percentileNs(99) < twice.percentileNs(50));
  }
}
