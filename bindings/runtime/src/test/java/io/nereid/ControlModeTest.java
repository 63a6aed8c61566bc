package io.nereid;

import static io.nereid.RepositoryFixture.BATCHING;
import static io.nereid.RepositoryFixture.IDENTITY;
import static io.nereid.RepositoryFixture.NEGATING;
import static io.nereid.RepositoryFixture.answer;
import static io.nereid.RepositoryFixture.assertFails;
import static io.nereid.RepositoryFixture.index;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.fixtures.ReluctantBackend;
import io.nereid.model.ModelEvent;
import io.nereid.model.ModelOverride;
import io.nereid.model.RepositoryOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Control modes: which models are loaded when, and how the index shows them. */
class ControlModeTest {

  @TempDir Path directory;

  private RepositoryFixture repository;

  @BeforeEach
  void makeRepository() throws IOException {
    repository = new RepositoryFixture(Files.createDirectory(directory.resolve("models")));
  }

  private Nereid explicit(String... models) {
    return Nereid.open(repository.options().explicit(models).build());
  }

  // ---- None ------------------------------------------------------------------------------------

  @Test
  void withoutControlEverythingIsLoadedOnce() throws IOException {
    repository.model("a", IDENTITY, 1, 2);
    repository.model("b", "backend: 1", 1);
    try (Nereid nereid = Nereid.open(repository.root())) {
      assertEquals(
          List.of("a/2 READY", "b UNAVAILABLE: b/config.pbtxt:1:10: Expected string."),
          index(nereid));
      for (var action :
          List.<Executable>of(
              () -> nereid.repository().load("a"), () -> nereid.repository().unload("a"))) {
        assertFails(
            StatusCode.UNAVAILABLE,
            "explicit model load / unload is not allowed if polling",
            action);
      }
    }
  }

  @Test
  void aNameInTwoRepositoriesIsUnavailable() throws IOException {
    Path second = Files.createDirectory(directory.resolve("second"));
    repository.model("both", IDENTITY, 1);
    repository.model("first", IDENTITY, 1);
    new RepositoryFixture(second).model("both", IDENTITY, 1);
    new RepositoryFixture(second).model("last", IDENTITY, 1);
    try (Nereid nereid = Nereid.open(repository.options().repository(second).build())) {
      assertEquals(
          List.of(
              "both UNAVAILABLE: model appears in two or more repositories",
              "first/1 READY",
              "last/1 READY"),
          index(nereid));
    }
  }

  /** Started as a process of its own, whose locale has no letter with an accent. */
  static final class Plain {

    private Plain() {}

    public static void main(String[] args) {
      RepositoryOptions.Builder options = RepositoryOptions.builder().repository(Path.of(args[0]));
      try (Nereid nereid = Nereid.open(options.poll(Duration.ofDays(1)).build())) {
        nereid.repository().poll();
        System.out.println(index(nereid));
      }
      try (Nereid nereid = Nereid.open(options.explicit("a").build())) {
        nereid.repository().load("mod\u00e8le");
      } catch (NereidException e) {
        System.out.println(e.code());
      }
    }
  }

