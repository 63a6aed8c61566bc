package io.nereid.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Stores that fail in all ways that {@link FaultProxy} knows. */
@Tag("slow")
class StoreFaultsTest {

  private static final Duration LONG = Duration.ofDays(1);
  private static final int HISTORIES = Integer.getInteger("nereid.histories", 20);

  @TempDir Path cache;
  private S3Server server;
  private FaultProxy proxy;

  @BeforeEach
  void start() throws Exception {
    server = S3Server.start();
    proxy = new FaultProxy(server.port(), Integer.getInteger("nereid.seed", 1), 0);
  }

  @AfterEach
  void stop() throws Exception {
    proxy.close();
    server.close();
  }

  private Nereid open() {
    return Nereid.open(
        RepositoryOptions.builder()
            .store(Fixture.open(store(), Duration.ofMillis(300)))
            .poll(LONG)
            .build());
  }

  private StoreOptions.Builder store() {
    return StoreOptions.builder()
        .repository("s3://127.0.0.1:" + proxy.port() + "/" + S3Server.BUCKET + "/models")
        .cacheDirectory(cache);
  }

  /** One whose models are loaded when they are asked for, and whose store may take its time. */
  private Nereid openPatient(StoreOptions.Builder store) {
    return Nereid.open(
        RepositoryOptions.builder()
            .store(Fixture.open(store, Duration.ofMinutes(10)))
            .explicit()
            .build());
  }

  @ParameterizedTest
  @EnumSource(FaultProxy.Fault.class)
  void servedModelsStayWhenAllAnswersHaveAFault(FaultProxy.Fault fault) {
    Fixture.putIdentity(server, "a", 1);
    Fixture.putIdentity(server, "b", 1);
    proxy.silence(500);
    try (Nereid nereid = open()) {
      proxy.always(fault);
      server.put("models/a/2/weights.bin", Fixture.bytes("second"));
      nereid.repository().poll();
      assertTrue(Fixture.answers(nereid, "a"));
      assertTrue(Fixture.answers(nereid, "b"));
      proxy.always(FaultProxy.Fault.NONE);
      awaitVersion(nereid, 2);
    }
  }

  /** Polls until the store's state has arrived. */
  private static void awaitVersion(Nereid nereid, long version) {
    while (nereid.model("a").version() != version) {
      nereid.repository().poll();
      Thread.yield();
    }
  }

  @Test
  void theIndexSaysWhatAModelWaitsFor() {
    Fixture.putIdentity(server, "a", 1);
    try (Nereid nereid = open()) {
      server.put("models/a/2/weights.bin", Fixture.bytes("second"));
      ModelStore store = nereid.repository().options().store();
      proxy.failObjects(true);
      nereid.repository().poll();
      String reason = nereid.repository().index().getFirst().reason();
      assertTrue(reason.contains("2/weights.bin: 127.0.0.1 answered with status 503"), reason);
      assertTrue(store.status().getFirst().faultCount() > 0);
      assertTrue(Fixture.answers(nereid, "a"));
      proxy.failObjects(false);
      awaitVersion(nereid, 2);
      assertTrue(
          nereid.repository().index().stream()
              .anyMatch(one -> one.version().orElse(0) == 2 && one.reason().isEmpty()));
    }
  }

  @Test
  void aSmallModelIsReadyWhileThePartsOfALargeOneAreHeldUp() throws Exception {
    Fixture.putIdentity(server, "large", IntStream.rangeClosed(1, 40).toArray());
    List<String> small = List.of("s1", "s2", "s3");
    small.forEach(name -> Fixture.putIdentity(server, name, 1));
    proxy.hold("/large/");
    try (Nereid nereid = openPatient(store())) {
      try {
        CompletableFuture<Void> large = load(nereid, "large");
        // Files seldom share a lock of the cache: of the eight in flight four may, of the small
        // models two.
        awaitHeld(4, large);
        CompletableFuture.anyOf(
                small.stream().map(one -> load(nereid, one)).toArray(CompletableFuture[]::new))
            .get(2, TimeUnit.MINUTES);
        assertFalse(large.isDone());
        proxy.release();
        large.join();
        assertTrue(Fixture.answers(nereid, "large"));
      } finally {
        proxy.release();
      }
    }
  }

  @Test
  void filesOfAModelThatIsBeingFetchedStayWhenAnotherLoadTrimsTheCache() throws Exception {
    Fixture.putIdentity(server, "two", 1, 2);
    Fixture.putIdentity(server, "other", 1);
    proxy.hold("/two/2/");
    try (Nereid nereid = openPatient(store().cacheByteLimit(1))) {
      try {
        CompletableFuture<Void> two = load(nereid, "two");
        awaitHeld(1, two);
        while (!Files.exists(cache.resolve("blobs/" + Hashes.sha256("two1"))) && !two.isDone()) {
          Thread.sleep(1);
        }
        nereid.repository().load("other");
        assertFalse(two.isDone());
        proxy.release();
        two.join();
        assertTrue(Fixture.answers(nereid, "two"));
      } finally {
        proxy.release();
      }
    }
  }

