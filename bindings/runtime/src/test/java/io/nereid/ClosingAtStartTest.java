package io.nereid;

import static io.nereid.RepositoryFixture.IDENTITY;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelEvent;
import io.nereid.model.RepositoryOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left of a runtime that is closed while its repositories are being started: nothing. */
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

  /** Closing waits for the load that is under way, when nothing may be followed any more. */
  private static boolean closingWaits() {
    return threads("nrd-close").anyMatch(thread -> thread.getState() == Thread.State.WAITING);
  }

  private static Stream<Thread> threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(name));
  }
}
