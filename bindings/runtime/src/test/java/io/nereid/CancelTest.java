package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Cancelling, interrupting and running out of time, at every stage of a request. */
class CancelTest extends RuntimeTest {

  private final GateBackend gate = new GateBackend();

  @Test
  void aFutureCompletesOnAVirtualThread() throws Exception {
    Model model = nereid.load(identity("m").build());
    CompletableFuture<Thread> thread;
    try (var request = model.newRequest().input("IN", row(1))) {
      thread =
          request
              .inferAsync()
              .thenApply(response -> {
                response.close();
                return Thread.currentThread();
              });
    }
    // Either it was complete before the stage was added, or a virtual thread ran the stage.
    Thread ran = thread.get(20, TimeUnit.SECONDS);
    assertTrue(ran == Thread.currentThread() || ran.isVirtual(), ran.toString());
  }

  @Test
  void dependentsOfAFutureDoNotRunOnACoreThread() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    AtomicReference<Thread> ran = new AtomicReference<>();
    try (var request = model.newRequest().input("IN", row(1))) {
      CompletableFuture<Void> done =
          request
              .inferAsync()
              .thenAccept(response -> {
                ran.set(Thread.currentThread());
                response.close();
              });
      gate.awaitBatch();
      gate.open(1);
      done.get(20, TimeUnit.SECONDS);
    }
    assertTrue(ran.get().isVirtual());
  }

  @Test
  void anInvalidRequestFailsItsFuture() {
    Model model = nereid.load(identity("m").build());
    try (var request = model.newRequest().input("IN", Tensor.ofInts(new int[4], 1, 4))) {
      CompletionException e =
          assertThrows(CompletionException.class, () -> request.inferAsync().join());
      assertEquals(StatusCode.INVALID_ARGUMENT, ((NereidException) e.getCause()).code());
    }
  }

  @Test
  void aRequestThatWaitsIsCancelledAndNeverExecutes() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    try (var first = model.newRequest().input("IN", row(1));
        var second = model.newRequest().input("IN", row(2))) {
      var executing = first.inferAsync();
      gate.awaitBatch();
      var waiting = second.inferAsync();
      assertTrue(waiting.cancel(false));
      assertThrows(CancellationException.class, waiting::join);
      await(() -> model.statistics().failCancelled() == 1, "the cancellation to be counted");
      gate.open(2);
      executing.get().close();
    }
    assertEquals(List.of(1f), gate.executed);
  }

  @Test
  void aThreadThatWaitsIsToldWhenAnotherCancels() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    Failures failures = new Failures();
    try (var first = model.newRequest().input("IN", row(1));
        var second = model.newRequest().input("IN", row(2))) {
      var executing = first.inferAsync();
      gate.awaitBatch();
      Thread waiting =
          failures.startPlatform(() -> assertFails(StatusCode.CANCELLED, second::infer));
      await(() -> model.statistics().pendingCount() == 1, "the request to wait");
      assertTrue(second.cancel());
      failures.join(waiting);
      gate.open(1);
      executing.get().close();
    }
    assertEquals(List.of(1f), gate.executed);
  }

  @Test
  void aRequestCancelledBeforeItIsSentDoesNotExecute() {
    Model model = nereid.load(identity("m").build());
    try (var request = model.newRequest().input("IN", row(1))) {
      assertTrue(request.cancel());
      assertFails(StatusCode.CANCELLED, request::infer);
    }
    assertEquals(0, model.statistics().executionCount());
    roundTrip(model, 3); // the record is as good as new
  }

  @Test
  void anExecutingRequestIsMarkedAndItsResultIsThrownAway() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    try (var request = model.newRequest().input("IN", row(1))) {
      var future = request.inferAsync();
      gate.awaitBatch();
      assertTrue(future.cancel(true));
      assertTrue(future.isCancelled());
      assertFalse(request.cancel());
      gate.open(1);
    }
    await(() -> gate.sawCancel, "the backend to see the cancellation");
  }

  @Test
  void cancellingWhatIsDoneDoesNothing() {
    Model model = nereid.load(identity("m").build());
    InferRequest request = model.newRequest().input("IN", row(1));
    InferResponse response = request.infer();
    assertFalse(request.cancel());
    request.close();
    assertFalse(request.cancel());
    assertEquals(1f, response.output("OUT").floatAt(0));
    response.close();
  }

  @Test
  void anInterruptCancelsAndStays() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    Failures failures = new Failures();
    for (boolean virtual : new boolean[] {true, false}) {
      Failures.Part part =
          () -> {
            try (var request = model.newRequest().input("IN", row(1))) {
              assertFails(StatusCode.CANCELLED, request::infer);
            }
            assertTrue(Thread.currentThread().isInterrupted());
          };
      Thread thread = virtual ? failures.startVirtual(part) : failures.startPlatform(part);
      gate.awaitBatch();
      thread.interrupt();
      failures.join(thread);
      gate.open(1);
      int executed = virtual ? 1 : 2;
      await(() -> gate.executed.size() == executed, "the execution to end");
    }
  }

  @Test
  void aDeadlineThatPassesInTheQueueIsAnsweredInTime() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    try (var first = model.newRequest().input("IN", row(1));
        var second = model.newRequest().input("IN", row(2)).deadline(Duration.ofMillis(30))) {
      var executing = first.inferAsync();
      gate.awaitBatch();
      assertFails(StatusCode.DEADLINE_EXCEEDED, second::infer);
      gate.open(2);
      executing.get().close();
    }
    assertEquals(List.of(1f), gate.executed);
  }

  @Test
  void aDeadlineThatPassesWhileExecutingReleasesTheCaller() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    try (var request = model.newRequest().input("IN", row(1)).deadline(Duration.ofSeconds(2))) {
      assertFails(StatusCode.DEADLINE_EXCEEDED, request::infer);
    }
    assertEquals(List.of(), gate.executed);
    try (var request = model.newRequest().input("IN", row(2)).deadline(Duration.ofMillis(300))) {
      ExecutionException e =
          assertThrows(ExecutionException.class, () -> request.inferAsync().get());
      assertEquals(StatusCode.DEADLINE_EXCEEDED, ((NereidException) e.getCause()).code());
    }
    gate.open(1);
    await(() -> gate.executed.size() == 1, "the execution to end");
    gate.open(1);
    assertEquals(1f, gate.executed.getFirst());
  }

  @Test
  void aDeadlineThatIsNowFailsAtOnceAndOneFarAwayDoesNotMatter() {
    Model model = nereid.load(identity("m").inline(false).build());
    try (var request = model.newRequest().input("IN", row(1)).deadline(Duration.ZERO)) {
      assertFails(StatusCode.DEADLINE_EXCEEDED, request::infer);
    }
    try (var request =
            model.newRequest().input("IN", row(1)).deadline(Duration.ofSeconds(Long.MAX_VALUE));
        var response = request.infer()) {
      assertEquals(1f, response.output("OUT").floatAt(0));
    }
  }

  @Test
  void cancellingRacesWithCompletion() throws Exception {
    Model model = nereid.load(identity("m").inline(false).build());
    for (int i = 0; i < 3000; i++) {
      try (var request = model.newRequest().input("IN", row(i))) {
        var future = request.inferAsync();
        if (i % 3 == 0) {
          Thread.onSpinWait();
        }
        if (future.cancel(false)) {
          assertTrue(future.isCancelled());
        } else {
          try (InferResponse response = future.get()) {
            assertEquals((float) i, response.output("OUT").floatAt(0));
          }
        }
      }
    }
  }
}
