package io.nereid.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelIndexEntry;
import io.nereid.model.ModelState;
import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Repositories in a real server of Amazon's protocol, with real models. */
class S3RepositoryTest {

  private static final Duration LONG = Duration.ofDays(1);

  @TempDir Path cache;
  private S3Server server;

  @BeforeEach
  void start() throws Exception {
    server = S3Server.start();
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private StoreOptions.Builder store() {
    return StoreOptions.builder().repository(server.url("models")).cacheDirectory(cache);
  }

  private RepositoryOptions.Builder options() {
    return RepositoryOptions.builder().store(Fixture.open(store()));
  }

  @Test
  void modelsOfABucketAreServed() throws Exception {
    Fixture.putIdentity(server, "a", 1);
    Fixture.putIdentity(server, "b", 1, 3);
    server.putAll("models/simple", Fixture.EXAMPLES.resolve("simple"));
    server.put(
        "models/alone.onnx", Files.readAllBytes(Fixture.EXAMPLES.resolve("simple/1/model.onnx")));
    server.put("models/readme.txt", Fixture.bytes("no model"));
    try (Nereid nereid = Nereid.open(options().build())) {
      assertEquals(
          List.of("a", "alone", "b", "simple"),
          nereid.models().stream().map(one -> one.name()).toList());
      assertTrue(Fixture.answers(nereid, "a"));
      assertEquals(3, nereid.model("b").version());
      // The configurations are the same, and fetched once.
      assertEquals(0, nereid.repository().options().store().status().getFirst().waitingBytes());
      assertEquals(ModelState.READY, nereid.model("simple").state());
    }
  }

  @Test
  void aNameThatLeavesTheRepositoryIsNoFile() {
    Fixture.putIdentity(server, "a", 1);
    for (String key : List.of("../outside", "a/../../outside", "a//double", "a/1/\u0001")) {
      assertFalse(new StoredObject(key, 1, "e", "").isSafe(), key);
    }
  }

  /** Started as a process of its own, whose locale has no letter with an accent. */
  static final class Plain {

    private Plain() {}

    public static void main(String[] args) throws IOException {
      try (ModelStore store =
          Fixture.open(
              StoreOptions.builder().repository(args[0]).cacheDirectory(Path.of(args[1])))) {
        store.look(true);
        Path models = store.repositories().getFirst();
        store.fetch(models.resolve("a"));
        try (Stream<Path> found = Files.list(models)) {
          System.out.println(found.map(models::relativize).toList());
        }
      }
    }
  }

  @Test
  void aNameThatTheLocaleLacksIsNoFile() throws Exception {
    Fixture.putIdentity(server, "a", 1);
    Fixture.putIdentity(server, "mod\u00e8le", 1);
    ProcessBuilder plain =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Plain.class.getName(),
                server.url("models"),
                cache.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    plain.environment().put("LC_ALL", "C");
    assertEquals(List.of("[a]"), plain.start().inputReader().lines().toList());
  }

  @Test
  void aNameWithALineBreakOrASpoiltListKeepsNoServerFromStarting() throws Exception {
    Fixture.putIdentity(server, "a", 1);
    server.put("models/a/1/two\nlines", Fixture.bytes("x"));
    for (int start = 0; start < 3; start++) {
      try (Nereid nereid = Nereid.open(options().build())) {
        assertTrue(Fixture.answers(nereid, "a"));
      }
      if (start == 1) {
        try (Stream<Path> lists = Files.list(cache.resolve("lists"))) {
          Files.writeString(lists.findFirst().orElseThrow(), "no list\n");
        }
      }
    }
  }

  @Test
  void aModelThatChangedIsReplacedAndItsOldFilesAreNotFetchedAgain() {
    Fixture.putIdentity(server, "a", 1);
    Fixture.putIdentity(server, "b", 1);
    try (Nereid nereid = Nereid.open(options().poll(LONG).build())) {
      ModelStore store = nereid.repository().options().store();
      long before = store.status().getFirst().fetchedBytes();
      server.put("models/a/2/weights.bin", Fixture.bytes("second"));
      server.put("models/c/config.pbtxt", Fixture.bytes(Fixture.IDENTITY));
      server.put("models/c/1/weights.bin", Fixture.bytes("a1")); // the content of another file
      nereid.repository().poll();
      assertEquals(2, nereid.model("a").version());
      assertTrue(Fixture.answers(nereid, "c"));
      assertEquals(before + "second".length(), store.status().getFirst().fetchedBytes());
      server.deleteAll("models/b/");
      nereid.repository().poll();
      assertEquals(
          StatusCode.NOT_FOUND,
          assertThrows(NereidException.class, () -> nereid.model("b")).code());
    }
  }

  @Test
  void modelsThatDidNotChangeAreNotLoadedAgain() {
    Fixture.putIdentity(server, "a", 1);
    Fixture.putIdentity(server, "b", 1);
    List<String> ready = new java.util.concurrent.CopyOnWriteArrayList<>();
    RepositoryOptions.Builder options =
        options()
            .poll(LONG)
            .listener(event -> {
              if (event instanceof io.nereid.model.ModelEvent.Ready one) {
                ready.add(one.model());
              }
            });
    try (Nereid nereid = Nereid.open(options.build())) {
      server.put("models/a/1/weights.bin", Fixture.bytes("other"));
      nereid.repository().poll();
      nereid.repository().poll();
      assertEquals(List.of("a", "a", "b"), ready.stream().sorted().toList());
    }
  }

  @Test
  void aSecondStartDoesNotNeedTheStore() throws Exception {
    Fixture.putIdentity(server, "a", 1);
    Nereid.open(options().build()).close();
    StoreOptions.Builder store = store();
    server.close();
    RepositoryOptions second = RepositoryOptions.builder().store(Fixture.open(store)).build();
    try (Nereid nereid = Nereid.open(second)) {
      assertTrue(Fixture.answers(nereid, "a"));
      assertFalse(nereid.repository().options().store().status().getFirst().reachable());
    }
    assertEquals(List.of(), views());
  }

  @Test
  void aStartWithoutStoreAndCacheSaysWhatIsMissing() throws Exception {
    StoreOptions.Builder store = store();
    server.close();
    RepositoryOptions options = RepositoryOptions.builder().store(Fixture.open(store)).build();
    NereidException e = assertThrows(NereidException.class, () -> Nereid.open(options));
    assertEquals(StatusCode.UNAVAILABLE, e.code());
    assertTrue(e.getMessage().contains("cannot be listed"), e.getMessage());
  }

  @Test
  void aWrongKeyIsToldByTheStoresOwnWord() {
    ModelStore store =
        RemoteModelStore.open(
            store()
                .environment(
                    java.util.Map.of("AWS_ACCESS_KEY_ID", "key", "AWS_SECRET_ACCESS_KEY", "?"))
                .build(),
            Duration.ofSeconds(1));
    NereidException e =
        assertThrows(
            NereidException.class,
            () -> Nereid.open(RepositoryOptions.builder().store(store).build()));
    assertTrue(e.getMessage().contains("403 (SignatureDoesNotMatch)"), e.getMessage());
  }

  @Test
  void explicitModeFetchesWhatIsAskedFor() {
    Fixture.putIdentity(server, "a", 1);
    Fixture.putIdentity(server, "b", 1);
    try (Nereid nereid = Nereid.open(options().explicit("a").build())) {
      ModelStore store = nereid.repository().options().store();
      long before = store.status().getFirst().fetchedBytes();
      assertEquals(
          List.of("a", "b"),
          nereid.repository().index().stream().map(ModelIndexEntry::name).toList());
      server.put("models/b/7/weights.bin", Fixture.bytes("new"));
      assertEquals(before, store.status().getFirst().fetchedBytes());
      nereid.repository().load("b");
      assertEquals(7, nereid.model("b").version());
      server.put("models/n/config.pbtxt", Fixture.bytes(Fixture.IDENTITY));
      server.put("models/n/1/x", Fixture.bytes("x"));
      nereid.repository().load("n");
      assertTrue(Fixture.answers(nereid, "n"));
    }
  }

  @Test
  void aListOfSeveralPagesIsReadToItsEnd() {
    for (int i = 0; i < 1100; i++) {
      server.put("models/m/1/f" + i, Fixture.bytes("x"));
    }
    Fixture.putIdentity(server, "z", 1);
    try (Nereid nereid = Nereid.open(options().explicit("z").build())) {
      assertTrue(Fixture.answers(nereid, "z"));
      assertEquals(
          List.of("m", "z"),
          nereid.repository().index().stream().map(ModelIndexEntry::name).toList());
    }
  }

  @Test
  void theCacheKeepsToItsLimitAndWhatIsInUse() throws Exception {
    Fixture.putIdentity(server, "a", 1);
    server.put("models/a/1/big", new byte[3_000_000]);
    Nereid.open(
            RepositoryOptions.builder().store(Fixture.open(store().cacheByteLimit(1000))).build())
        .close();
    Fixture.putIdentity(server, "b", 1);
    try (Nereid nereid =
        Nereid.open(
            RepositoryOptions.builder()
                .store(Fixture.open(store().cacheByteLimit(4_000_000)))
                .build())) {
      assertTrue(Fixture.answers(nereid, "a"));
      assertTrue(size() > 3_000_000);
      server.deleteAll("models/a/");
    }
    Fixture.putIdentity(server, "c", 1);
    Nereid.open(
            RepositoryOptions.builder().store(Fixture.open(store().cacheByteLimit(1000))).build())
        .close();
    assertTrue(size() < 3_000_000, "" + size());
  }

  @Test
  void filesOfModelsAndFetchesThatAreGoneAreDeleted() throws Exception {
    Fixture.putIdentity(server, "a", 1);
    Fixture.putIdentity(server, "b", 1);
    Path old = Files.createDirectories(cache.resolve("partial")).resolve("old");
    Path fresh = old.resolveSibling("fresh");
    Files.write(old, new byte[8]);
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(25))));
    Files.write(fresh, new byte[8]);
    try (Nereid nereid = Nereid.open(options().poll(LONG).build())) {
      assertFalse(Files.exists(old));
      assertTrue(Files.exists(fresh));
      server.put("models/b/1/weights.bin", Fixture.bytes("other"));
      nereid.repository().poll();
      assertEquals(List.of("a", "b", "b"), trees());
      server.deleteAll("models/b/");
      nereid.repository().poll();
      nereid.repository().poll();
      assertEquals(List.of("a"), trees());
      assertTrue(Fixture.answers(nereid, "a"));
    }
  }

  /** The models that have trees, in order. */
  private List<String> trees() throws IOException {
    try (Stream<Path> all = Files.walk(cache.resolve("views"))) {
      return all.filter(file -> file.getParent().getFileName().toString().equals("trees"))
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.startsWith("empty"))
          .map(name -> name.replaceFirst("-\\d+$", ""))
          .sorted()
          .toList();
    }
  }

  private long size() throws IOException {
    try (Stream<Path> blobs = Files.list(cache.resolve("blobs"))) {
      return blobs.mapToLong(file -> file.toFile().length()).sum();
    }
  }

  private List<Path> views() throws IOException {
    try (Stream<Path> left = Files.list(cache.resolve("views"))) {
      return left.toList();
    }
  }
}