  @Test
  void loadsThatWaitForAListShareTheNextOne() throws Exception {
    List<String> models = IntStream.range(0, 8).mapToObj(i -> "m" + i).toList();
    models.forEach(model -> Fixture.putIdentity(server, model, 1));
    try (Nereid nereid = openPatient(store())) {
      proxy.hold("list-type=2");
      try {
        awaitHeld(1, load(nereid, "m0"));
        List<Thread> others =
            models.stream()
                .map(model -> Thread.startVirtualThread(() -> nereid.repository().load(model)))
                .toList();
        for (Thread one : others) {
          while (one.getState() != Thread.State.BLOCKED) {
            Thread.sleep(1);
          }
        }
        proxy.release();
        for (Thread one : others) {
          one.join();
        }
      } finally {
        proxy.release();
      }
      assertTrue(models.stream().allMatch(model -> Fixture.answers(nereid, model)));
      // The client may repeat a request when a connection was closed.
      assertTrue(proxy.held() <= 4, "lists: " + proxy.held());
    }
  }

  /** Waits until so many requests of a load are held up. */
  private void awaitHeld(int count, CompletableFuture<Void> load) throws InterruptedException {
    while (proxy.held() < count && !load.isDone()) {
      Thread.sleep(1);
    }
    assertFalse(load.isDone());
  }

  private static CompletableFuture<Void> load(Nereid nereid, String model) {
    return CompletableFuture.runAsync(
        () -> nereid.repository().load(model), Thread::startVirtualThread);
  }

  @Test
  void aModelWaitsForNothingOnceAListIsWholeAgain() {
    Fixture.putIdentity(server, "a", 1);
    try (Nereid nereid = open()) {
      ModelStore store = nereid.repository().options().store();
      proxy.always(FaultProxy.Fault.EMPTY_LIST);
      nereid.repository().poll();
      String why = store.status().getFirst().waiting().get("a");
      assertTrue(why.startsWith("the list of s3://"), why);
      proxy.always(FaultProxy.Fault.NONE);
      nereid.repository().poll();
      assertEquals(Map.of(), store.status().getFirst().waiting());
      assertTrue(Fixture.answers(nereid, "a"));
    }
  }

  @Test
  void aPollOfManyModelsAsksForOneList() {
    for (int i = 0; i < 30; i++) {
      Fixture.putIdentity(server, "m" + i, 1);
    }
    try (Nereid nereid = open()) {
      int before = proxy.requests();
      for (int i = 0; i < 10; i++) {
        nereid.repository().poll();
      }
      // The client may repeat a request when a connection was closed.
      assertTrue(proxy.requests() - before < 15, "requests: " + (proxy.requests() - before));
    }
  }

  @Test
  void faultsBySeedLoseNoRequestAndUnloadNoModel() throws Exception {
    Fixture.putIdentity(server, "a", 1);
    Fixture.putIdentity(server, "b", 1);
    proxy.silence(500);
    AtomicBoolean over = new AtomicBoolean();
    AtomicLong answers = new AtomicLong();
    AtomicLong failures = new AtomicLong();
    try (Nereid nereid = open()) {
      Thread load =
          Thread.ofPlatform()
              .start(() -> {
                while (!over.get()) {
                  try {
                    for (String model : new String[] {"a", "b"}) {
                      assertTrue(Fixture.answers(nereid, model));
                      answers.incrementAndGet();
                    }
                    LockSupport.parkNanos(100_000); // the polls need a processor, too
                  } catch (RuntimeException | Error e) {
                    failures.incrementAndGet();
                  }
                }
              });
      for (int history = 0; history < HISTORIES; history++) {
        proxy.perMille(300);
        String mark = "parameters { key: \"mark\" value { string_value: \"" + history + "\" } }";
        server.put("models/a/1/weights.bin", Fixture.bytes("v" + history));
        server.put("models/a/config.pbtxt", Fixture.bytes(Fixture.IDENTITY + mark));
        nereid.repository().poll();
        if (history % 5 == 4) {
          proxy.perMille(0);
          while (!("" + history).equals(nereid.model("a").spec().parameters().get("mark"))) {
            nereid.repository().poll();
          }
        }
      }
      over.set(true);
      load.join();
      assertEquals(0, failures.get(), answers + " answers");
      assertTrue(answers.get() > 0);
      System.out.println(
          answers
              + " answers, "
              + proxy.requests()
              + " requests to the store, faults: "
              + proxy.faults());
      assertFalse(proxy.faults() == 0);
    }
  }
}
