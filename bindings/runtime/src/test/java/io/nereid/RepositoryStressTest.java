package io.nereid;

import static io.nereid.RepositoryFixture.BATCHING;
import static io.nereid.RepositoryFixture.answer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.LifecycleListener;
import io.nereid.model.ModelEvent;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models come and go while clients use them. */
class RepositoryStressTest {

  /** What a client may be told by a model that comes and goes. */
  private static final Set<StatusCode> DOCUMENTED =
      Set.of(StatusCode.NOT_FOUND, StatusCode.UNAVAILABLE);

  @TempDir Path directory;

  private RepositoryFixture repository;
  private Path model;

  @BeforeEach
  void makeRepository() throws Exception {
    Nereid.create().close(); // loads the library, which counts the handles
    repository = new RepositoryFixture(directory);
    model = repository.model("m", BATCHING + "dynamic_batching {}\ninstance_group { count: 2 }", 1);
  }

  private void touch(int time) throws Exception {
    Files.setLastModifiedTime(model.resolve("config.pbtxt"), FileTime.fromMillis(time));
  }

  @Test
  void reloadingUnderSixtyFourClientsFailsNoRequest() throws Exception {
    HandleCounts before = HandleCounts.read();
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong answered = new AtomicLong();
    try (Nereid nereid = Nereid.open(repository.options().explicit("m").build())) {
      Failures failures = new Failures();
      Thread[] clients = new Thread[64];
      for (int t = 0; t < clients.length; t++) {
        int client = t;
        clients[t] =
            failures.startVirtual(() -> {
              for (int i = 0; !stop.get(); i++) {
                float sent = client * 10_000 + i % 10_000;
                assertEquals(sent, answer(nereid.model("m"), sent));
                answered.incrementAndGet();
              }
            });
      }
      for (int reload = 1; reload <= 50 && !failures.any(); reload++) {
        touch(reload);
        nereid.repository().load("m");
      }
      RuntimeTest.await(() -> answered.get() > 1000 || failures.any(), "answers");
      stop.set(true);
      failures.join(clients);
      assertEquals(0, nereid.poolStatistics().liveBuffers());
    }
    assertEquals(before, HandleCounts.read());
  }

  @Test
  void loadingUnloadingAndInferringAtOnceGivesDocumentedErrorsOnly() throws Exception {
    chaos(Duration.ofSeconds(3));
  }

  @Test
  @Tag("endure")
  void theSameForHalfAMinute() throws Exception {
    chaos(Duration.ofSeconds(30));
  }

  private void chaos(Duration time) throws Exception {
    repository.model("e", RepositoryFixture.ensemble("m"), 1);
    HandleCounts before = HandleCounts.read();
    AtomicLong answered = new AtomicLong();
    AtomicLong unloaded = new AtomicLong();
    LifecycleListener counting =
        event -> {
          if (event instanceof ModelEvent.Unloaded) {
            unloaded.incrementAndGet();
          }
        };
    try (Nereid nereid =
        Nereid.open(repository.options().explicit("e").listener(counting).build())) {
      Failures failures = new Failures();
      long startNs = System.nanoTime();
      BooleanSupplier goesOn =
          () ->
              !failures.any()
                  && (System.nanoTime() - startNs < time.toNanos()
                      || answered.get() < 100
                      || unloaded.get() < 10);
      Thread[] threads = new Thread[28];
      for (int t = 0; t < threads.length; t++) {
        SplittableRandom random = new SplittableRandom(t);
        // Clients whose requests run inline never leave the processor to other virtual threads.
        threads[t] =
            t < 4
                ? failures.startPlatform(() -> {
                  while (goesOn.getAsBoolean()) {
                    change(nereid, random);
                  }
                })
                : failures.startVirtual(() -> {
                  while (goesOn.getAsBoolean()) {
                    if (use(nereid, random)) {
                      answered.incrementAndGet();
                    } else {
                      Thread.sleep(1);
                    }
                  }
                });
      }
      for (Thread thread : threads) {
        thread.join(time.plus(RuntimeTest.PATIENCE));
      }
      failures.join(threads);
      nereid.repository().load("e");
      assertEquals(3, answer(nereid.model("e"), 3));
      assertEquals(0, nereid.poolStatistics().liveBuffers());
    }
    assertEquals(before, HandleCounts.read());
  }

  private void change(Nereid nereid, SplittableRandom random) throws Exception {
    String name = random.nextInt(4) == 0 ? "e" : "m";
    switch (random.nextInt(4)) {
      case 0 -> nereid.repository().unload(name, random.nextBoolean());
      case 1 -> touch(random.nextInt(1_000_000));
      default -> {
        try {
          nereid.repository().load(name);
        } catch (NereidException e) {
          // Only because the ensemble's model was unloaded by another thread in the meantime.
          assertEquals(StatusCode.INVALID_ARGUMENT, e.code(), e.getMessage());
          assertTrue(e.getMessage().contains("'m'"), e.getMessage());
        }
      }
    }
    Thread.sleep(random.nextInt(5));
  }

  private static boolean use(Nereid nereid, SplittableRandom random) {
    try {
      float sent = random.nextInt(1000);
      assertEquals(sent, answer(nereid.model(random.nextInt(4) == 0 ? "e" : "m"), sent));
      return true;
    } catch (NereidException e) {
      assertTrue(DOCUMENTED.contains(e.code()), () -> e.code() + " " + e.getMessage());
      return false;
    }
  }
}
