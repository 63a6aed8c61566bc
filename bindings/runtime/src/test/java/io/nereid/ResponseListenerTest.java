package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Requests whose answers go to a listener: on which thread, and when. */
class ResponseListenerTest extends RuntimeTest {

  private final GateBackend gate = new GateBackend();

  /** What a listener was told. */
  private record Answer(float value, StatusCode failure, boolean inline, Thread thread) {}

  /** Takes one answer; a second one fails the test. */
  private static final class Receiver implements ResponseListener {
    final CompletableFuture<Answer> answer = new CompletableFuture<>();
    private volatile boolean twice;

    @Override
    public void onResponse(InferResponse response) {
      try (response) {
        put(
            new Answer(
                response.output("OUT").floatAt(0),
                null,
                response.ranInline(),
                Thread.currentThread()));
      }
    }

    @Override
    public void onFailure(NereidException failure) {
      put(new Answer(0, failure.code(), false, Thread.currentThread()));
    }

    private void put(Answer value) {
      twice |= !answer.complete(value);
    }

    Answer await() throws Exception {
      Answer value = answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertFalse(twice, "answered twice");
      return value;
    }
  }

  @Test
  void anIdleModelAnswersOnTheThreadThatAsks() throws Exception {
    Model model = nereid.load(identity("m").build());
    Receiver receiver = new Receiver();
    try (var request = model.newRequest().input("IN", row(1))) {
      request.submit(receiver, true);
      assertTrue(receiver.answer.isDone(), "it did not run inline");
    }
    Answer answer = receiver.await();
    assertEquals(1f, answer.value());
    assertSame(Thread.currentThread(), answer.thread());
    assertTrue(answer.inline());
  }

  @Test
  void requestsThatMayNotRunInlineAreAnsweredByTheInstance() throws Exception {
    Model model = nereid.load(identity("m").build());
    Receiver receiver = new Receiver();
    try (var request = model.newRequest().input("IN", row(3))) {
      request.submit(receiver, false);
      Answer answer = receiver.await();
      assertEquals(3f, answer.value());
      assertFalse(answer.inline());
      assertNotSame(Thread.currentThread(), answer.thread());
      assertFalse(answer.thread().isVirtual(), "there is a thread in between");
    }
  }

  @Test
  void aRequestCanBeClosedWhileItWaits() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    Receiver receiver = new Receiver();
    try (var request = model.newRequest().input("IN", row(4))) {
      request.submit(receiver, true);
    }
    gate.open(1);
    assertEquals(4f, receiver.await().value());
  }

  @Test
  void aCancelledRequestFailsAndNeverExecutes() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    Receiver executing = new Receiver();
    Receiver waiting = new Receiver();
    try (var first = model.newRequest().input("IN", row(1));
        var second = model.newRequest().input("IN", row(2))) {
      first.submit(executing, true);
      gate.awaitBatch();
      second.submit(waiting, true);
      assertTrue(second.cancel());
      assertEquals(StatusCode.CANCELLED, waiting.await().failure());
      gate.open(1);
      assertEquals(1f, executing.await().value());
    }
    assertEquals(List.of(1f), gate.executed);
  }

  @Test
  void aDeadlineEndsTheTimeInTheQueue() throws Exception {
    Model model = nereid.load(gate.model("m").build());
    Receiver executing = new Receiver();
    Receiver waiting = new Receiver();
    try (var first = model.newRequest().input("IN", row(1));
        var second = model.newRequest().deadline(Duration.ofMillis(20)).input("IN", row(2))) {
      first.submit(executing, true);
      gate.awaitBatch();
      second.submit(waiting, true);
      assertEquals(StatusCode.DEADLINE_EXCEEDED, waiting.await().failure());
      gate.open(1);
      executing.await();
    }
  }

  @Test
  void mistakesInTheRequestItselfAreThrown() {
    Model model = nereid.load(identity("m").build());
    Receiver receiver = new Receiver();
    try (var request = model.newRequest()) {
      NereidException failure =
          assertThrows(NereidException.class, () -> request.submit(receiver, true));
      assertEquals(StatusCode.INVALID_ARGUMENT, failure.code());
      assertFalse(receiver.answer.isDone());
      // It was not sent, so it can be mended.
      request.input("IN", row(5));
      try (InferResponse response = request.infer()) {
        assertEquals(5f, response.output("OUT").floatAt(0));
      }
    }
  }

  @Test
  void manyAtOnceAreEachAnsweredOnce() throws Exception {
    Model model = nereid.load(identity("m").build());
    List<Receiver> receivers = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      Receiver receiver = new Receiver();
      receivers.add(receiver);
      try (var request = model.newRequest().input("IN", row(i))) {
        request.submit(receiver, i % 3 == 0);
      }
    }
    for (int i = 0; i < receivers.size(); i++) {
      assertEquals((float) i, receivers.get(i).await().value());
    }
  }
}
