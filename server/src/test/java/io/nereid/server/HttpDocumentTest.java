package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.RepositoryOptions;
import io.nereid.server.http.HttpOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Runs the commands of docs/http.md and compares what they print with what it says. */
class HttpDocumentTest {

  private static final Path DOCUMENT = Path.of("..", "docs", "http.md");

  @Test
  void commandsPrintWhatIsWritten() throws Exception {
    RepositoryOptions repository =
        RepositoryOptions.builder().repository(Path.of("..", "examples", "models")).build();
    ServerOptions options =
        ServerOptions.builder()
            .repository(repository)
            .allowClientShm(true)
            .http(HttpOptions.builder().exitTimeout(Duration.ofSeconds(10)).build())
            .build();
    int commands = 0;
    try (NereidServer server = NereidServer.start(options)) {
      List<String> lines = Files.readAllLines(DOCUMENT);
      for (int i = 0; i < lines.size(); i++) {
        if (lines.get(i).startsWith("$ ")) {
          String command = lines.get(i).substring(2);
          check(ownSegment(command), ownSegment(lines.get(i + 1)), server.httpPort());
          commands++;
        }
      }
    }
    assertTrue(commands > 15, "only " + commands + " commands were found in " + DOCUMENT);
  }

  /** Other runs on this machine have segments of their own. */
  private static String ownSegment(String text) {
    return text.replace("nereid-example", "nereid-example-" + ProcessHandle.current().pid());
  }

  private static void check(String command, String expected, int port) throws Exception {
    String printed = run(command.replace("localhost:8000", "127.0.0.1:" + port));
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
