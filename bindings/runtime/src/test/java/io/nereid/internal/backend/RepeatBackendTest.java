package io.nereid.internal.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The backend {@code repeat}, found by its name. */
class RepeatBackendTest {

  private final Nereid nereid = Nereid.create();
  private final Model model = nereid.load(RepeatModel.spec());

  /** Closing complains of what is left. */
  @AfterEach
  void close() {
    nereid.close();
  }

  @Test
  void eachElementIsAResponse() {
    int[] in = {4, -2, 0, 1};
    try (var request = RepeatModel.request(model, 0, 0, in);
        var stream = request.inferStream()) {
      for (int i = 0; i < in.length; i++) {
        try (var response = stream.next()) {
          assertEquals(in[i], response.output("OUT").intAt(0));
          assertEquals(i, response.output("IDX").intAt(0));
        }
      }
      assertNull(stream.next());
    }
  }

  @Test
  void noElementIsNoResponse() {
    try (var request = RepeatModel.request(model, 0, 0);
        var stream = request.inferStream()) {
      assertNull(stream.next());
    }
  }

  @Test
  void delaysComeBeforeResponses() {
    long start = System.nanoTime();
    try (var request = RepeatModel.request(model, 30, 0, 1, 2);
        var stream = request.inferStream()) {
      stream.next().close();
      assertTrue(elapsedMs(start) >= 30);
      stream.next().close();
      assertTrue(elapsedMs(start) >= 60);
      assertNull(stream.next());
    }
  }

  private static long elapsedMs(long startNs) {
    return Duration.ofNanos(System.nanoTime() - startNs).toMillis();
  }

  @Test
  void theWaitIsTheNextRequestsAndNotTheResponses() {
    long start = System.nanoTime();
    try (var request = RepeatModel.request(model, 0, 100, 1, 2);
        var stream = request.inferStream()) {
      stream.next().close(); // it has its turn
      try (var next = RepeatModel.request(model, 0, 0, 3);
          var nextStream = next.inferStream()) {
        nextStream.next().close();
        assertTrue(elapsedMs(start) >= 100);
        assertNull(nextStream.next());
      }
      stream.next().close();
      assertNull(stream.next());
    }
    try (var request = RepeatModel.request(model, 0, 3_600_000, 1);
        var stream = request.inferStream()) {
      stream.next().close();
      assertNull(stream.next(), "an hour earlier");
    }
  }

  @Test
  void requestsInterleave() {
    try (var slow = RepeatModel.request(model, 3_600_000, 0, 1);
        var slowStream = slow.inferStream();
        var quick = RepeatModel.request(model, 0, 0, 2, 3);
        var quickStream = quick.inferStream()) {
      quickStream.next().close();
      quickStream.next().close();
      assertNull(quickStream.next());
      slow.cancel();
      assertThrows(NereidException.class, slowStream::next);
    }
  }

  @Test
  void oneResponseNeedsNoDecoupledModel() {
    Model plain = nereid.load(RepeatModel.builder().decoupled(false).build());
    try (var request = RepeatModel.request(plain, 0, 0, 7);
        var response = request.infer()) {
      assertEquals(7, response.output("OUT").intAt(0));
      assertEquals(0, response.output("IDX").intAt(0));
    }
    try (var request = RepeatModel.request(plain, 0, 0, 7, 8)) {
      NereidException e = assertThrows(NereidException.class, request::infer);
      assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
    }
  }

  @Test
  void itNoticesThatNobodyWaits() {
    try (var request = RepeatModel.request(model, 60_000, 0, 1);
        var stream = request.inferStream()) {
      // The backend is waiting by then, or cancelled before it began.
      request.cancel();
      NereidException e = assertThrows(NereidException.class, stream::next);
      assertEquals(StatusCode.CANCELLED, e.code());
    }
    model.unload(); // would take a minute
  }

  @Test
  void cancelledRequestsGiveTheirTurnBack() throws Exception {
    int hourMs = 3_600_000;
    Tensor delays = Tensor.of(DataType.UINT32, MemorySegment.ofArray(new int[] {0, hourMs}), 2);
    try (var first =
            model
                .newRequest()
                .input("IN", Tensor.ofInts(new int[] {1, 2}, 2))
                .input("DELAY", delays)
                .input("WAIT", uint(hourMs));
        var firstStream = first.inferStream()) {
      firstStream.next().close(); // it has its turn
      try (var second = RepeatModel.request(model, 0, hourMs, 3);
          var secondStream = second.inferStream();
          var third = RepeatModel.request(model, 0, 0, 4);
          var thirdStream = third.inferStream()) {
        second.cancel();
        assertThrows(NereidException.class, secondStream::next);
        first.cancel();
        assertThrows(NereidException.class, firstStream::next);
        CompletableFuture<Integer> answer =
            CompletableFuture.supplyAsync(() -> {
              try (var response = thirdStream.next()) {
                return response.output("OUT").intAt(0);
              }
            });
        try {
          assertEquals(4, answer.get(20, TimeUnit.SECONDS));
        } finally {
          third.cancel();
        }
      }
    }
  }

  @Test
  void inputsMustFitEachOther() {
    try (var request =
            model
                .newRequest()
                .input("IN", Tensor.ofInts(new int[3], 3))
                .input("WAIT", uint(0))
                .input("DELAY", uint(0));
        var stream = request.inferStream()) {
      NereidException e = assertThrows(NereidException.class, stream::next);
      assertEquals(StatusCode.INVALID_ARGUMENT, e.code());
      assertEquals("expected IN and DELAY shape to match, got [3] and [1]", e.getMessage());
    }
  }

  private static Tensor uint(int value) {
    return Tensor.of(DataType.UINT32, MemorySegment.ofArray(new int[] {value}), 1);
  }
}
