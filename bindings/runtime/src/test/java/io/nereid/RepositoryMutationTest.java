package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.internal.config.ModelDraft;
import io.nereid.internal.config.ModelReader;
import io.nereid.internal.config.ReadOptions;
import io.nereid.internal.repository.ModelDirectories;
import io.nereid.model.ModelState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random damage to the bundled models, one repository after another. Whatever comes of it is a
 * model that can be loaded, or one with a reason; nothing else is thrown and nothing leaks. The
 * seed is fixed, so that a failure comes again.
 */
@Timeout(600)
class RepositoryMutationTest {

  private static final Path EXAMPLES = Path.of("../../examples/models");
  private static final List<String> MODELS =
      List.of("digits", "identity_fp32", "simple", "simple_string", "simple_twice", "voice");
  private static final int READS = 2_000;
  private static final int LOADS = 100;

  /** Pieces that a configuration is made of, and some that it should not be made of. */
  private static final String[] TOKENS = {
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "'",
    "-1",
    "0",
    "7",
    "999",
    "2147483648",
    "-9",
    "1e9",
    "nan",
    "true",
    "\\000",
    "\\377",
    "#",
    "\n",
    "name",
    "dims",
    "reshape { shape: 1 }",
    "backend: \"identity\"",
    "platform: \"tensorrt_plan\"",
    "max_batch_size: 3",
    "version_policy { all { } }",
    "version_policy { specific { versions: 2 } }",
    "instance_group { count: 2 }",
    "TYPE_FP16",
    "TYPE_STRING",
    "default_model_filename: \"../model.onnx\"",
    "label_filename: \"x\"",
    "dynamic_batching { preferred_batch_size: 4 }",
    "parameters { key: \"k\" value { } }",
    "parameters { key: \"nereid.inline\" value { } }",
    "optional: true",
    "response_cache { enable: 1 }",
    "optimization { graph { level: 9 } }",
    "ensemble_scheduling { }",
    "ensemble_scheduling { step { model_name: \"simple_twice\" } }",
    "input_map { key: \"INPUT0\" value: \"sum\" }",
    "output_map { key: \"OUTPUT0\" value: \"sum\" }",
    "model_warmup { name: \"w\" count: 2 inputs { key: \"INPUT0\" value { zero_data: true } } }",
    "random_data: true",
    "input_data_file: \"../config.pbtxt\"",
    "model_transaction_policy { decoupled: true }",
    "cc_model_filenames { key: \"7.5\" value: \"x\" }",
    "optimization { cuda { graphs: true } }",
    "kind: KIND_GPU gpus: [ 0, 1 ]",
    "[a.b/c.d] { }",
    "<",
    ">"
  };

  private static final Pattern WORD = Pattern.compile("\"[^\"]*\"|[-\\w.]+|[^\\s\\w]");

  private final Random random = new Random(20_260_101);

  @TempDir Path directory;

  @BeforeEach
  void doNotLogEveryReason() {
    Logger.getLogger("io.nereid").setLevel(Level.SEVERE);
  }

  @AfterEach
  void logAsBefore() {
    Logger.getLogger("io.nereid").setLevel(null);
  }

  // ---- Damage ----------------------------------------------------------------------------------

