package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.metrics.MetricsOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the commands of documents and compares what they print with what is said. */
class HttpDocumentTest {

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({"../README.md, 2", "http.md, 16", "observability.md, 6"})
  void commandsPrintWhatIsWritten(String document, int atLeast) throws Exception {
    RepositoryOptions repository =
        RepositoryOptions.builder().repository(Path.of("..", "examples", "models")).build();
    Path logFile = directory.resolve("log");
    LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.of(logFile));
    ServerOptions options =
        ServerOptions.DEFAULT
            .withRepository(repository)
            .withAllowClientShm(true)
            .withHttp(HttpOptions.DEFAULT.withExitTimeout(Duration.ofSeconds(10)))
            .withLog(log)
            .withMetrics(MetricsOptions.DEFAULT);
    int commands = 0;
    try (log;
        NereidServer server = NereidServer.start(options)) {
      List<String> lines = Files.readAllLines(Path.of("..", "docs", document));
      for (int i = 0; i < lines.size(); i++) {
        if (lines.get(i).startsWith("$ ")) {
          String command = lines.get(i).substring(2);
          check(ownSegment(command), ownSegment(lines.get(i + 1)), server);
          commands++;
        }
      }
    }
    assertTrue(commands >= atLeast, "only " + commands + " commands in " + document);
  }

  /** Other runs on this machine have segments of their own. */
  private static String ownSegment(String text) {
    return text.replace("nereid-example", "nereid-example-" + ProcessHandle.current().pid());
  }

  private static void check(String command, String expected, NereidServer server) throws Exception {
    String printed =
        run(
            command
                .replace("localhost:8000", "127.0.0.1:" + server.httpPort())
                .replace("localhost:8002", "127.0.0.1:" + server.metricsPort().orElseThrow()));
    String pattern =
        Arrays.stream(expected.split(Pattern.quote("...")))
            .map(Pattern::quote)
            .collect(Collectors.joining(".*"));
    if (expected.endsWith("...")) {
      pattern += ".*";
    }
    assertTrue(
        Pattern.compile(pattern, Pattern.DOTALL).matcher(printed.stripTrailing()).matches(),
        "expected " + expected + " of " + command + ", got " + printed);
  }

  private static String run(String command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder("bash", "-c", command).redirectErrorStream(true).start();
    String printed =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    process.waitFor();
    return printed;
  }
}