  @Test
  void aNameThatTheLocaleLacksIsPassedOver() throws Exception {
    repository.model("a", IDENTITY, 1);
    String root = repository.root().toString();
    String make = "mkdir \"$0/$(printf 'mod\\303\\250le')\"";
    assertEquals(0, new ProcessBuilder("sh", "-c", make, root).start().waitFor());
    ProcessBuilder plain =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Plain.class.getName(),
                root)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    plain.environment().put("LC_ALL", "C");
    assertEquals(
        List.of("[a/1 READY]", "INVALID_ARGUMENT"), plain.start().inputReader().lines().toList());
  }

  @Test
  void aRepositoryThatIsNotThereIsAnError() {
    Path nowhere = directory.resolve("nowhere");
    assertFails(StatusCode.NOT_FOUND, nowhere.toString(), () -> Nereid.open(nowhere));
  }

  @Test
  void aLoadThatFailsIsTriedAgain() throws IOException {
    String config = NEGATING.replace("Negating", "Reluctant");
    repository.model("a", config, 1);
    List<ModelEvent> events = new CopyOnWriteArrayList<>();
    RepositoryOptions.Builder options = repository.options().listener(events::add);
    ReluctantBackend.REFUSALS.set(3);
    try (Nereid nereid = Nereid.open(options.loadRetryCount(2).build())) {
      assertTrue(index(nereid).getFirst().startsWith("a/1 UNAVAILABLE"), index(nereid).toString());
    }
    assertEquals(3, events.stream().filter(ModelEvent.Failed.class::isInstance).count());
    ReluctantBackend.REFUSALS.set(2);
    try (Nereid nereid = Nereid.open(options.build())) {
      assertEquals(7, answer(nereid.model("a"), 7));
    }
    assertEquals(0, ReluctantBackend.REFUSALS.get());
  }

  /** The rest of the configuration comes from nowhere else. */
  @Test
  void aConfigurationCanBeChosenByItsName() throws IOException {
    Path chosen = repository.model("a", IDENTITY, 1).resolve("configs");
    Files.writeString(Files.createDirectory(chosen).resolve("small.pbtxt"), NEGATING);
    repository.model("b", IDENTITY, 1);
    RepositoryOptions.Builder options = repository.options().poll(Duration.ofDays(1));
    try (Nereid nereid = Nereid.open(options.configName("small").build())) {
      assertEquals(-7, answer(nereid.model("a"), 7));
      assertEquals(7, answer(nereid.model("b"), 7));
      Files.delete(chosen.resolve("small.pbtxt"));
      nereid.repository().poll();
      assertEquals(7, answer(nereid.model("a"), 7));
    }
    for (String wrong : List.of("a b", "../a", "a/b")) {
      assertThrows(
          IllegalArgumentException.class, () -> repository.options().configName(wrong).build());
    }
  }

  // ---- Explicit --------------------------------------------------------------------------------

  @Test
  void explicitLoadsWhatIsAskedFor() throws IOException {
    repository.model("a", IDENTITY, 1);
    repository.model("b", IDENTITY, 1);
    repository.model("c", IDENTITY, 1);
    try (Nereid nereid = explicit("a", "nobody")) {
      assertEquals(
          List.of(
              "a/1 READY",
              "b UNKNOWN",
              "c UNKNOWN",
              "nobody UNAVAILABLE: there is no model 'nobody' in the repositories, there is a,"
                  + " b, c"),
          index(nereid));
      nereid.repository().load("b");
      assertEquals(7, answer(nereid.model("b"), 7));
      nereid.repository().unload("a");
      assertEquals(
          List.of("a/1 UNAVAILABLE: unloaded", "b/1 READY", "c UNKNOWN"),
          index(nereid).subList(0, 3));
      assertFails(StatusCode.NOT_FOUND, "'a' has no available versions", () -> nereid.model("a"));
      nereid.repository().unload("a");
      nereid.repository().load("a");
      assertEquals(1, answer(nereid.model("a"), 1));
    }
  }

  @Test
  void aStarLoadsAll() throws IOException {
    repository.model("a", IDENTITY, 1);
    repository.model("b", IDENTITY, 1);
    try (Nereid nereid = explicit("*")) {
      assertEquals(List.of("a/1 READY", "b/1 READY"), index(nereid));
    }
  }

  @Test
  void modelsToLoadNeedExplicitControl() {
    var options = RepositoryOptions.builder().explicit("m");
    options.controlMode(RepositoryOptions.ControlMode.POLL);
    assertThrows(IllegalArgumentException.class, options::build);
  }

  @Test
  void unknownModelsAreNotFoundAndNothingToUnload() {
    try (Nereid nereid = explicit()) {
      assertFails(
          StatusCode.NOT_FOUND,
          "failed to load 'm', failed to poll from model repository",
          () -> nereid.repository().load("m"));
      nereid.repository().unload("m");
      nereid.repository().unload("m", true);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"..", "../m", "/m", "a/b", "a\\b", "."})
  void namesThatLeadElsewhereAreRefused(String name) {
    try (Nereid nereid = explicit()) {
      String message = "model name must not contain path traversal characters";
      Repository models = nereid.repository();
      assertFails(StatusCode.INVALID_ARGUMENT, message, () -> models.load(name));
      assertFails(StatusCode.INVALID_ARGUMENT, message, () -> models.unload(name));
      assertFails(
          StatusCode.INVALID_ARGUMENT,
          message,
          () -> models.load(name, new ModelOverride("{}", Map.of("1/f", new byte[1]))));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"...", "a..b", "..a"})
  void dotsAreCharactersOfANameLikeOthers(String name) throws IOException {
    repository.model(name, IDENTITY, 1);
    try (Nereid nereid = explicit()) {
      nereid.repository().load(name);
      assertEquals(2, answer(nereid.model(name), 2));
    }
  }

  @Test
  void namesThatBeginWithADotAreHiddenUnlessTheyAreDotsAlone() throws IOException {
    for (String name : List.of("...", ".git", "..data", "m")) {
      repository.model(name, IDENTITY, 1);
    }
    try (Nereid nereid = Nereid.open(repository.root())) {
      assertEquals(List.of(".../1 READY", "m/1 READY"), index(nereid));
    }
  }

  @Test
  void aNameIsAsLongAsAFileSystemAllows() {
    try (Nereid nereid = explicit()) {
      String name = "\u00e9".repeat(128);
      assertFails(
          StatusCode.INVALID_ARGUMENT,
          "model name is longer than 255 bytes",
          () ->
              nereid.repository().load(name, new ModelOverride("{}", Map.of("1/f", new byte[1]))));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "a b", "a\nb"})
  void blankNamesAreRefused(String name) {
    try (Nereid nereid = explicit()) {
      assertFails(StatusCode.INVALID_ARGUMENT, "odel name", () -> nereid.repository().load(name));
    }
  }

  @Test
  void unchangedModelsAreNotLoadedAgain() throws IOException {
    Path model = repository.model("m", IDENTITY, 1);
    List<ModelEvent> events = new CopyOnWriteArrayList<>();
    try (Nereid nereid = explicit("m")) {
      nereid.addListener(events::add);
      nereid.repository().load("m");
      assertTrue(events.stream().noneMatch(ModelEvent.Loading.class::isInstance), events::toString);
      Files.setLastModifiedTime(model.resolve("config.pbtxt"), FileTime.fromMillis(1));
      nereid.repository().load("m");
      assertEquals(1, events.stream().filter(ModelEvent.Ready.class::isInstance).count());
    }
  }

  @Test
  void aReloadFollowsTheVersionPolicy() throws IOException {
    repository.model("m", IDENTITY, 1);
    try (Nereid nereid = explicit("m")) {
      Model first = nereid.model("m");
      repository.model("m", IDENTITY, 1, 2);
      nereid.repository().load("m");
      assertEquals(List.of("m/1 UNAVAILABLE: unloaded", "m/2 READY"), index(nereid));
      repository.model("m", IDENTITY + "version_policy { all {} }", 1, 2);
      nereid.repository().load("m");
      assertEquals(List.of("m/1 READY", "m/2 READY"), index(nereid));
      assertSame(first, nereid.model("m", 1));
    }
  }

  @Test
  void aFailedReloadLeavesTheOldVersionsServing() throws IOException {
    repository.model("m", IDENTITY, 1);
    try (Nereid nereid = explicit("m")) {
      repository.model("m", IDENTITY.replace("identity", "no.such.Backend"), 1, 2);
      NereidException e =
          assertFails(
              StatusCode.INVALID_ARGUMENT,
              "load failed for model 'm': version 2 is at UNAVAILABLE state: ",
              () -> nereid.repository().load("m"));
      assertTrue(e.getMessage().contains("no.such.Backend"), e.getMessage());
      assertEquals(5, answer(nereid.model("m"), 5));
      assertEquals(1, nereid.model("m").version());
    }
  }

  @Test
  void failedLoadsAreTriedAgain() throws IOException {
    repository.model("m", IDENTITY, 1);
    try (Nereid nereid = explicit("m")) {
      repository.model("m", IDENTITY.replace("identity", "no.such.Backend"), 1);
      for (int i = 0; i < 3; i++) {
        assertFails(
            StatusCode.INVALID_ARGUMENT, "no.such.Backend", () -> nereid.repository().load("m"));
      }
      assertEquals(5, answer(nereid.model("m"), 5));
    }
  }

  @Test
  void anOldMistakeIsForgottenWithTheNextOne() throws IOException {
    repository.model("m", "{", 1);
    try (Nereid nereid = explicit("m")) {
      assertTrue(index(nereid).getFirst().startsWith("m UNAVAILABLE"), "" + index(nereid));
      repository.model("m", IDENTITY.replace("identity", "no.such.Backend"), 1);
      assertThrows(NereidException.class, () -> nereid.repository().load("m"));
      assertEquals(1, index(nereid).size(), "" + index(nereid));
      assertTrue(index(nereid).getFirst().startsWith("m/1 UNAVAILABLE"), "" + index(nereid));
    }
  }

  @Test
  void versionsThatAreGoneAreForgotten() throws IOException {
    repository.model("m", IDENTITY, 1);
    try (Nereid nereid = explicit("m")) {
      repository.delete("m/1");
      repository.model("m", IDENTITY, 2);
      nereid.repository().load("m");
      assertEquals(List.of("m/2 READY"), index(nereid));
    }
  }

  // ---- Poll ------------------------------------------------------------------------------------

  @Test
  void pollingFollowsTheDirectories() throws Exception {
    repository.model("a", IDENTITY, 1);
    repository.model("b", IDENTITY, 1);
    try (Nereid nereid = Nereid.open(repository.options().poll(Duration.ofMillis(20)).build())) {
      assertEquals(List.of("a/1 READY", "b/1 READY"), index(nereid));
      repository.model("a", BATCHING, 1);
      repository.delete("b");
      repository.model("c", NEGATING, 4);
      await(nereid, List.of("a/1 READY", "c/4 READY"));
      await(() -> nereid.model("a").spec().maxBatchSize() == 8);
      assertEquals(-2, answer(nereid.model("c"), 2));
      assertFails(
          StatusCode.UNAVAILABLE,
          "explicit model load / unload is not allowed if polling is enabled",
          () -> nereid.repository().load("a"));

      repository.model("a", "garbage", 1);
      await(() -> nereid.model("a").failure().isPresent() || index(nereid).size() == 3);
      assertEquals(6, answer(nereid.model("a"), 6), "what was good goes on");
      repository.model("a", IDENTITY, 1);
      await(() -> nereid.model("a").spec().maxBatchSize() == 0);
    }
  }

  @Test
  void aRepositoryThatVanishesTakesNothingWithIt() throws IOException {
    repository.model("a", IDENTITY, 1);
    try (Nereid nereid = Nereid.open(repository.options().poll(Duration.ofHours(1)).build())) {
      Path away = directory.resolve("away");
      Files.move(repository.root(), away);
      nereid.repository().poll();
      assertEquals(1, answer(nereid.model("a"), 1));
      Files.move(away, repository.root());
      nereid.repository().poll();
      assertEquals(1, answer(nereid.model("a"), 1));
    }
  }

  private static void await(Nereid nereid, List<String> index) throws InterruptedException {
    try {
      await(() -> index(nereid).equals(index));
    } catch (AssertionError e) {
      assertEquals(index, index(nereid));
      throw e;
    }
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    RuntimeTest.await(condition, "the poll");
  }

  // ---- While files change ----------------------------------------------------------------------

  @Test
  void filesThatKeepChangingGiveAReason() throws Exception {
    Path model = repository.model("m", IDENTITY.replace("identity", "nobody"), 1);
    Path part = model.resolve("1/model.bin");
    Failures failures = new Failures();
    var stop = new AtomicBoolean();
    Thread writer =
        failures.startPlatform(() -> {
          for (int i = 0; !stop.get(); i++) {
            Files.writeString(part, "x".repeat(i % 1000 + 1));
          }
        });
    await(() -> Files.exists(part));
    try {
      // The writer may have no processor while the model is loaded.
      await(() -> {
        try (Nereid nereid = explicit("m")) {
          return index(nereid).getFirst().contains("changed while it was being read");
        }
      });
    } finally {
      stop.set(true);
      failures.join(writer);
    }
  }
}
