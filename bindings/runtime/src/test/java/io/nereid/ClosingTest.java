package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelState;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Misuse and closing in any order give exceptions, never a crash and never another's data. */
class ClosingTest extends RuntimeTest {

  @Test
  void everythingMayBeClosedTwice() {
    Model model = nereid.load(identity("m").build());
    InferRequest request = model.newRequest().input("IN", row(1));
    InferResponse response = request.infer();
    for (int i = 0; i < 2; i++) {
      response.close();
      request.close();
      model.close();
    }
    Nereid other = Nereid.create();
    other.close();
    other.close();
  }

  @Test
  void closedObjectsCannotBeUsed() {
    Model model = nereid.load(identity("m").build());
    InferRequest request = model.newRequest();
    Tensor in = request.allocateInput("IN", 1, 4);
    InferResponse response = request.infer();
    Tensor out = response.output("OUT");
    request.close();
    response.close();
    // The record serves another request now, which the old handles must not reach.
    InferRequest next = model.newRequest().input("IN", row(7));
    InferResponse nextResponse = next.infer();
    assertClosed(in::segment);
    assertClosed(() -> in.floatAt(0));
    assertClosed(out::toFloatArray);
    assertClosed(() -> out.floatAt(0));
    assertClosed(() -> request.input("IN", row(1)));
    assertClosed(() -> request.allocateInput("IN", 1, 4));
    assertClosed(() -> request.output("OUT"));
    assertClosed(() -> request.id("x"));
    assertClosed(() -> request.deadline(PATIENCE));
    assertClosed(() -> request.timeout(PATIENCE));
    assertClosed(() -> request.priority(1));
    assertClosed(() -> request.parameter("k", 1));
    assertClosed(request::infer);
    assertClosed(request::inferAsync);
    assertClosed(response::id);
    assertClosed(response::timings);
    assertClosed(response::cacheHit);
    assertClosed(response::outputNames);
    assertClosed(() -> response.output("OUT"));
    request.close();
    response.close();
    assertEquals(7f, nextResponse.output("OUT").floatAt(0));
    next.close();
    nextResponse.close();
  }

  @Test
  void aRequestIsSentOnce() {
    Model model = nereid.load(identity("m").build());
    try (var request = model.newRequest().input("IN", row(1));
        var response = request.infer()) {
      assertClosed(request::infer);
      assertClosed(request::inferAsync);
      assertClosed(() -> request.id("late"));
      assertEquals(1f, response.output("OUT").floatAt(0));
    }
  }

  @Test
  void everyOrderOfClosingWorks() {
    for (int order = 0; order < 200; order++) {
      Nereid own = Nereid.create(options().drainTimeout(Duration.ZERO).build());
      Model model = own.load(identity("m").build());
      InferRequest request = model.newRequest().input("IN", row(1));
      InferRequest unsent = model.newRequest().input("IN", row(2));
      InferResponse response = request.infer();
      Tensor out = response.output("OUT");
      List<AutoCloseable> all = new ArrayList<>(List.of(own, model, request, unsent, response));
      Collections.shuffle(all, new Random(order));
      boolean leaked = all.indexOf(own) < 4 && all.subList(all.indexOf(own), 5).size() > 1;
      for (AutoCloseable closeable : all) {
        try {
          closeable.close();
        } catch (NereidException e) {
          assertEquals(StatusCode.FAILED_PRECONDITION, e.code());
          assertTrue(leaked && closeable == own, all.toString());
        } catch (Exception e) {
          throw new AssertionError(e);
        }
      }
      assertClosed(() -> out.floatAt(0));
      assertClosed(() -> own.model("m"));
      assertClosed(own::poolStatistics);
    }
  }

  @Test
  void closingNamesWhatWasForgottenAndTakesItsMemoryAway() {
    Nereid own = Nereid.create(options().drainTimeout(Duration.ofSeconds(1)).build());
    Model model = own.load(identity("leaky").build());
    InferRequest request = model.newRequest().input("IN", row(1));
    InferResponse response = request.infer();
    MemorySegment kept = response.output("OUT").segment();
    NereidException e = assertFails(StatusCode.FAILED_PRECONDITION, own::close);
    assertTrue(e.getMessage().contains("1 of model 'leaky' version 1"), e.getMessage());
    assertClosed(() -> kept.get(JAVA_FLOAT, 0));
    assertClosed(() -> response.output("OUT"));
    request.close();
    response.close();
    assertFails(StatusCode.UNAVAILABLE, model::newRequest);
  }

