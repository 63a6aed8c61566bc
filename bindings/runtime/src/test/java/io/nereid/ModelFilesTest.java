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
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
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
      Runtime.getRuntime().halt(1);
    }
  }

  @Test
  void leftoversOfACrashAreDeletedAtTheNextStart() throws Exception {
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
    Set<Path> before = sent(temporary);
    Process crash =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Crash.class.getName(),
                repository.root().toString())
            .inheritIO()
            .start();
    assertEquals(1, crash.waitFor());
    Set<Path> left = sent(temporary);
    left.removeAll(before);
    try (Nereid other = explicit()) {
      assertFalse(left.isEmpty());
      assertTrue(left.stream().noneMatch(Files::exists), left::toString);
      other.repository().load("sent", new ModelOverride(JSON, Map.of("1/any", new byte[8])));
      Path own = Path.of(other.model("sent").spec().parameters().get("model_path"));
      explicit().close();
      assertTrue(Files.exists(own), "that of a process that lives stays");
    }
  }

  private static Set<Path> sent(Path temporary) throws IOException {
    try (Stream<Path> all = Files.list(temporary)) {
      return all.filter(path -> path.getFileName().toString().startsWith("nereid-load-"))
          .collect(Collectors.toSet());
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
