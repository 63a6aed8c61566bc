package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.internal.request.StreamQueue;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelState;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Streams that end before their time: cancelled, late, interrupted, unloaded, closed. */
class StreamEndTest extends RuntimeTest {

  private static final int ENDLESS = -1;

  private final CountdownBackend backend = new CountdownBackend();

  /** Waits until the backend sits in respond because nobody reads. */
  private void awaitFull(int read) {
    await(() -> backend.sent.get() == read + StreamQueue.CAPACITY, "the backend to be held up");
  }

  @Test
  void closingStopsTheBackendAndGivesEverythingBack() {
    Model model = nereid.load(backend.model("m").build());
    InferRequest request = CountdownBackend.request(model, ENDLESS);
    ResponseStream stream = request.inferStream();
    InferResponse kept = stream.next();
    awaitFull(1);
    stream.close();
    stream.close();
    assertClosed(stream::next);
    await(() -> backend.cancelled.get() == 1, "the backend to notice");
    await(() -> nereid.poolStatistics().liveBuffers() == 2, "all but the input and what was read");
    CountdownBackend.check(kept, ENDLESS, 0);
    request.close();
    await(() -> nereid.poolStatistics().liveBuffers() == 0, "the input");
    await(() -> model.statistics().failCancelled() == 1, "the execution to end");
  }

  @Test
  void aFinalResponseThatNobodyFetchesIsGivenBackOnClose() {
    backend.lastAtEnd = true;
    Model model = nereid.load(backend.model("m").build());
    try (var request = CountdownBackend.request(model, 1)) {
      ResponseStream stream = request.inferStream();
      await(() -> model.statistics().success().count() == 1, "the request to end");
      stream.close();
      await(() -> nereid.poolStatistics().liveBuffers() == 1, "all but the input");
    }
  }

  @Test
  void theSenderOfARequestCanCancelItAndReadOn() {
    Model model = nereid.load(backend.model("m").build());
    try (var request = CountdownBackend.request(model, ENDLESS);
        var stream = request.inferStream()) {
      awaitFull(0);
      assertFalse(request.cancel());
      await(() -> backend.cancelled.get() == 1, "the backend to notice, though nobody reads");
      int sent = backend.sent.get();
      for (int i = 0; i < sent; i++) {
        CountdownBackend.check(stream.next(), ENDLESS, i);
      }
      assertFails(StatusCode.CANCELLED, stream::next);
    }
  }

  @Test
  void aStreamThatWaitsForItsTurnIsCancelledByClosing() {
    Model model = nereid.load(backend.model("m").build());
    try (var first = CountdownBackend.request(model, ENDLESS);
        var executing = first.inferStream();
        var second = CountdownBackend.request(model, 1)) {
      awaitFull(0);
      second.inferStream().close();
      await(() -> model.statistics().failCancelled() == 1, "the cancellation");
      CountdownBackend.check(executing.next(), ENDLESS, 0);
    }
    assertEquals(0, model.statistics().success().count());
  }

  @Test
  void aDeadlineEndsReadersAndBackends() {
    Model model = nereid.load(backend.model("m").build());
    // Nobody reads: the backend comes back by itself.
    try (var request = CountdownBackend.request(model, ENDLESS).deadline(Duration.ofSeconds(2));
        var stream = request.inferStream()) {
      await(() -> backend.cancelled.get() == 1, "the backend to notice");
      int sent = backend.sent.get();
      for (int i = 0; i < sent; i++) {
        CountdownBackend.check(stream.next(), ENDLESS, i);
      }
      assertFails(StatusCode.DEADLINE_EXCEEDED, stream::next);
      assertFails(StatusCode.DEADLINE_EXCEEDED, stream::next);
    }
    // The backend sends nothing: the reader comes back by itself.
    GateBackend gate = new GateBackend();
    Model silent = nereid.load(gate.model("silent").decoupled(true).build());
    try (var request = silent.newRequest().input("IN", row(1)).deadline(Duration.ofSeconds(2));
        var stream = request.inferStream()) {
      assertFails(StatusCode.DEADLINE_EXCEEDED, stream::next);
      assertFails(StatusCode.DEADLINE_EXCEEDED, stream::next);
    }
    gate.open(1);
    await(() -> gate.sawCancel, "the backend to see the cancellation");
  }

