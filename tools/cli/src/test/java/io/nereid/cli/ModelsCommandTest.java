package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.jr.ob.JSON;

/** {@code nereid models} with the real library. */
class ModelsCommandTest {

  private static final String IDENTITY =
      """
      backend: "identity"
      input { name: "IN" data_type: TYPE_FP32 dims: [ -1, 2 ] }
      output { name: "OUT" data_type: TYPE_FP32 dims: [ -1, 2 ] }
      """;

  private final CommandLineRun cli = new CommandLineRun();

  @TempDir Path directory;

  private void write(String model, String config) throws IOException {
    Files.createDirectories(directory.resolve(model).resolve("1"));
    Files.writeString(directory.resolve(model).resolve("config.pbtxt"), config);
  }

  @Test
  void bundledModelsAreATable() {
    assertEquals(0, cli.run("models"));
    List<String> lines = cli.out().lines().toList();
    assertEquals(8, lines.size(), cli.out());
    assertEquals(
        List.of("MODEL", "VERSION", "STATE", "BACKEND", "BATCH", "INPUTS", "OUTPUTS"),
        List.of(lines.getFirst().split(" +")));
    assertTrue(lines.get(1).matches("digits +1 +READY +onnxruntime +64 +image FP32\\[8,8] .*"));
    int column = lines.getFirst().indexOf("INPUTS");
    assertTrue(lines.get(2).substring(column).startsWith("INPUT0 FP32[-1]"), lines.get(2));
    assertEquals("", cli.err());
  }

  @Test
  void brokenModelsHaveTheirReasonsBelow() throws IOException {
    write("good", IDENTITY);
    write("bad", "nonsense: 1");
    assertEquals(1, cli.run("models", directory.toString()));
    assertTrue(cli.out().contains("bad    -        UNAVAILABLE"), cli.out());
    assertTrue(cli.out().contains("good   1        READY"), cli.out());
    assertTrue(
        cli.out()
            .contains(
                "\nbad: bad/config.pbtxt:1:1: ModelConfig has no field 'nonsense', it has name,"),
        cli.out());
    assertEquals("", cli.err());
  }

  @Test
  @SuppressWarnings("unchecked")
  void jsonHasItAll() throws IOException {
    write("good", IDENTITY);
    write("bad", IDENTITY + "model_operations { op_library_filename: \"a.so\" }");
    assertEquals(1, cli.run("models", "--json", directory.toString()));
    List<Object> models = JSON.std.listFrom(cli.out());
    assertEquals(2, models.size());
    Map<String, Object> bad = (Map<String, Object>) models.get(0);
    assertEquals("UNAVAILABLE", bad.get("state"));
    assertFalse(bad.containsKey("version"));
    assertTrue(
        bad.get("reason").toString().contains("custom operators are not supported"),
        bad.get("reason").toString());
    assertFalse(bad.containsKey("inputs"));
    Map<String, Object> good = (Map<String, Object>) models.get(1);
    assertEquals("READY", good.get("state"));
    assertEquals("1", good.get("version"));
    assertEquals(
        List.of(Map.of("name", "IN", "datatype", "FP32", "dims", List.of(-1, 2))),
        good.get("inputs"));
    assertEquals(
        Set.of("read", "parse", "session", "warm_up"),
        ((Map<String, Object>) good.get("load_us")).keySet());
    assertEquals(
        Map.of("weights", 0, "working", 0, "pool", 0), good.get("memory_bytes"), "identity");
  }

  @Test
  void explicitControlLoadsWhatIsNamed() throws IOException {
    write("a", IDENTITY);
    write("b", IDENTITY);
    assertEquals(
        0,
        cli.run(
            "models",
            "--model-repository",
            directory.toString(),
            "--model-control-mode=explicit",
            "--load-model=b"));
    assertTrue(cli.out().matches("(?s).*\\Ra +- +- .*"), cli.out());
    assertTrue(cli.out().matches("(?s).*\\Rb +1 +READY .*"), cli.out());
  }

  @Test
  void oneNameInTwoRepositoriesIsUnavailable() throws IOException {
    write("twice", IDENTITY);
    Path other = directory.resolve("twice");
    Files.createDirectories(other.resolve("twice/1"));
    assertEquals(
        1, cli.run("models", "--model-repository", other.toString(), directory.toString()));
    assertTrue(cli.out().contains("model appears in two or more repositories"), cli.out());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--load-model=a | --load-model needs --model-control-mode explicit",
        "--watch | --watch needs --model-control-mode poll",
        "--repository-poll-secs=0 | expected --repository-poll-secs of 1 or more, got 0",
        "--model-load-thread-count=0 | expected --model-load-thread-count of 1 or more, got 0",
        "--default-max-batch-size=-1 | expected --default-max-batch-size of 1 or more, got -1",
      })
  void flagsThatMakeNoSenseAreRefused(String flag, String message) {
    assertEquals(2, cli.run("models", flag, directory.toString()));
    assertTrue(cli.err().startsWith("nereid: " + message), cli.err());
  }

  @Test
  void watchingTellsWhatBecomesOfTheModels() throws Exception {
    write("m", IDENTITY);
    Thread watching =
        Thread.ofPlatform()
            .start(() ->
                cli.run(
                    "models",
                    "--watch",
                    "--model-control-mode=poll",
                    "--repository-poll-secs=1",
                    directory.toString()));
    try {
      awaitOutput("m      1        READY");
      write("new", IDENTITY);
      awaitOutput("new version 1 is ready after ");
      write("m", "garbage");
      awaitOutput("m was not loaded: m/config.pbtxt:1:");
    } finally {
      watching.interrupt();
      assertTrue(watching.join(Duration.ofSeconds(20)));
    }
  }

  private void awaitOutput(String text) throws InterruptedException {
    long endNs = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!cli.out().contains(text)) {
      assertTrue(System.nanoTime() < endNs, () -> "waited for '" + text + "' in: " + cli.out());
      Thread.sleep(20);
    }
  }

  @Test
  void anEmptyRepositoryIsNoFailure() {
    assertEquals(0, cli.run("models", directory.toString()));
    assertEquals("No models in " + directory + "\n", cli.out());
  }

  @Test
  void aRepositoryThatIsNotThereIsOneLine() {
    Path nothing = directory.resolve("nothing");
    assertEquals(1, cli.run("models", nothing.toString()));
    assertEquals(
        "nereid: expected a model repository at " + nothing + ", but nothing is there\n",
        cli.err());
    assertEquals("", cli.out());
  }
}
