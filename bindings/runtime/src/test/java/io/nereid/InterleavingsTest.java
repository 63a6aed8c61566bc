package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.NereidException;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two threads with requests to one model, in the orders of their steps that Lincheck tries: it
 * decides before each access to shared memory which thread goes on. After an order it sets Java's
 * objects back, but not the core's: records of the orders before stay there, and with them the
 * runtime. Loading cannot be tried so: it works on files and waits for threads of the core, and
 * Lincheck refuses the one and does not see the other.
 */
@Tag("endure")
class InterleavingsTest {

  private static final int ORDERS = 1_000;

  private final Nereid nereid = Nereid.create();
  private final Model model = nereid.load(RuntimeTest.identity("m").build());

  InterleavingsTest() {
    RuntimeTest.roundTrip(model, 1); // classes are loaded before threads are watched
  }

  @Test
  void slotsAreTakenAndGivenBackAtOnce() {
    Lincheck.runConcurrentTest(
        ORDERS, () -> together(() -> model.newRequest().close(), () -> model.newRequest().close()));
  }

  @Test
  void requestsAreAnsweredBesideOneAnother() {
    Lincheck.runConcurrentTest(
        ORDERS,
        () ->
            together(() -> RuntimeTest.roundTrip(model, 1), () -> RuntimeTest.roundTrip(model, 2)));
  }

  @Test
  void aRequestIsCancelledAndClosedWhileItIsSent() {
    Lincheck.runConcurrentTest(
        ORDERS,
        () -> {
          var request = model.newRequest().input("IN", RuntimeTest.row(1));
          together(
              () -> {
                try {
                  request.infer().close();
                } catch (NereidException | IllegalStateException e) {
                  // it was cancelled or closed before
                }
              },
              () -> {
                request.cancel();
                request.close();
              });
        });
  }

  /** Responses before the last come on a thread of the core, whose orders nobody can try. */
  @Test
  void aStreamIsReadAndClosedAtOnce() {
    Lincheck.runConcurrentTest(
        ORDERS,
        () -> {
          var request = model.newRequest().input("IN", RuntimeTest.row(1));
          var stream = request.inferStream();
          together(
              () -> {
                try (var response = stream.next()) {
                  assertEquals(1f, response.output("OUT").floatAt(0));
                } catch (IllegalStateException e) {
                  // it was closed before
                }
              },
              () -> {
                request.cancel();
                stream.close();
                request.close();
              });
        });
  }

  /** Runs both at the same time: none fails, no memory is kept, and two records are enough. */
  private void together(Runnable one, Runnable other) {
    long before = HandleCounts.read().requests();
    Throwable[] failure = new Throwable[1];
    Thread thread =
        new Thread(() -> {
          try {
            other.run();
          } catch (Throwable t) {
            failure[0] = t;
          }
        });
    thread.start();
    one.run();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    if (failure[0] != null) {
      throw new AssertionError(failure[0]);
    }
    assertEquals(0, nereid.poolStatistics().liveBytes());
    assertTrue(HandleCounts.read().requests() - before <= 2);
  }
}
