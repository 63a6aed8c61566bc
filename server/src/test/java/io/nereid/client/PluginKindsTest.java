package io.nereid.client;

import static io.nereid.client.PluginFixture.ints;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Repository;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.ServerOptions;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Repository agents that were made for Triton, "relocating" of native/test/triton, and backends
 * that come with a load.
 */
class PluginKindsTest {

  /** How a load that fails is told, as Triton tells it. */
  private static final Map<String, StatusCode> REFUSED =
      Map.of("http", StatusCode.INVALID_ARGUMENT, "grpc", StatusCode.INTERNAL);

  @TempDir private Path directory;
  private PluginFixture plugins;

  @BeforeEach
  void make() {
    plugins = new PluginFixture(directory);
  }

  @AfterEach
  void stop() {
    plugins.close();
  }

  private static String agent(String what) {
    return "backend: \"identity\" max_batch_size: 4 model_repository_agents { agents { name:"
        + " \"relocating\" parameters { key: \"do\" value: \""
        + what
        + "\" } } }";
  }

  // ---- Agents ----------------------------------------------------------------------------------

  /** What the agent of the test says of what it hears. */
  private static final class Told extends Handler implements AutoCloseable {

    private static final Logger LOGGER = Logger.getLogger("io.nereid.plugin");
    private static final String MARK = "agent: ";

    private final List<String> lines = new CopyOnWriteArrayList<>();

    Told() {
      LOGGER.addHandler(this);
    }

    @Override
    public void publish(LogRecord record) {
      String line = record.getMessage();
      if (line.startsWith(MARK)) {
        lines.add(line.substring(MARK.length(), line.lastIndexOf(" (")));
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      LOGGER.removeHandler(this);
    }
  }

  @Test
  void anAgentHearsOfItsModelsLife() throws IOException {
    plugins.agent("relocating").model("watched", agent("say config"));
    try (Told log = new Told()) {
      plugins.start(plugins.plugins(), UnaryOperator.identity());
      try (InferenceClient client = plugins.connect("http")) {
        client.infer(ints("watched", 1).build()).close();
      }
      plugins.server().nereid().repository().unload("watched");
      assertTrue(log.lines.removeIf(line -> line.startsWith("config {")), log.lines.toString());
      assertEquals(
          List.of(
              "initialised",
              "LOAD",
              "LOAD_COMPLETE",
              "UNLOAD",
              "UNLOAD_COMPLETE",
              "model finalised"),
          log.lines);
    }
  }

