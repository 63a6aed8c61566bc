package io.nereid;

import static io.nereid.RepositoryFixture.IDENTITY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelEvent;
import io.nereid.model.Objective;
import io.nereid.model.RepositoryOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nothing is left of a runtime that is closed while its repositories are being started, or because
 * they cannot be.
 */
class ClosingAtStartTest {

  @TempDir Path directory;

  @Test
  void nothingIsFollowedAnyMore() throws IOException, InterruptedException {
    new RepositoryFixture(directory).model("m", IDENTITY, 1);
    RepositoryOptions options =
        RepositoryOptions.builder().repository(directory).poll(Duration.ofHours(1)).build();
    Nereid nereid = Nereid.create(options, NereidOptions.DEFAULT);
    Thread close = Thread.ofPlatform().unstarted(nereid::close);
    LifecycleListener closer =
        event -> {
          if (event instanceof ModelEvent.Ready) {
            close.start();
            RuntimeTest.await(ClosingAtStartTest::closingWaits, "the runtime to be closed");
          }
        };
    nereid.addListener(closer);
    nereid.repository().start();
    close.join();
    assertEquals(0, threads("nrd-poll").count());
  }

  /** Here it is one of the program's own logging, which hears of an objective for no model. */
  @Test
  void anErrorWhileItOpensLeavesNothing() {
    Error error = new Error("it cannot be opened");
    Handler thrower =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            if (line.getMessage().contains("which is in no repository")) {
              throw error;
            }
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    RepositoryOptions options =
        RepositoryOptions.builder()
            .repository(directory)
            .objective("nobody", Objective.p99(Duration.ofSeconds(1)))
            .build();
    Nereid.create().close(); // loads the core, which counts
    HandleCounts before = HandleCounts.read();
    Logger logger = Logger.getLogger("io.nereid");
    logger.addHandler(thrower);
    try {
      assertSame(error, assertThrows(Error.class, () -> Nereid.open(options)));
    } finally {
      logger.removeHandler(thrower);
    }
    assertEquals(before, HandleCounts.read());
  }

  /** Closing waits for the load that is under way, when nothing may be followed any more. */
  private static boolean closingWaits() {
    return threads("nrd-close").anyMatch(thread -> thread.getState() == Thread.State.WAITING);
  }

  private static Stream<Thread> threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(name));
  }
}