  @Test
  void anInterruptCancelsAndStays() throws Exception {
    GateBackend gate = new GateBackend();
    Model silent = nereid.load(gate.model("silent").decoupled(true).build());
    Model endless = nereid.load(backend.model("m").build());
    Failures failures = new Failures();
    for (boolean virtual : new boolean[] {true, false}) {
      Failures.Part waits =
          () -> {
            try (var request = silent.newRequest().input("IN", row(1));
                var stream = request.inferStream()) {
              assertFails(StatusCode.CANCELLED, stream::next);
              assertFails(StatusCode.CANCELLED, stream::next);
            }
            assertTrue(Thread.currentThread().isInterrupted());
          };
      Thread thread = virtual ? failures.startVirtual(waits) : failures.startPlatform(waits);
      gate.awaitBatch();
      thread.interrupt();
      failures.join(thread);
      gate.open(1);
    }
    Thread busy =
        failures.startVirtual(() -> {
          try (var request = CountdownBackend.request(endless, ENDLESS);
              var stream = request.inferStream()) {
            assertFails(
                StatusCode.CANCELLED,
                () -> {
                  while (true) {
                    stream.next().close();
                  }
                });
          }
        });
    await(() -> backend.sent.get() > 50, "responses");
    busy.interrupt();
    failures.join(busy);
    await(() -> backend.cancelled.get() == 1, "the backend to notice");
  }

  @Test
  void unloadingWaitsForAStreamThatIsRead() throws Exception {
    Model model = nereid.load(backend.model("m").build());
    Failures failures = new Failures();
    try (var request = CountdownBackend.request(model, 100);
        var stream = request.inferStream()) {
      awaitFull(0);
      Thread unloading = failures.startPlatform(model::unload);
      await(() -> model.state() == ModelState.DRAINING, "the model to drain");
      for (int i = 0; i < 100; i++) {
        CountdownBackend.check(stream.next(), 100, i);
      }
      assertNull(stream.next());
      failures.join(unloading);
    }
  }

  @Test
  void unloadingEndsAStreamThatDoesNotEnd() throws Exception {
    Nereid own = Nereid.create(options().drainTimeout(Duration.ofMillis(500)).build());
    Failures failures = new Failures();
    for (boolean read : new boolean[] {true, false}) {
      Model model = own.load(backend.model("m").build());
      InferRequest request = CountdownBackend.request(model, ENDLESS);
      int before = backend.sent.get();
      ResponseStream stream = request.inferStream();
      awaitFull(before);
      AtomicInteger count = new AtomicInteger();
      Failures.Part toTheEnd =
          () ->
              assertFails(
                  StatusCode.UNAVAILABLE,
                  "model 'm' was unloaded before the request had ended",
                  () -> {
                    while (true) {
                      CountdownBackend.check(stream.next(), ENDLESS, count.getAndIncrement());
                    }
                  });
      Thread reader = read ? failures.startVirtual(toTheEnd) : null;
      model.unload();
      await(() -> model.state() == ModelState.UNLOADED, "the model to go");
      if (reader == null) {
        toTheEnd.run();
        assertEquals(StreamQueue.CAPACITY, count.get());
      } else {
        failures.join(reader);
      }
      stream.close();
      request.close();
    }
    own.close();
  }

  @Test
  void closingTheRuntimeIsNotHeldUpByAnUnreadStream() {
    for (int count : new int[] {ENDLESS, 5, 200}) {
      Nereid own = Nereid.create(options().drainTimeout(Duration.ofMillis(500)).build());
      Model model = own.load(backend.model("m").build());
      InferRequest request = CountdownBackend.request(model, count);
      ResponseStream stream = request.inferStream();
      InferResponse response = stream.next();
      MemorySegment kept = response.output("OUT").segment();
      NereidException e = assertFails(StatusCode.FAILED_PRECONDITION, own::close);
      assertTrue(e.getMessage().contains("2 of model 'm' version 1"), e.getMessage());
      assertClosed(() -> kept.get(JAVA_INT, 0));
      assertClosed(() -> response.output("OUT"));
      assertClosed(stream::next);
      stream.close();
      response.close();
      request.close();
    }
  }

  @Test
  void anOpenResponseAloneIsNamedWhenTheRuntimeCloses() {
    Nereid own = Nereid.create(options().drainTimeout(Duration.ofMillis(500)).build());
    Model model = own.load(backend.model("leaky").build());
    InferResponse response;
    try (var request = CountdownBackend.request(model, 2);
        var stream = request.inferStream()) {
      response = stream.next();
    }
    NereidException e = assertFails(StatusCode.FAILED_PRECONDITION, own::close);
    assertTrue(e.getMessage().contains("1 of model 'leaky' version 1"), e.getMessage());
    assertClosed(() -> response.output("OUT"));
  }

