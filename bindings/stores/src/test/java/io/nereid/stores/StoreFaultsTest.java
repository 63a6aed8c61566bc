package io.nereid.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
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
    StoreOptions.Builder store =
        StoreOptions.builder()
            .repository("s3://127.0.0.1:" + proxy.port() + "/" + S3Server.BUCKET + "/models")
            .cacheDirectory(cache);
    return Nereid.open(
        RepositoryOptions.builder()
            .store(Fixture.open(store, Duration.ofMillis(300)))
            .poll(LONG)
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
