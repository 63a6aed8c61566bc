package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.model.RequestObserver;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A failing observer does not affect requests. */
class RequestObserverTest extends RuntimeTest {

  /** The inline model answers on the thread that asks, the other one on a thread of the core. */
  @Test
  void requestsEndAlthoughTheirObserverFails() {
    Model inline = nereid.load(identity("inline").build());
    Model queued = nereid.load(identity("queued").inline(false).build());
    AtomicInteger ended = new AtomicInteger();
    RequestObserver atTheEnd =
        request ->
            outcome -> {
              ended.incrementAndGet();
              throw new AssertionError("the observer is at fault");
            };
    sendUnder(atTheEnd, inline, queued);
    assertEquals(4, ended.get());
    RequestObserver atOnce =
        request -> {
          throw new AssertionError("the observer is at fault");
        };
    sendUnder(atOnce, inline, queued);
    assertEquals(4, inline.statistics().success().count());
    assertEquals(4, queued.statistics().success().count());
  }

  private static void sendUnder(RequestObserver observer, Model... models) {
    RequestObserver.install(observer);
    try {
      for (Model model : models) {
        roundTrip(model, 1);
        try (var request = model.newRequest().input("IN", row(2));
            var response = request.inferAsync().join()) {
          assertEquals(2, response.output("OUT").floatAt(0));
        }
      }
    } finally {
      RequestObserver.uninstall(observer);
    }
  }
}