  @Test
  void closingWaitsForThoseWhoAreReading() throws Exception {
    Nereid own = Nereid.create(options().build());
    Model model = own.load(identity("m").build());
    InferRequest request = model.newRequest().input("IN", row(8));
    InferResponse response = request.infer();
    request.close();
    Failures failures = new Failures();
    Thread closing = failures.startPlatform(own::close);
    await(() -> model.state() == ModelState.UNLOADED, "the model to be unloaded");
    assertEquals(8f, response.output("OUT").floatAt(0));
    response.close();
    failures.join(closing);
  }

  @Test
  void closingGivesUpOnABackendThatHangs() throws Exception {
    GateBackend gate = new GateBackend();
    NereidOptions options = options().drainTimeout(Duration.ofMillis(50)).build();
    Nereid own = Nereid.create(options);
    Model model = own.load(gate.model("stuck").build());
    InferRequest request = model.newRequest().input("IN", row(1));
    var future = request.inferAsync();
    gate.awaitBatch();
    NereidException e = assertFails(StatusCode.DEADLINE_EXCEEDED, own::close);
    assertTrue(e.getMessage().contains("'stuck' version 1"), e.getMessage());
    gate.open(1);
    future.get().close();
    request.close();
    await(() -> HandleCounts.read().runtimes() == 1, "the runtime to be released after all");
  }

  @Test
  void closingUnderLoadEndsEveryThreadWithAnException() throws Exception {
    for (int round = 0; round < 30; round++) {
      Nereid own = Nereid.create(options().drainTimeout(Duration.ofMillis(round % 3)).build());
      List<Model> models =
          List.of(
              own.load(identity("inline").build()),
              own.load(identity("queued").inline(false).build()));
      Failures failures = new Failures();
      AtomicLong answered = new AtomicLong();
      Thread[] threads = new Thread[12];
      for (int t = 0; t < threads.length; t++) {
        Model model = models.get(t % 2);
        Failures.Part part = () -> useUntilClosed(model, answered);
        threads[t] = t < 2 ? failures.startPlatform(part) : failures.startVirtual(part);
      }
      await(() -> answered.get() > 100, "answers");
      try {
        own.close();
      } catch (NereidException e) {
        assertEquals(StatusCode.FAILED_PRECONDITION, e.code(), e.getMessage());
      }
      failures.join(threads);
    }
  }

  private static void useUntilClosed(Model model, AtomicLong answered) throws Exception {
    while (true) {
      try (var request = model.newRequest().input("IN", row(3))) {
        try (var response =
            answered.get() % 2 == 0 ? request.infer() : request.inferAsync().get()) {
          assertEquals(3f, response.output("OUT").floatAt(0));
          answered.incrementAndGet();
        }
      } catch (NereidException | ExecutionException e) {
        NereidException cause = (NereidException) (e instanceof NereidException ? e : e.getCause());
        assertEquals(StatusCode.UNAVAILABLE, cause.code(), cause.getMessage());
        return;
      } catch (IllegalStateException e) {
        return; // a handle was closed from under it
      }
    }
  }

  @Test
  void threadsThatMisuseOneRequestGetExceptions() throws Exception {
    Model model = nereid.load(identity("m").inline(false).build());
    AtomicLong answered = new AtomicLong();
    for (int round = 0; round < 300; round++) {
      InferRequest request = model.newRequest();
      Failures failures = new Failures();
      List<Failures.Part> parts =
          List.of(
              () -> request.input("IN", row(1)),
              () -> request.allocateInput("IN", 1, 4).segment().fill((byte) 1),
              () -> {
                try (var response = request.infer()) {
                  answered.incrementAndGet();
                  assertNotEquals(0, response.output("OUT").byteSize());
                }
              },
              request::cancel,
              request::close);
      Thread[] threads = new Thread[parts.size()];
      for (int i = 0; i < threads.length; i++) {
        Failures.Part part = parts.get(i);
        threads[i] =
            failures.startVirtual(() -> {
              try {
                part.run();
              } catch (IllegalStateException | NereidException e) {
                // As it should be: which of them fail depends on who was first.
              }
            });
      }
      failures.join(threads);
      request.close();
    }
    roundTrip(model, 2);
  }

  @Test
  void aSegmentOfAnotherRuntimeIsCopied() {
    Nereid other = Nereid.create(options().build());
    Model from = other.load(identity("from").build());
    Model to = nereid.load(identity("to").build());
    InferRequest first = from.newRequest().input("IN", row(5));
    InferResponse response = first.infer();
    InferRequest second = to.newRequest().input("IN", response.output("OUT"));
    response.close();
    first.close();
    other.close();
    try (second;
        var answer = second.infer()) {
      assertEquals(5f, answer.output("OUT").floatAt(0));
    }
  }
}