  @Test
  void closingUnderStreamsEndsEveryThreadWithAnException() throws Exception {
    for (int round = 0; round < 20; round++) {
      Nereid own = Nereid.create(options().drainTimeout(Duration.ofMillis(round % 3 * 10)).build());
      Model model = own.load(backend.model("m").instanceCount(2).build());
      Failures failures = new Failures();
      AtomicInteger read = new AtomicInteger();
      Thread[] threads = new Thread[8];
      for (int t = 0; t < threads.length; t++) {
        int count = t % 2 == 0 ? ENDLESS : 20;
        threads[t] = failures.startVirtual(() -> readUntilClosed(model, count, read));
      }
      await(() -> read.get() > 100, "responses");
      try {
        own.close();
      } catch (NereidException e) {
        assertEquals(StatusCode.FAILED_PRECONDITION, e.code(), e.getMessage());
      }
      failures.join(threads);
    }
  }

  private static void readUntilClosed(Model model, int count, AtomicInteger read) {
    while (true) {
      try (var request = CountdownBackend.request(model, count);
          var stream = request.inferStream()) {
        // An endless stream goes on for ever on its own: its reader gives up now and then.
        for (int i = 0; i < 200; i++) {
          InferResponse response = stream.next();
          if (response == null) {
            assertEquals(count, i);
            break;
          }
          CountdownBackend.check(response, count, i);
          read.incrementAndGet();
        }
      } catch (NereidException e) {
        assertEquals(StatusCode.UNAVAILABLE, e.code(), e.getMessage());
        return;
      } catch (IllegalStateException e) {
        return; // a handle was closed from under it
      }
    }
  }

  @Test
  void reloadingLetsStreamsFinish() throws Exception {
    Model model = nereid.load(backend.model("m").build());
    Failures failures = new Failures();
    AtomicInteger streams = new AtomicInteger();
    Thread[] threads = new Thread[8];
    for (int t = 0; t < threads.length; t++) {
      threads[t] =
          failures.startVirtual(() -> {
            while (streams.get() < 2000) {
              try (var request = CountdownBackend.request(model, 12);
                  var stream = request.inferStream()) {
                for (int i = 0; i < 12; i++) {
                  CountdownBackend.check(stream.next(), 12, i);
                }
                assertNull(stream.next());
                streams.incrementAndGet();
              }
            }
          });
    }
    while (streams.get() < 2000 && !failures.any()) {
      nereid.load(backend.model("m").build());
    }
    failures.join(threads);
  }

  @Test
  void manyStreamsThatAreClosedAnywhereLeaveNothing() throws Exception {
    Model model =
        nereid.load(
            backend
                .model("m")
                .instanceCount(3)
                .dynamicBatching(DynamicBatching.builder().build())
                .build());
    backend.lastAtEnd = true;
    Failures failures = new Failures();
    Thread[] threads = new Thread[64];
    for (int t = 0; t < threads.length; t++) {
      Random random = new Random(t);
      threads[t] =
          failures.startVirtual(() -> {
            for (int round = 0; round < 20; round++) {
              readSome(model, random);
            }
          });
    }
    failures.join(threads);
    await(() -> nereid.poolStatistics().liveBuffers() == 0, "the buffers to come back");
    await(() -> model.statistics().executingCount() == 0, "the backend to come back");
  }

  private static void readSome(Model model, Random random) {
    int count = random.nextInt(30);
    int read = random.nextInt(40);
    InferRequest request = CountdownBackend.request(model, count);
    if (random.nextInt(4) == 0) {
      request.deadline(Duration.ofMillis(random.nextInt(1, 20)));
    }
    try (var stream = request.inferStream()) {
      if (random.nextBoolean()) {
        request.close();
      }
      for (int i = 0; i < read; i++) {
        InferResponse response = stream.next();
        if (response == null) {
          assertEquals(count, i);
          break;
        }
        CountdownBackend.check(response, count, i);
        if (random.nextInt(50) == 0) {
          request.cancel();
        }
      }
    } catch (NereidException e) {
      assertTrue(
          e.code() == StatusCode.DEADLINE_EXCEEDED || e.code() == StatusCode.CANCELLED,
          e.getMessage());
    }
    request.close();
  }
}
