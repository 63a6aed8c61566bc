package io.nereid;

import static io.nereid.RepositoryFixture.IDENTITY;
import static io.nereid.RepositoryFixture.answer;
import static io.nereid.RepositoryFixture.assertFails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelEvent;
import io.nereid.model.ModelOverride;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Models that are loaded from what came with the load. */
class OverrideTest {

  private static final String JSON =
      """
      {"backend": "identity", "max_batch_size": 8,
       "input": [{"name": "IN", "data_type": "TYPE_FP32", "dims": [4]}],
       "output": [{"name": "OUT", "data_type": "TYPE_FP32", "dims": [4]}]}
      """;

  @TempDir Path directory;

  private RepositoryFixture repository;
  private Nereid nereid;
  private Repository models;

  @BeforeEach
  void open() {
    repository = new RepositoryFixture(directory);
    nereid = Nereid.open(repository.options().explicit().build());
    models = nereid.repository();
  }

  @AfterEach
  void close() {
    nereid.close();
  }

  private long maxBatchSize() {
    return nereid.model("m").spec().maxBatchSize();
  }

  @Test
  void aConfigurationHoldsUntilTheModelIsUnloaded() throws IOException {
    repository.model("m", IDENTITY, 1);
    models.load("m", ModelOverride.ofConfig(JSON));
    assertEquals(8, maxBatchSize());
    assertEquals(3, answer(nereid.model("m"), 3));
    List<ModelEvent> events = new CopyOnWriteArrayList<>();
    nereid.addListener(events::add);
    models.load("m");
    assertEquals(8, maxBatchSize());
    assertEquals(List.of(), events, "nothing has changed");
    models.load("m", ModelOverride.ofConfig(JSON.replace("8", "4")));
    assertEquals(4, maxBatchSize());
    models.unload("m");
    models.load("m");
    assertEquals(0, maxBatchSize());
  }

  @Test
  void aConfigurationHoldsUntilTheFilesChange() throws IOException {
    Path model = repository.model("m", IDENTITY, 1);
    models.load("m", ModelOverride.ofConfig(JSON));
    Files.createDirectory(model.resolve("2"));
    models.load("m");
    assertEquals(0, maxBatchSize());
    assertEquals(2, nereid.model("m").version());
  }

  @Test
  void oneThatFailsChangesNothing() throws IOException {
    repository.model("m", IDENTITY, 1);
    models.load("m", ModelOverride.ofConfig(JSON));
    NereidException e =
        assertFails(
            StatusCode.INVALID_ARGUMENT,
            "failed to load 'm', failed to poll from model repository: m: the load's config",
            () -> models.load("m", ModelOverride.ofConfig("{\"max_batch\": 1}")));
    assertTrue(e.getMessage().contains("max_batch"), e.getMessage());
    assertInstanceOf(UnreadableModelException.class, e);
    assertEquals(
        NereidException.class,
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "failed to load 'm', load failed for model 'm': ",
                () ->
                    models.load(
                        "m", ModelOverride.ofConfig(JSON.replace("\"identity\"", "\"no\""))))
            .getClass(),
        "it was read, and could not be loaded");
    assertEquals(8, maxBatchSize(), "it goes on as it was");
    models.load("m");
    assertEquals(8, maxBatchSize(), "also after the next load");
  }

  @Test
  void filesHoldAsLong() throws IOException {
    byte[] labels = "zero\none\n".getBytes(StandardCharsets.UTF_8);
    String config = JSON.replace("\"dims\": [4]}]}", "\"dims\": [4], \"label_filename\": \"l\"}]}");
    models.load("sent", new ModelOverride(config, Map.of("3/any", new byte[8], "l", labels)));
    Model model = nereid.model("sent");
    assertEquals(3, model.version());
    assertEquals(List.of("zero", "one"), model.spec().outputs().getFirst().labels());
    Path stored = Path.of(model.spec().parameters().get("model_path"));
    assertTrue(Files.exists(stored.resolve("any")));
    models.load("sent");
    assertSame(model, nereid.model("sent"));
    assertTrue(Files.exists(stored.resolve("any")));
    assertFails(
        StatusCode.NOT_FOUND,
        "failed to load 'sent', failed to poll from model repository",
        () -> models.load("sent", ModelOverride.ofConfig(config)));
    repository.model("sent", IDENTITY, 7);
    models.load("sent");
    assertEquals(7, nereid.model("sent").version(), "the repository has it now");
    assertTrue(Files.notExists(stored), "and the files are gone");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "../x | expected file:../x to name a file inside the model's directory, got '../x'",
        "LONG | expected a file's path of at most 1024 bytes, with names of at most 255, got"
            + " file:a",
        "DEEP | expected a file's path of at most 1024 bytes, with names of at most 255, got"
            + " file:a",
        "1/f/g | file:1/f is a file, and cannot have file:1/f/g in it",
      })
  void filesThatCannotBeAreTheRequestsFault(String file, String expected) {
    String name =
        switch (file) {
          case "LONG" -> "a".repeat(256);
          case "DEEP" -> "a/".repeat(600) + "a";
          default -> file;
        };
    Map<String, byte[]> files = new LinkedHashMap<>();
    files.put("1/f", new byte[1]);
    files.put(name, new byte[1]);
    assertFails(
        StatusCode.INVALID_ARGUMENT,
        "failed to load 'sent', failed to poll from model repository: " + expected,
        () -> models.load("sent", new ModelOverride(JSON, files)));
  }

  @Test
  void nothingIsLeftBehind() {
    models.load("sent", new ModelOverride(JSON, Map.of("3/any", new byte[8])));
    Path stored = Path.of(nereid.model("sent").spec().parameters().get("model_path"));
    nereid.close();
    assertTrue(Files.notExists(stored));
  }
}