  private ServerOptions loading(ServerOptions options, String... models) {
    return options.withRepository(
        RepositoryOptions.builder().repository(plugins.models()).explicit(models).build());
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void aModelThatAnAgentRefusesIsNotLoaded(String protocol) throws IOException {
    plugins.agent("relocating").model("fine", agent("nothing")).model("wrong", agent("fail"));
    plugins.start(plugins.plugins(), options -> loading(options, "fine"));
    try (InferenceClient client = plugins.connect(protocol)) {
      var failure = assertThrows(InferenceException.class, () -> client.loadModel("wrong"));
      assertEquals(REFUSED.get(protocol), failure.code());
      assertTrue(
          failure.getMessage().contains("the files are not what they should be"),
          failure.getMessage());
      client.infer(ints("fine", 3).build()).close();
    }
  }

  /** The agent of the test leaves a directory with no model in it. */
  @Test
  void aModelIsReadWhereItsAgentSays() throws IOException {
    plugins.agent("relocating").model("moved", agent("relocate"));
    plugins.start(plugins.plugins(), this::loading);
    Repository repository = plugins.server().nereid().repository();
    var failure = assertThrows(NereidException.class, () -> repository.load("moved"));
    assertTrue(
        failure.getMessage().contains("there is no moved/config.pbtxt"), failure.getMessage());
  }

  @Test
  void eachAgentOfAChainSeesWhatTheOneBeforeItLeft() throws IOException {
    String next = "{ name: \"relocating\" parameters { key: \"do\" value: \"say config\" } }";
    plugins
        .agent("relocating")
        .model("chained", agent("relocate").replace("} } }", "} } agents " + next + " }"));
    plugins.start(plugins.plugins(), this::loading);
    Repository repository = plugins.server().nereid().repository();
    try (Told log = new Told()) {
      assertThrows(NereidException.class, () -> repository.load("chained"));
      String seen =
          log.lines.stream().filter(line -> line.startsWith("config {")).findFirst().orElseThrow();
      assertTrue(seen.contains("\"backend\":\"\""), seen); // there is no configuration any more
    }
  }

  // ---- Code that comes with a load -------------------------------------------------------------

  private static final String CONFIG =
      """
      {"backend": "probe", "max_batch_size": 8,
       "input": [{"name": "INPUT0", "data_type": "TYPE_INT32", "dims": [-1]}],
       "output": [{"name": "OUTPUT0", "data_type": "TYPE_INT32", "dims": [-1]}]}
      """;

  private static Map<String, byte[]> library(String name) throws IOException {
    return Map.of(name, Files.readAllBytes(PluginFixture.built("probe")));
  }

  private static void assertRefused(
      InferenceClient client, String config, Map<String, byte[]> files, String what) {
    var failure =
        assertThrows(InferenceException.class, () -> client.loadModel("sent", config, files), what);
    assertTrue(failure.getMessage().contains(what), failure.getMessage());
    assertTrue(failure.getMessage().contains("--allow-client-code"), failure.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "grpc"})
  void codeThatComesWithALoadIsNotRun(String protocol) throws IOException {
    plugins.backend("probe").model("ours", "backend: \"identity\"");
    plugins.start(plugins.plugins(), UnaryOperator.identity());
    try (InferenceClient client = plugins.connect(protocol)) {
      Map<String, byte[]> files = new HashMap<>(Map.of("1/data", new byte[] {1}));
      assertRefused(
          client, CONFIG, library("1/libtriton_probe.so"), "'1/libtriton_probe.so' would run");
      files.putAll(library("libtriton_probe.so"));
      assertRefused(client, CONFIG, files, "'libtriton_probe.so' would run as code");
      String disguised = CONFIG.replace("\"input\"", "\"runtime\": \"data\", \"input\"");
      assertRefused(client, disguised, library("1/data"), "'1/data' would run as code");
      assertRefused(
          client,
          CONFIG.replace(
              "\"input\"", "\"model_operations\": {\"op_library_filename\": [\"x\"]}, \"input\""),
          Map.of("1/x", new byte[] {1}),
          "it names a library of custom operators");
      assertRefused(
          client, CONFIG, Map.of("1/helper.py", new byte[] {1}), "'1/helper.py' would run as code");
    }
  }

  @Test
  void aModelInPythonThatComesWithALoadIsNotRun() throws IOException {
    python();
    plugins.model("ours", "backend: \"identity\"");
    plugins.start(plugins.plugins(), UnaryOperator.identity());
    try (InferenceClient client = plugins.connect("http")) {
      assertRefused(
          client,
          CONFIG.replace("probe", "python"),
          Map.of("1/anything", new byte[] {1}),
          "its backend 'python' runs the model's files as code");
    }
  }

  @Test
  void anOperatorMayAllowIt() throws IOException {
    plugins.model("ours", "backend: \"identity\"");
    plugins.start(plugins.plugins().clientCode(true), UnaryOperator.identity());
    try (InferenceClient client = plugins.connect("http")) {
      client.loadModel("sent", CONFIG, library("1/libtriton_probe.so"));
      client.infer(ints("sent", 1).build()).close();
    }
  }

  @Test
  void filesThatAreDataGoToAPlugin() throws IOException {
    plugins.backend("probe").model("ours", "backend: \"identity\"");
    plugins.start(plugins.plugins(), UnaryOperator.identity());
    try (InferenceClient client = plugins.connect("http")) {
      client.loadModel("sent", CONFIG, Map.of("1/data", new byte[] {1}));
      client.infer(ints("sent", 1).build()).close();
    }
  }

  // ---- What the Python backend needs
  // -------------------------------------------------------------

  private String refusal(String model) {
    Repository repository = plugins.server().nereid().repository();
    return assertThrows(NereidException.class, () -> repository.load(model)).getMessage();
  }

  private void python() throws IOException {
    Path to = Files.createDirectories(directory.resolve("backends").resolve("python"));
    Files.copy(PluginFixture.built("probe"), to.resolve("libtriton_python.so"));
  }

  private static void assertTells(String message, String... parts) {
    for (String part : parts) {
      assertTrue(message.contains(part), message);
    }
  }

  @Test
  void aModelInPythonSaysWhatIsMissing() throws IOException {
    plugins.model("ours", "backend: \"identity\"").model("snake", "backend: \"python\"");
    Path based = Files.createDirectories(directory.resolve("backends").resolve("based"));
    Files.writeString(based.resolve("model.py"), "");
    Files.writeString(plugins.models().resolve("snake/1/model.py"), "import numpy");
    plugins.model("on_python", "backend: \"based\"");
    plugins.start(plugins.plugins(), this::loading);
    assertTells(
        refusal("snake"),
        "there is no libtriton_python.so nor model.py in ",
        "the backend directory has [based]",
        "--backend-directory names another",
        "Take the directory 'python' of Triton's backends",
        "install Python 3 and numpy");
    assertTells(
        refusal("on_python"),
        "the backend 'based' of model 'on_python' is ",
        "which needs the Python backend: there is no ",
        "install Python 3 and numpy");
  }

  @Test
  void aProcessOfPythonsThatDoesNotStartIsExplained() throws IOException {
    python();
    plugins.model("ours", "backend: \"identity\"");
    plugins.model("unhealthy", "backend: \"python\" max_batch_size: 8");
    plugins.model("refused", "backend: \"python\" max_batch_size: 8");
    plugins.start(plugins.plugins(), this::loading);
    assertTells(
        refusal("unhealthy"),
        "Stub process 'unhealthy_0_0' is not healthy.",
        "triton_python_backend_stub did not start",
        "needs the Python 3 that it was built for, with numpy");
    String other = refusal("refused");
    assertTells(other, "the probe does not want it");
    assertFalse(other.contains("numpy"), other);
  }
}
