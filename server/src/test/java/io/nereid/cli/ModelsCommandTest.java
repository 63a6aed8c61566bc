package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
    assertEquals(6, lines.size(), cli.out());
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
        cli.out().endsWith("\nbad: bad/config.pbtxt:1:1: ModelConfig has no field 'nonsense'\n"),
        cli.out());
    assertEquals("", cli.err());
  }

  @Test
  @SuppressWarnings("unchecked")
  void jsonHasItAll() throws IOException {
    write("good", IDENTITY);
    write("bad", IDENTITY + "batch_input { }");
    assertEquals(1, cli.run("models", "--json", directory.toString()));
    List<Object> models = JSON.std.listFrom(cli.out());
    assertEquals(2, models.size());
    Map<String, Object> bad = (Map<String, Object>) models.get(0);
    assertEquals("UNAVAILABLE", bad.get("state"));
    assertEquals("", bad.get("version"));
    assertTrue(bad.get("reason").toString().startsWith("bad/config.pbtxt:4:1: batch_input: "));
    assertFalse(bad.containsKey("inputs"));
    Map<String, Object> good = (Map<String, Object>) models.get(1);
    assertEquals("READY", good.get("state"));
    assertEquals("1", good.get("version"));
    assertEquals(
        List.of(Map.of("name", "IN", "datatype", "FP32", "dims", List.of(-1, 2))),
        good.get("inputs"));
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
