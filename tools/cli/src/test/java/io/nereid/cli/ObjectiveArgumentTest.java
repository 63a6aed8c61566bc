package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.InferRequest;
import io.nereid.model.Objective;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.tensor.Tensor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code --objective}, wherever it may stand. */
class ObjectiveArgumentTest {

  private final CommandLineRun cli = new CommandLineRun();

  @TempDir Path directory;

  @Test
  void configShowsItAndThatItIsOfTheCommandLine() {
    assertEquals(0, cli.run("config", "digits", "--objective=digits=p99:20ms"), cli.err());
    assertTrue(cli.out().matches("(?s).*string_value: \"p99 20ms\" +# --objective\n.*"), cli.out());
  }

  @ParameterizedTest
  @CsvSource({
    "digits, 'expected --objective MODEL=p99:20ms, got ''digits'''",
    "=p99:20ms, 'expected --objective MODEL=p99:20ms, got ''=p99:20ms'''",
    "digits=20ms, 'from p50 to p99.9, in ns, us, ms or s, got ''digits=20ms'''",
    "digits=p10:20ms, 'from p50 to p99.9, in ns, us, ms or s, got ''digits=p10:20ms'''"
  })
  void wrongTextsAreTold(String text, String message) {
    for (String command : new String[] {"serve", "models", "check"}) {
      CommandLineRun run = new CommandLineRun();
      assertEquals(2, run.run(command, "--objective", text), run.err());
      assertTrue(run.err().contains(message), run.err());
    }
  }

  @Test
  void oneModelHasOne() {
    assertEquals(2, cli.run("models", "--objective=a=p99:1ms", "--objective=a=p99:2ms"));
    assertTrue(
        cli.err().contains("expected one --objective for model 'a', got 'a=p99:2ms' as well"),
        cli.err());
  }

  @Test
  void aModelThatIsInNoRepositoryIsSaid() throws Exception {
    List<String> lines = new CopyOnWriteArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            lines.add(new SimpleFormatter().formatMessage(line));
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger logger = Logger.getLogger("io.nereid");
    logger.addHandler(handler);
    try {
      assertEquals(0, cli.run("models", "--objective=digitz=p99:1ms"), cli.err());
    } finally {
      logger.removeHandler(handler);
    }
    String said = String.join("\n", lines);
    assertTrue(
        said.contains("there is an objective for model 'digitz', which is in no repository"), said);
    assertTrue(said.contains("did you mean digits?"), said);
  }

  @Test
  void configAsksAServerWhatWasLearned() {
    RepositoryOptions models =
        RepositoryOptions.builder()
            .repository(Path.of("..", "..", "examples", "models"))
            .explicit("digits", "simple")
            .objective("digits", Objective.p99(Duration.ofSeconds(30)))
            .build();
    try (NereidServer server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withRepository(models)
                .withHttp(HttpOptions.DEFAULT.withPort(0)))) {
      try (InferRequest request =
          server
              .nereid()
              .model("digits")
              .newRequest()
              .input("image", Tensor.ofFloats(new float[64], 1, 8, 8))) {
        request.infer().close();
      }
      String url = "http://127.0.0.1:" + server.httpPort();
      assertEquals(0, cli.run("config", "digits", "-u", url), cli.err());
      assertTrue(cli.out().contains("# " + url + ": objective p99 30s\n"), cli.out());
      assertTrue(cli.out().contains("#   1 kept, 0 late; refused: 0 too much waits"), cli.out());
      assertTrue(
          cli.out().contains("#   kept free for what requests spend outside the model: "),
          cli.out());
      assertTrue(cli.out().contains("#   learned: 1 rows take "), cli.out());
      CommandLineRun other = new CommandLineRun();
      assertEquals(0, other.run("config", "simple", "-u", url), other.err());
      assertFalse(other.out().contains("objective"), other.out());
      CommandLineRun missing = new CommandLineRun();
      assertEquals(1, missing.run("config", "identity_fp32", "-u", url));
      assertTrue(missing.err().contains("identity_fp32"), missing.err());
    }
  }

  @Test
  void theFileAndTheEnvironmentSayItAsWell() throws Exception {
    Path file = Files.writeString(directory.resolve("nereid.yaml"), "objective: [a=p99 20ms]\n");
    Map<String, Objective> ofA = Map.of("a", Objective.p99(Duration.ofMillis(20)));
    assertEquals(ofA, objectives(Map.of(), "--config", file.toString()));
    Map<String, Objective> both = objectives(Map.of("NEREID_OBJECTIVE", "a=p99:20ms;b=p95:1s"));
    assertEquals(2, both.size());
    assertEquals(new Objective(95, Duration.ofSeconds(1)), both.get("b"));
  }

  private static Map<String, Objective> objectives(
      Map<String, String> environment, String... args) {
    SettingsRun run = new SettingsRun(environment, args);
    return run.mixin(ControlArguments.class).options(List.of(), text -> {}).build().objectives();
  }
}
