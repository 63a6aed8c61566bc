package io.nereid;

import static io.nereid.RepositoryFixture.assertFails;
import static io.nereid.RepositoryFixture.index;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelEvent;
import io.nereid.model.ModelOverride;
import io.nereid.model.RepositoryOptions;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Files that clients sent stay on this machine as long as needed; messages hide its paths. */
class ModelFilesTest {

  private static final String JSON =
      """
      {"backend": "identity",
       "input": [{"name": "IN", "data_type": "TYPE_FP32", "dims": [4]}],
       "output": [{"name": "OUT", "data_type": "TYPE_FP32", "dims": [4]}]}
      """;

  @TempDir private Path directory;

  private RepositoryFixture repository;

  @BeforeEach
  void makeRepository() {
    repository = new RepositoryFixture(directory);
  }

  private Nereid explicit() {
    return Nereid.open(repository.options().explicit().build());
  }

  /** Started as a process of its own, that ends in the middle. */
  static final class Crash {

    private Crash() {}

    public static void main(String[] args) {
      Nereid nereid =
          Nereid.open(RepositoryOptions.builder().repository(Path.of(args[0])).explicit().build());
      nereid.repository().load("sent", new ModelOverride(JSON, Map.of("1/any", new byte[8])));
      System.out.println(nereid.model("sent").spec().parameters().get("model_path"));
      Runtime.getRuntime().halt(1);
    }
  }

  @Test
  void leftoversOfACrashAreDeletedAtTheNextStart() throws Exception {
    Process crash =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Crash.class.getName(),
                repository.root().toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    Path left = Path.of(crash.inputReader().readLine());
    assertEquals(1, crash.waitFor());
    try (Nereid other = explicit()) {
      RuntimeTest.await(
          () -> Files.notExists(left), "this process, or another that starts, to delete it");
      other.repository().load("sent", new ModelOverride(JSON, Map.of("1/any", new byte[8])));
      Path own = Path.of(other.model("sent").spec().parameters().get("model_path"));
      explicit().close();
      assertTrue(Files.exists(own), "that of a process that lives stays");
    }
  }

  @Test
  void loadsThatFailLeaveNoFiles() throws IOException {
    String good = JSON.replace("{\"backend\"", "{\"version_policy\": {\"all\": {}}, \"backend\"");
    String config = "{\"backend\": \"onnxruntime\", \"version_policy\": {\"all\": {}}}";
    Map<String, byte[]> both = Map.of("1/model.onnx", new byte[8], "2/model.onnx", new byte[8]);
    try (Nereid nereid = explicit()) {
      nereid.repository().load("served", new ModelOverride(good, both));
      Path kept = Path.of(nereid.model("served").spec().parameters().get("model_path"));
      long before = openFiles("nereid-load-");
      for (int i = 0; i < 50; i++) {
        for (String name : List.of("served", "other" + i)) {
          assertFails(
              StatusCode.INVALID_ARGUMENT,
              "failed to load",
              () -> nereid.repository().load(name, new ModelOverride(config, both)));
        }
      }
      assertEquals(before, openFiles("nereid-load-"));
      assertTrue(Files.exists(kept), "those of the model that is served stay");
    }
    assertEquals(0, openFiles("nereid-load-"));
  }

  /** Counts the descriptors of this process whose files have some part in their names. */
  static long openFiles(String part) throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return files
          .filter(Files::isSymbolicLink)
          .filter(file -> target(file).contains(part))
          .count();
    }
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return ""; // it was closed meanwhile
    }
  }

  @Test
  void failedLoadsAreToldWithoutThePathsOfThisMachine() throws IOException {
    Path model = repository.model("m", "backend: \"onnxruntime\"", 1);
    Files.writeString(model.resolve("1/model.onnx"), "no model");
    String config = "{\"backend\": \"onnxruntime\"}";
    List<String> logged = new CopyOnWriteArrayList<>();
    try (Nereid nereid = explicit()) {
      nereid.addListener(event -> {
        if (event instanceof ModelEvent.Failed failed) {
          logged.add(failed.cause().getMessage());
        }
      });
      Executable plain = () -> nereid.repository().load("m");
      Executable sent =
          () ->
              nereid
                  .repository()
                  .load("m", new ModelOverride(config, Map.of("1/model.onnx", new byte[8])));
      for (Executable load : List.of(plain, sent)) {
        String message =
            assertFails(StatusCode.INVALID_ARGUMENT, "cannot load 'm/1/model.onnx'", load)
                .getMessage();
        assertFalse(message.contains(repository.root().getParent().toString()), message);
        assertFalse(index(nereid).getFirst().contains("/tmp"), index(nereid)::toString);
      }
      assertTrue(logged.getFirst().contains(model.toString()), "the log has the path");
    }
  }
}
