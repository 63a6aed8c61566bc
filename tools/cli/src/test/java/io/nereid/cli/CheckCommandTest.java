package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.jr.ob.JSON;

/** The output of {@code nereid check} about repositories, of which it loads nothing. */
class CheckCommandTest {

  private static final String TENSORS =
      """
      input { name: "IN" data_type: TYPE_FP32 dims: 4 }
      output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
      """;

  @TempDir Path directory;

  private Path model(String name, String config) throws IOException {
    Path version = Files.createDirectories(directory.resolve("models").resolve(name).resolve("1"));
    Files.writeString(version.resolveSibling("config.pbtxt"), config + TENSORS);
    return version;
  }

  private CommandLineRun check(int exitCode, String... more) {
    String[] line = new String[more.length + 3];
    line[0] = "check";
    line[1] = directory.resolve("models").toString();
    line[2] = "--backend-directory=" + directory.resolve("backends");
    System.arraycopy(more, 0, line, 3, more.length);
    CommandLineRun run = new CommandLineRun();
    assertEquals(exitCode, run.run(line), run.err());
    return run;
  }

  @Test
  void modelsOfNereidsOwnBackendsRun() throws IOException {
    model("plain", "backend: \"identity\"\ninstance_group { kind: KIND_GPU }\n");
    String out = check(0).out();
    assertEquals(
        """
        plain (identity): runs
          ignored: plain/config.pbtxt:2:18: kind: KIND_GPU is ignored: the core's backends run on the processor
        1 models: 1 runs; by their configurations, no model file was opened (--load opens them)
        """,
        out);
  }

  /** The first bytes of a plan of TensorRT, with nothing behind them. */
  static byte[] planOf(int major) {
    byte[] plan = Arrays.copyOf("ftrt".getBytes(StandardCharsets.US_ASCII), 64);
    plan[24] = (byte) major;
    plan[25] = 6;
    return plan;
  }

  @Test
  void aPlanSaysWhichTensorRtBuiltItBeforeAnythingIsInstalled() throws IOException {
    Path plan = model("plan", "platform: \"tensorrt_plan\"\n").resolve("model.plan");
    Files.write(plan, planOf(11));
    String out = check(0).out();
    assertTrue(out.startsWith("plan (tensorrt): runs\n  note: 1/model.plan was built by"), out);
    assertTrue(out.contains(" by TensorRT 11.6.0, and is executed by that version alone"), out);
    String command = "NEREID_TENSORRT=11 ./nereid build model.onnx -o " + plan + ", or trtexec";
    assertTrue(out.contains(command), out);
    assertTrue(out.contains("of plans the first bytes were read (--load opens them)"), out);
    Files.write(plan, planOf(8));
    out = check(1).out();
    assertTrue(out.startsWith("plan (tensorrt): refused\n  refused: "), out);
    assertTrue(out.contains("built by TensorRT 8.6.0, expected one of TensorRT 10 or 11"), out);
  }

  @Test
  void modelFilesAreOpenedWhenAsked() throws IOException {
    model("plain", "backend: \"identity\"\n");
    Path version = model("truncated", "backend: \"onnxruntime\"\n");
    Files.write(version.resolve("model.onnx"), new byte[] {8, 1, 2});
    assertTrue(check(0).out().contains("truncated (onnxruntime): runs\n"));
    String out = check(1, "--load").out();
    assertTrue(out.contains("plain (identity): runs, loaded\n"), out);
    assertTrue(out.contains("truncated (onnxruntime): does not load\n  failed: "), out);
    assertTrue(out.endsWith("2 models: 2 runs; 1 did not load\n"), out);
    Map<String, Object> json = JSON.std.mapFrom(check(1, "--load", "--json").out());
    Map<?, ?> truncated = (Map<?, ?>) ((List<?>) json.get("models")).get(1);
    assertEquals(false, truncated.get("loaded"));
    assertTrue(truncated.get("failure").toString().contains("model.onnx"), truncated.toString());
  }

  @Test
  void aMissingPluginIsToldWithThePlacesSearched() throws IOException {
    Path version = model("script", "max_batch_size: 4\nbackend: \"python\"\n");
    Files.writeString(version.resolve("model.py"), "");
    String out = check(3).out();
    assertTrue(out.startsWith("script (python): needs plugin\n"), out);
    String expected = "  plugin: script/config.pbtxt:2:1: needs a plug-in for backend 'python': ";
    assertTrue(out.contains(expected), out);
    assertTrue(out.contains("there is no libtriton_python.so nor model.py in "), out);
    assertTrue(out.contains("install Python 3 and numpy"), out);
    assertTrue(out.contains("1 models: 1 needs plugin;"), out);
  }

  @Test
  void aMissingBackendInJavaIsToldWithTheWayToAddIt() throws IOException {
    model("own", "backend: \"com.example.Own\"\n");
    String out = check(3).out();
    assertTrue(out.contains("needs a plug-in for backend 'com.example.Own': there is no "), out);
    assertTrue(
        out.contains("One in Java is looked for on the class path, to which NEREID_CLA"), out);
  }

