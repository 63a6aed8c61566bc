package io.nereid.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that are killed while they fill a cache, two at a time. */
@Tag("slow")
class CacheKillTest {

  private static final int ROUNDS = Integer.getInteger("nereid.kills", 5);
  private static final int MODELS = 6;

  @TempDir Path cache;

  /** Fetches all models of a repository: the URL and the directory of the cache are arguments. */
  static final class Fetcher {

    private Fetcher() {}

    public static void main(String[] arguments) {
      try (ModelStore store =
          Fixture.open(
              StoreOptions.builder()
                  .repository(arguments[0])
                  .cacheDirectory(Path.of(arguments[1])))) {
        store.look(true);
        System.out.println("looked");
        Path models = store.repositories().getFirst();
        for (int i = 0; i < MODELS; i++) {
          store.fetch(models.resolve("m" + i));
        }
      }
    }
  }

  private Process fetcher(String url) throws Exception {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Fetcher.class.getName(),
            url,
            cache.toString())
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  @Test
  void theCacheIsWholeWheneverProcessesAreKilled() throws Exception {
    Random random = new Random(7);
    try (S3Server server = S3Server.start()) {
      for (int i = 0; i < MODELS; i++) {
        Fixture.putIdentity(server, "m" + i, 1);
        byte[] weights = new byte[20_000_000];
        random.nextBytes(weights);
        server.put("models/m" + i + "/1/big.bin", weights);
      }
      for (int round = 0; round < ROUNDS; round++) {
        List<Process> both = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
          both.add(fetcher(server.url("models")));
        }
        assertEquals("looked", both.getFirst().inputReader().readLine());
        Thread.sleep(random.nextInt(300)); // any time will do
        for (Process one : both) {
          one.destroyForcibly().waitFor();
        }
        checkBlobs();
      }
      StoreOptions.Builder options =
          StoreOptions.builder().repository(server.url("models")).cacheDirectory(cache);
      try (Nereid nereid =
          Nereid.open(RepositoryOptions.builder().store(Fixture.open(options)).build())) {
        for (int i = 0; i < MODELS; i++) {
          assertTrue(Fixture.answers(nereid, "m" + i));
        }
        assertEquals(Map.of(), nereid.repository().options().store().status().getFirst().waiting());
        try (Stream<Path> views = Files.list(cache.resolve("views"))) {
          // A process that was killed before it had its lock leaves a directory for a day.
          assertEquals(1, views.filter(view -> Files.exists(view.resolve("lock"))).count());
        }
      }
      checkBlobs();
    }
  }

  private void checkBlobs() throws Exception {
    try (Stream<Path> blobs = Files.list(cache.resolve("blobs"))) {
      for (Path blob : blobs.toList()) {
        assertEquals(blob.getFileName().toString(), Hashes.sha256(blob));
      }
    }
  }
}
