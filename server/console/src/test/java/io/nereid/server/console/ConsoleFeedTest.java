package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.nereid.Nereid;
import io.nereid.server.shared.Frontends.Place;
import io.nereid.server.shared.ServerState;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The looks at the models that all pages of the console share. */
class ConsoleFeedTest {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  @Test
  void aLookThatFailsIsNotTheLast() {
    try (Nereid nereid = Nereid.create()) {
      ServerState state = ServerState.builder(nereid).build();
      AtomicBoolean failed = new AtomicBoolean();
      Place place = new Place(1, false);
      state
          .frontends()
          .add(
              "odd",
              place,
              () -> {
                if (failed.compareAndSet(false, true)) {
                  throw new AssertionError("this frontend is at fault");
                }
                return 0;
              });
      ConsoleFeed feed = new ConsoleFeed(state, new RecentTroubles(state));
      try (ConsoleFeed.View view = feed.open()) {
        assertNotNull(assertTimeoutPreemptively(PATIENCE, () -> view.next(0)));
      } finally {
        feed.close();
      }
    }
  }
}