  @Test
  void modelsWithAPluginRunWithIt() throws IOException {
    model("script", "backend: \"python\"\n");
    Path backend = Files.createDirectories(directory.resolve("backends/python"));
    Path library = Files.writeString(backend.resolve("libtriton_python.so"), "");
    String out = check(0).out();
    assertTrue(out.contains("runs with the plug-in for backend 'python': " + library), out);
    model("based", "backend: \"mine\"\n");
    Path mine = Files.createDirectories(directory.resolve("backends/mine"));
    Files.writeString(mine.resolve("model.py"), "");
    out = check(0).out();
    assertTrue(out.contains("based (mine): runs with plugin\n"), out);
    Files.delete(library);
    out = check(3).out();
    assertTrue(out.contains("which needs the Python backend: there is no " + library), out);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "backend: \"../elsewhere\"",
        "backend: \"..\"",
        "backend: \"a\\000b\"",
        "backend: \"mine\" runtime: \"../libtriton_mine.so\"",
        "backend: \"mine\" runtime: \"a\\000b\""
      })
  void aPluginIsNotLookedForElsewhere(String config) throws IOException {
    model("script", config);
    Files.createDirectories(directory.resolve("backends/mine"));
    Path elsewhere = Files.createDirectories(directory.resolve("elsewhere"));
    Files.writeString(elsewhere.resolve("model.py"), "");
    String out = check(3).out();
    assertTrue(out.contains(" of model 'script' to be the name of a file, got '"), out);
  }

  /** Other backends have no use for the second of these, and do not have the first made. */
  @Test
  void aPluginGetsPassiveInstancesAndSecondaryDevices() throws IOException {
    String groups =
        "instance_group [ { kind: KIND_CPU }, { kind: KIND_CPU passive: true"
            + " secondary_devices { device_id: 1 } } ]\n";
    model("split", "backend: \"mine\"\n" + groups);
    Path mine = Files.createDirectories(directory.resolve("backends/mine"));
    Files.writeString(mine.resolve("libtriton_mine.so"), "");
    String out = check(0).out();
    assertTrue(out.contains("split (mine): runs with plugin\n"), out);
    assertFalse(out.contains("ignored"), out);
    model("split", "backend: \"identity\"\n" + groups);
    out = check(0).out();
    assertTrue(out.contains("secondary_devices is ignored: no backend uses NVIDIA's DLA"), out);
  }

  @Test
  void aPluginThatIsWantedIsNeeded() throws IOException {
    model("plain", "backend: \"identity\"\n");
    String out = check(3, "--backend-config=identity,implementation=plugin").out();
    assertTrue(out.startsWith("plain (identity): needs plugin\n"), out);
  }

  @Test
  void agentsArePluginsAsWell() throws IOException {
    String agents = "model_repository_agents { agents { name: \"checksum\" } }\n";
    model("checked", "backend: \"identity\"\n" + agents);
    Path none = directory.resolve("none");
    String out = check(3, "--repoagent-directory=" + none).out();
    assertTrue(out.contains("unable to find 'libtritonrepoagent_checksum.so'"), out);
    Path agent = Files.createDirectories(directory.resolve("agents/checksum"));
    Files.writeString(agent.resolve("libtritonrepoagent_checksum.so"), "");
    out = check(0, "--repoagent-directory=" + agent.getParent()).out();
    assertTrue(out.contains("checked (identity): runs with plugin\n"), out);
  }

  @Test
  void refusalsAreToldInJsonWithTheirPlace() throws IOException {
    model("broken", "backend: \"identity\"\nno_such_field: 1\n");
    model("script", "backend: \"python\"\n");
    String out = check(1, "--json").out();
    String broken =
        "{\"name\":\"broken\",\"verdict\":\"refused\",\"backend\":\"\",\"findings\":"
            + "[{\"kind\":\"refused\",\"place\":\"broken/config.pbtxt:2:1\",\"text\":\"ModelConfig";
    assertTrue(out.startsWith("{\"models\":[" + broken), out);
    assertTrue(out.contains("\"verdict\":\"needs_plugin\""), out);
  }

  @Test
  void anEnsembleNeedsItsModels() throws IOException {
    model(
        "graph",
        """
        ensemble_scheduling { step { model_name: "nobody" model_version: -1
          input_map { key: "A" value: "IN" } output_map { key: "B" value: "OUT" } } }
        """);
    String out = check(1).out();
    assertTrue(out.contains("the ensemble needs model 'nobody', which no repository has"), out);
  }

  @Test
  void aDirectoryThatIsNotThereIsToldOnce() {
    CommandLineRun run = check(1);
    assertTrue(run.err().contains("expected a model repository at "), run.err());
  }
}
