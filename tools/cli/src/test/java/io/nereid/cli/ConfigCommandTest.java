package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.jr.ob.JSON;

/** {@code nereid config} with the real library. */
class ConfigCommandTest {

  private static final Path DIGITS = Path.of("../../examples/models/digits/1/model.onnx");

  private final CommandLineRun cli = new CommandLineRun();

  @TempDir Path directory;

  private void writeDigits(String config) throws IOException {
    Path version = Files.createDirectories(directory.resolve("digits/1"));
    Files.copy(DIGITS, version.resolve("model.onnx"));
    if (config != null) {
      Files.writeString(directory.resolve("digits/config.pbtxt"), config);
    }
  }

  private String runInDirectory(String... options) {
    String[] args = new String[options.length + 4];
    System.arraycopy(new String[] {"config", "digits", "--repository"}, 0, args, 0, 3);
    args[3] = directory.toString();
    System.arraycopy(options, 0, args, 4, options.length);
    assertEquals(0, cli.run(args), cli.err());
    return cli.out();
  }

  @Test
  void bundledModelsTellWhereEachValueIsWritten() {
    assertEquals(0, cli.run("config", "digits"), cli.err());
    assertTrue(cli.out().startsWith("name: \"digits\" "), cli.out());
    assertTrue(cli.out().matches("(?s).*max_batch_size: 64 +# config.pbtxt:4:1\n.*"), cli.out());
    assertTrue(cli.out().matches("(?s).*\n  dims: \\[ 8, 8 ] +# config.pbtxt:9:5\n.*"), cli.out());
    assertTrue(cli.out().matches("(?s).*num_versions: 1 +# default\n.*"), cli.out());
    assertEquals("", cli.err());
  }

  @Test
  void aPlanSaysWhichTensorRtBuiltItAlsoWhereItCannotBeServed() throws IOException {
    Path version = Files.createDirectories(directory.resolve("plan/1"));
    Files.write(version.resolve("model.plan"), CheckCommandTest.planOf(10));
    Files.writeString(
        version.resolveSibling("config.pbtxt"),
        """
        platform: "tensorrt_plan"
        input { name: "IN" data_type: TYPE_FP32 dims: 4 }
        output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
        """);
    assertEquals(1, cli.run("config", "plan", "--repository", directory.toString()));
    assertTrue(cli.out().contains("\n# 1/model.plan was built by TensorRT 10.6.0"), cli.out());
    assertTrue(cli.err().contains("it cannot be served: "), cli.err());
    CommandLineRun json = new CommandLineRun();
    assertEquals(1, json.run("config", "plan", "--repository", directory.toString(), "--json"));
    String note = ((List<?>) JSON.std.mapFrom(json.out()).get("notes")).getFirst().toString();
    assertTrue(note.startsWith("1/model.plan was built by TensorRT 10.6.0"), note);
  }

  private static final String SHARING =
      """
      max_batch_size: 2
      instance_group {
        count: 2
        rate_limiter { resources [ { name: "R1" count: 3 }, { name: "G" global: true count: 1 } ] }
      }
      """;

  @Test
  void resourcesThatExecutionsShareAreInTheJson() throws IOException {
    writeDigits(SHARING);
    assertEquals(
        Set.of(
            Map.of("name", "G", "total", 1, "free", 1),
            Map.of("name", "R1", "device", 0, "total", 3, "free", 3)),
        Set.copyOf((List<?>) JSON.std.mapFrom(runInDirectory("--json")).get("resources")));
  }

  @Test
  void resourcesThatExecutionsShareAreExplained() throws IOException {
    writeDigits(SHARING);
    String text = runInDirectory();
    assertTrue(text.matches("(?s).*\n      count: 3 +# config.pbtxt:4:43\n.*"), text);
    assertTrue(
        text.contains("# rate limit: executions share 3 of resource R1 on device 0, 3 free\n"),
        text);
    assertTrue(
        text.contains("# rate limit: executions share 1 of resource G for all devices, 1 free\n"),
        text);
  }

  @Test
  void valuesFromTheModelAreMarked() throws IOException {
    writeDigits(null);
    String text = runInDirectory();
    assertTrue(text.matches("(?s).*\nbackend: \"onnxruntime\" +# the model\n.*"), text);
    assertTrue(text.matches("(?s).*\nmax_batch_size: 4 +# the model\n.*"), text);
    assertTrue(text.matches("(?s).*\n  name: \"image\" +# the model\n.*"), text);
    assertTrue(text.matches("(?s).*\ndynamic_batching \\{\n.*"), text);
  }

  @Test
  void theTextIsAConfigurationThatServesTheModel() throws IOException {
    writeDigits("max_batch_size: 2");
    String text = runInDirectory();
    Files.writeString(directory.resolve("digits/config.pbtxt"), text);
    String second = new CommandLineRunText(directory).text();
    assertEquals(withoutComments(text), withoutComments(second));
    assertTrue(!second.contains("# default") && !second.contains("# the model"), second);
  }

  /** A second run, with writers of its own. */
  private record CommandLineRunText(Path directory) {
    String text() {
      CommandLineRun again = new CommandLineRun();
      int code = again.run("config", "digits", "--repository", directory.toString());
      assertEquals(0, code, again.err());
      return again.out();
    }
  }

  private static String withoutComments(String text) {
    return text.replaceAll(" +# .*", "");
  }

  @Test
  @SuppressWarnings("unchecked")
  void jsonHasTheConfigurationAndTheOrigins() throws IOException {
    writeDigits("output { name: \"scores\" }");
    Map<String, Object> all = JSON.std.mapFrom(runInDirectory("--json"));
    Map<String, Object> config = (Map<String, Object>) all.get("config");
    assertEquals("digits", config.get("name"));
    assertEquals(4, config.get("max_batch_size"));
    assertTrue(config.containsKey("dynamic_batching"), config.toString());
    List<Map<String, Object>> values = (List<Map<String, Object>>) all.get("values");
    assertTrue(
        values.contains(
            Map.of(
                "path", "output[0].name",
                "value", "\"scores\"",
                "origin", "file",
                "place", "digits/config.pbtxt:1:10")),
        values.toString());
    assertTrue(
        values.contains(Map.of("path", "output[0].dims", "value", "[ 10 ]", "origin", "model")),
        values.toString());
  }

  @Test
  void aModelThatCannotBeServedIsDescribedAsFarAsKnown() throws IOException {
    writeDigits("max_batch_size: 2 input { name: 'image' dims: 3 }");
    assertEquals(1, cli.run("config", "digits", "--repository", directory.toString()));
    assertTrue(cli.err().contains("digits/config.pbtxt:1:41: input 'image' is con"), cli.err());
    assertEquals(1, cli.err().lines().count(), cli.err());
    assertTrue(cli.err().startsWith("nereid: it cannot be served: "), cli.err());
    assertTrue(cli.out().matches("(?s).*dims: \\[ 3 \\] +# config.pbtxt:1:41.*"), cli.out());
  }

  @Test
  void aModelThatIsNotThereIsOneLine() {
    assertEquals(1, cli.run("config", "nobody"));
    assertEquals(1, cli.err().lines().count(), cli.err());
    assertEquals("", cli.out());
  }
}
