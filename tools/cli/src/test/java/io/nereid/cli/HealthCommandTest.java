package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.http.HttpOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Answers of real servers to a container's health check. */
class HealthCommandTest {

  private static final String[] PATIENT = {"--timeout-secs", "60"};

  @Test
  void aReadyServerIsHealthyAndAStoppedOneIsNot() {
    NereidServer server = NereidServer.start(options());
    String url = server.frontends().getFirst().url().toString();
    try (server) {
      assertHealth(0, "", url, PATIENT);
      assertHealth(0, "", url + "/", PATIENT);
      assertHealth(0, "", url + "/v2/health/live", PATIENT);
      assertHealth(1, "expected status 200, got 404", url + "/v2/models/none/ready", PATIENT);
    }
    assertHealth(1, "expected an answer, got ", url, PATIENT);
  }

  @Test
  void aSilentServerIsNotHealthy() throws IOException {
    // It accepts, by its backlog, and says nothing.
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String url = "http://localhost:" + silent.getLocalPort();
      assertHealth(1, "expected an answer", url, "--timeout-secs", "1");
    }
  }

  @Test
  void wrongUrlsAreRefused() {
    assertHealth(2, "expected --url of the form", "localhost:8000");
    assertHealth(2, "expected --url of the form", "file:///etc/passwd");
    assertHealth(2, "expected --timeout-secs", "http://localhost", "--timeout-secs", "0");
  }

  private static ServerOptions options() {
    Path models = Path.of("..", "..", "examples", "models");
    return ServerOptions.DEFAULT
        .withRepository(RepositoryOptions.builder().repository(models).build())
        .withHttp(
            HttpOptions.DEFAULT
                .withAddress(InetAddress.getLoopbackAddress())
                .withPort(0)
                .withExitTimeout(Duration.ofSeconds(10)));
  }

  private static void assertHealth(int code, String message, String url, String... more) {
    String[] args = new String[3 + more.length];
    args[0] = "health";
    args[1] = "--url";
    args[2] = url;
    System.arraycopy(more, 0, args, 3, more.length);
    CommandLineRun run = new CommandLineRun();
    assertEquals(code, run.run(args), run.err());
    assertTrue(run.err().contains(message), run.err());
    assertEquals(code == 0 ? "healthy\n" : "", run.out());
  }
}
