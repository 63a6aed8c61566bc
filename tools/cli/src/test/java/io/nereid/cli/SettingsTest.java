package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine.Model.OptionSpec;

/** Options from the environment and from a file. */
class SettingsTest {

  @TempDir Path directory;

  /** Values to try; an option is tested with the first that it takes and that changes it. */
  private static final List<String> CANDIDATES =
      List.of(
          "7",
          "false",
          "true",
          "127.0.0.7",
          "poll",
          "text",
          "a=b",
          "local,size=7",
          "health:a=b",
          "low",
          "optional");

  private static List<OptionSpec> options() {
    return Main.commandLine().getSubcommands().get("serve").getCommandSpec().options().stream()
        .filter(option -> !option.hidden() && !option.usageHelp() && !option.versionHelp())
        .toList();
  }

  private Path file(String text) {
    try {
      return Files.writeString(directory.resolve("nereid.yaml"), text);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private SettingsRun fromFile(String text, String... args) {
    List<String> all = new ArrayList<>(List.of("--config", file(text).toString()));
    all.addAll(List.of(args));
    return new SettingsRun(Map.of(), all.toArray(String[]::new));
  }

  @Test
  void everyOptionCanBeSetFromEverywhere() {
    assertTrue(options().size() > 20, options().toString());
    SettingsRun nothing = new SettingsRun(Map.of());
    Map<Class<?>, String> last = new HashMap<>(); // that suited an option of a type
    for (OptionSpec option : options()) {
      String flag = option.longestName();
      String standard = nothing.value(flag);
      String value =
          Stream.concat(Stream.ofNullable(last.get(option.type())), CANDIDATES.stream())
              .filter(candidate -> {
                SettingsRun run = new SettingsRun(Map.of(), flag + "=" + candidate);
                return run.exitCode() == 0 && !run.value(flag).equals(standard);
              })
              .findFirst()
              .orElse(null);
      if (flag.equals("--config")) {
        value = file("").toString();
      }
      assertNotEquals(null, value, "none of the candidates suits " + flag);
      last.put(option.type(), value);
      String expected = new SettingsRun(Map.of(), flag + "=" + value).value(flag);
      for (String name : option.names()) {
        String variable = Settings.variable(name.substring(2));
        assertEquals(expected, new SettingsRun(Map.of(variable, value)).value(flag), variable);
        if (!flag.equals("--config")) {
          String line = name.substring(2) + ": '" + value + "'";
          assertEquals(expected, fromFile(line).value(flag), line);
          assertEquals(expected, fromFile(line.replace('-', '_').replace("_'", "-'")).value(flag));
        }
      }
    }
  }

  @Test
  void repeatableOptionsTakeSeveralValues() {
    List<OptionSpec> repeatable = options().stream().filter(OptionSpec::isMultiValue).toList();
    assertTrue(repeatable.size() >= 3, repeatable.toString());
    assertEquals("[a, b]", fromFile("load-model: [a, b]").value("--load-model"));
    assertEquals("[a, b]", fromFile("load-model:\n  - a\n  - b\n").value("--load-model"));
    assertEquals("[a]", fromFile("load-model: a").value("--load-model"));
    assertEquals("[]", fromFile("load-model: []").value("--load-model"));
    Map<String, String> environment = Map.of("NEREID_MODEL_REPOSITORY", "/a:1;/b,2;");
    assertEquals("[/a:1, /b,2]", new SettingsRun(environment).value("--model-repository"));
  }

  @Test
  void theCommandLineIsBeforeTheEnvironmentAndThatBeforeTheFile() {
    String config = file("http-port: 1\nload-model: [a, b]\nhttp-address: 127.0.0.9").toString();
    Map<String, String> environment =
        Map.of(
            "NEREID_CONFIG",
            config,
            "NEREID_HTTP_PORT",
            "2",
            "NEREID_LOAD_MODEL",
            "c;d",
            "NEREID_HTTP_ADDRESS",
            "");
    SettingsRun line = new SettingsRun(environment, "--http-port", "3", "--load-model=e");
    assertEquals("3", line.value("--http-port"));
    assertEquals("[e]", line.value("--load-model"));
    SettingsRun variables = new SettingsRun(environment);
    assertEquals("2", variables.value("--http-port"));
    assertEquals("[c, d]", variables.value("--load-model"));
    assertEquals(
        InetAddress.ofLiteral("127.0.0.9").toString(),
        variables.value("--http-address"),
        "an empty variable is one that is not set");
    SettingsRun file = new SettingsRun(Map.of("NEREID_CONFIG", config));
    assertEquals("1", file.value("--http-port"));
    assertEquals("[a, b]", file.value("--load-model"));
    assertEquals("8000", new SettingsRun(Map.of()).value("--http-port"));
  }

  @Test
  void theLastOfAnOptionThatTakesOneValueWins() {
    SettingsRun run =
        new SettingsRun(Map.of("NEREID_HTTP_PORT", "1"), "--http-port=2", "--http-port", "3");
    assertEquals("3", run.value("--http-port"));
    assertEquals("", run.err());
    assertEquals(
        "[a, b]",
        new SettingsRun(Map.of(), "--load-model=a", "--load-model=b").value("--load-model"));
  }

  @Test
  void aRepositoryOnTheCommandLineReplacesThoseOfTheFile() {
    SettingsRun run = fromFile("model-repository: /file", "/line");
    assertEquals("[]", run.value("--model-repository"));
    assertEquals(List.of("/line"), run.mixin(ControlArguments.class).places("/line"));
  }

  @Test
  void theCommandMayItselfBeInAFileOfArguments() throws IOException {
    Path arguments = Files.writeString(directory.resolve("arguments"), "serve --allow-metrics");
    StringWriter err = new StringWriter();
    int exitCode =
        Main.run(
            new String[] {"@" + arguments},
            Map.of("NEREID_HTTP_PORT", "70000"),
            new PrintWriter(new StringWriter()),
            new PrintWriter(err, true));
    assertEquals(2, exitCode);
    assertTrue(
        err.toString().contains("NEREID_HTTP_PORT: expected --http-port from 0"), err::toString);
  }

  @Test
  void aFileMayBeEmpty() {
    for (String text : List.of("", "\n", "# nothing\n", "---\n", "{}", "~", "---\n...\n")) {
      SettingsRun run = fromFile(text);
      assertEquals(0, run.exitCode(), text + run.err());
      assertEquals("8000", run.value("--http-port"));
    }
  }

  static Stream<Arguments> wrongFiles() {
    return Stream.of(
        Arguments.of("\nhttp-prot: 1", ":2: unknown name 'http-prot'; did you mean 'http-port'?"),
        Arguments.of("zzzzzzzz: 1", ":1: unknown name 'zzzzzzzz'\n"),
        Arguments.of("help: true", ":1: unknown name 'help'"),
        Arguments.of(
            "# a\n\nhttp_port: a", ":3: Invalid value for option '--http-port': 'a' is not an int"),
        Arguments.of("strict-readiness: no", ":1: Invalid value for option '--strict-readiness'"),
        Arguments.of("http-port:", ":1: expected a value or a list of values for 'http-port', got"),
        Arguments.of("http-port: [1]", ":1: expected one value for 'http-port', got a list"),
        Arguments.of(
            "http:\n  port: 1", ":2: expected a value or a list of values for 'http', got a map"),
        Arguments.of("load-model: [[a]]", ":1: expected a value for 'load-model', got a list"),
        Arguments.of("- a", ":1: expected lines of the form 'name: value', got a list"),
        Arguments.of("text", ":1: expected lines of the form 'name: value', got 'text'"),
        Arguments.of("[a]: b", ":1: expected a name, got a list"),
        Arguments.of("http-port: 1\nhttp-port: 2", "'http-port' is set already, at "),
        Arguments.of("http-port: 1\nhttp_port: 2", ":2: 'http_port' is set already, at "),
        Arguments.of("repository: a\nmodel-repository: b", ":2: 'model-repository' is set already"),
        Arguments.of("id: &a x\nhttp-port: *a", "got the alias *a"),
        Arguments.of("http-port: 1\n---\nhttp-port: 2", ": expected one document, got a second"),
        Arguments.of("http-port: 'a", ": not YAML: "),
        Arguments.of("a: b: c", ":1: not YAML: "),
        Arguments.of("\tx: 1", ":1: not YAML: "),
        Arguments.of("a\u0000: 1", ": not YAML: "),
        Arguments.of("load-model: " + "[".repeat(500_000), ":1: expected a value for 'load-model'"),
        Arguments.of("config: other.yaml", ":1: a file of settings cannot name another"),
        Arguments.of("id: " + "x".repeat(1 << 20), "at most 1048576 bytes, got more"));
  }

  @ParameterizedTest
  @MethodSource("wrongFiles")
  void aWrongFileIsNamedWithTheLine(String text, String message) {
    SettingsRun run = fromFile(text);
    assertEquals(2, run.exitCode());
    assertTrue(run.err().contains(message), run.err());
    assertTrue(run.err().contains("nereid.yaml"), run.err());
  }

  @Test
  void aFileThatCannotBeReadIsNamed() throws IOException {
    SettingsRun missing = new SettingsRun(Map.of(), "--config", "/no/such.yaml");
    assertEquals(2, missing.exitCode());
    assertTrue(missing.err().contains("cannot read --config /no/such.yaml: no such file"));
    SettingsRun folder = new SettingsRun(Map.of(), "--config", directory.toString());
    assertTrue(folder.err().contains("it is a directory"), folder.err());
    Path binary = Files.write(directory.resolve("binary"), new byte[] {(byte) 0xff, 0});
    SettingsRun text = new SettingsRun(Map.of(), "--config", binary.toString());
    assertTrue(text.err().contains("expected UTF-8 text"), text.err());
  }

  @Test
  void checksOfTheCommandItselfNameThePlaceToo() {
    CommandLineRun run = new CommandLineRun();
    String config = file("exit-timeout-secs: 1\nhttp-port: 70000").toString();
    assertEquals(2, run.run("serve", "--config", config));
    assertTrue(
        run.err().contains("nereid.yaml:2: expected --http-port from 0 to 65535, got 70000"),
        run.err());
  }

  @Test
  void aWrongVariableIsNamed() {
    SettingsRun run = new SettingsRun(Map.of("NEREID_HTTP_PORT", "a"));
    assertEquals(2, run.exitCode());
    assertTrue(
        run.err().contains("NEREID_HTTP_PORT: Invalid value for option '--http-port': 'a' is not"),
        run.err());
  }

  @Test
  void anUnknownVariableIsAWarning() {
    SettingsRun run = new SettingsRun(Map.of("NEREID_HTTP_PROT", "1", "NEREID_ZZZZZZZZ", "1"));
    assertEquals(0, run.exitCode());
    assertTrue(
        run.err()
            .contains(
                "the variable NEREID_HTTP_PROT is not a setting; did you mean NEREID_HTTP_PORT?"),
        run.err());
    assertTrue(run.err().contains("NEREID_ZZZZZZZZ is not a setting\n"), run.err());
  }

  /** A Kubernetes service called "nereid" or "nereid-http" puts these into every container. */
  @Test
  void variablesOfKubernetesAreNoSettings() {
    SettingsRun run =
        new SettingsRun(
            Map.of(
                "NEREID_SERVICE_HOST", "10.0.0.1",
                "NEREID_SERVICE_PORT", "8000",
                "NEREID_SERVICE_PORT_HTTP", "8000",
                "NEREID_PORT", "tcp://10.0.0.1:8000",
                "NEREID_PORT_8000_TCP", "tcp://10.0.0.1:8000",
                "NEREID_PORT_8000_TCP_ADDR", "10.0.0.1",
                "NEREID_HTTP_PORT", "tcp://10.0.0.1:8000"));
    assertEquals("", run.err());
    assertEquals("8000", run.value("--http-port"));
  }

  @Test
  void otherCommandsAreLeftAlone() {
    CommandLineRun run = new CommandLineRun();
    assertEquals(0, run.run("config", "identity_fp32", "--repository", "../../examples/models"));
    assertFalse(run.err().contains("warning"), run.err());
  }
}