  private Path damagedRepository(int number) throws IOException {
    Path repository = Files.createDirectory(directory.resolve("r" + number));
    for (String model : MODELS) {
      copy(EXAMPLES.resolve(model), repository.resolve(model));
      Path config = repository.resolve(model).resolve("config.pbtxt");
      if (random.nextInt(8) == 0) {
        Files.delete(config); // the model has to tell everything itself
      } else {
        Files.write(config, damagedConfig(Files.readAllBytes(config)));
      }
      if (Files.exists(config) && random.nextInt(4) == 0) {
        damageFiles(repository.resolve(model));
      }
    }
    return repository;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> paths = Files.walk(from)) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        Files.copy(path, to.resolve(from.relativize(path).toString()));
      }
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private byte[] damagedConfig(byte[] bytes) {
    return random.nextBoolean()
        ? damagedBytes(bytes)
        : damagedTokens(new String(bytes, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
  }

  private byte[] damagedBytes(byte[] bytes) {
    byte[] damaged = bytes.clone();
    for (int i = random.nextInt(3); i >= 0; i--) {
      int most = random.nextInt(3) == 0 ? 256 : 128; // ASCII is the more subtle damage
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(most);
    }
    return random.nextInt(8) == 0
        ? Arrays.copyOf(damaged, random.nextInt(damaged.length))
        : damaged;
  }

  private String damagedTokens(String text) {
    List<String> tokens = new ArrayList<>();
    Matcher word = WORD.matcher(text.replaceAll("(?m)^#.*$", ""));
    while (word.find()) {
      tokens.add(word.group());
    }
    for (int i = random.nextInt(3); i > 0; i--) {
      int at = random.nextInt(tokens.size());
      String token = TOKENS[random.nextInt(TOKENS.length)];
      switch (random.nextInt(4)) {
        case 0 -> tokens.set(at, token);
        case 1 -> tokens.add(at, token);
        case 2 -> tokens.remove(at);
        default -> tokens.add(at, tokens.get(random.nextInt(tokens.size())));
      }
    }
    // As a field of the model itself, where most of the tokens make sense.
    String added = random.nextBoolean() ? "\n" + TOKENS[random.nextInt(TOKENS.length)] : "";
    return String.join(" ", tokens) + added;
  }

  private void damageFiles(Path model) throws IOException {
    Path config = model.resolve("config.pbtxt");
    Path file = model.resolve("1/model.onnx");
    switch (random.nextInt(8)) {
      case 0 -> Files.delete(config);
      case 1 -> Files.write(file, new byte[0]);
      case 2 -> Files.write(file, new byte[random.nextInt(5_000)]);
      case 3 -> {
        if (Files.exists(file)) {
          Files.write(file, damagedBytes(Files.readAllBytes(file)));
        }
      }
      case 4 -> Files.move(model, model.resolveSibling("b\tad" + model.getFileName()));
      case 5 -> Files.move(model.resolve("1"), model.resolve("01"));
      case 6 -> Files.createSymbolicLink(model.resolve("2"), model);
      default -> {
        Files.delete(config);
        Files.createDirectory(config);
      }
    }
  }

  // ---- What must come of it --------------------------------------------------------------------

  private static List<ModelDraft> readAll(Path repository, Consumer<String> warnings) {
    return ModelDirectories.find(List.of(repository)).values().stream()
        .map(List::getFirst)
        .map(directory -> ModelReader.read(directory, ReadOptions.DEFAULT, warnings))
        .flatMap(List::stream)
        .toList();
  }

  @Test
  void readingGivesAModelOrAReason() throws IOException {
    List<String> warnings = new ArrayList<>();
    readAll(EXAMPLES, warnings::add);
    int readable = 0;
    int broken = 0;
    for (int i = 0; i < READS / MODELS.size(); i++) {
      Path repository = damagedRepository(i);
      List<ModelDraft> models = readAll(repository, warnings::add);
      assertTrue(models.size() >= MODELS.size(), () -> "none is lost: " + models);
      for (ModelDraft model : models) {
        if (model instanceof ModelDraft.Broken failed) {
          broken++;
          assertReason(failed.cause().getMessage());
        } else {
          readable++;
        }
      }
      delete(repository);
    }
    assertTrue(readable > READS / 20, "some survive: " + readable);
    assertTrue(broken > READS / 4, "many do not: " + broken);
    assertEquals(0, ModelFilesTest.openFiles(directory.toString()));
  }

  private static void assertReason(String reason) {
    assertTrue(reason.length() > 10, reason);
    assertTrue(reason.chars().noneMatch(Character::isISOControl), reason);
  }

  @Test
  void loadingGivesAReadyModelOrAReason() throws IOException {
    Nereid.create().close(); // loads the library, which counts the handles
    HandleCounts before = HandleCounts.read();
    int ready = 0;
    int failed = 0;
    for (int i = 0; i < LOADS / MODELS.size(); i++) {
      Path repository = damagedRepository(i);
      try (Nereid nereid = Nereid.open(repository)) {
        for (Model model : nereid.models()) {
          if (model.state() == ModelState.READY) {
            ready++;
          } else {
            assertEquals(ModelState.FAILED, model.state());
            assertTrue(model.failure().orElse("").length() > 10, () -> "" + model.failure());
            failed++;
          }
        }
        assertEquals(0, nereid.poolStatistics().liveBuffers());
      }
      delete(repository);
    }
    assertTrue(ready > LOADS / 20, "some survive: " + ready);
    assertTrue(failed > LOADS / 4, "many do not: " + failed);
    assertEquals(before, HandleCounts.read());
  }
}
