package io.nereid.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.HttpURLConnection;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code nereid health}: asks a server whether it is ready, for health checks of containers. */
@Command(
    name = "health",
    description = "Ask a server over HTTP whether it is ready: 0 if it is, else 1.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Examples:",
      "  nereid health",
      "  nereid health --url http://localhost:8000/v2/health/live",
      "  nereid health --url http://localhost:8002/metrics"
    })
final class HealthCommand implements Callable<Integer> {

  /** The bytes that are shown of an answer other than 200. */
  private static final int SHOWN_BYTES = 200;

  @Spec private CommandSpec command;

  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "http://localhost:${env:NEREID_HTTP_PORT:-8000}",
      description = {
        "Whom to ask; ${DEFAULT-VALUE} by default.",
        "Without a path: /v2/health/ready. Any other path must answer 200."
      })
  private URI url;

  @Option(
      names = "--timeout-secs",
      paramLabel = "SECONDS",
      description = "How long the answer may take; ${DEFAULT-VALUE} by default.")
  private int timeoutSeconds = 5;

  @Override
  public Integer call() throws InterruptedException {
    if (timeoutSeconds < 1 || timeoutSeconds > Integer.MAX_VALUE / 1000) {
      throw Arguments.wrong(
          command, "--timeout-secs from 1 to " + Integer.MAX_VALUE / 1000, "" + timeoutSeconds);
    }
    URI asked = asked();
    // A connection's timeouts restart with each byte; this one covers the whole request.
    CompletableFuture<String> answer = new CompletableFuture<>();
    Thread.ofVirtual().name("nrd-health").start(() -> answer.complete(problem(asked)));
    String problem;
    try {
      problem = answer.get(timeoutSeconds, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      problem = "expected an answer within " + timeoutSeconds + " s, got none";
    } catch (ExecutionException e) {
      throw new AssertionError(e); // the future is never completed so
    }
    PrintWriter out = command.commandLine().getOut();
    if (problem.isEmpty()) {
      out.println("healthy");
      return 0;
    }
    command.commandLine().getErr().println("nereid: " + Texts.printable(asked + ": " + problem));
    return 1;
  }

  private URI asked() {
    boolean http = "http".equalsIgnoreCase(url.getScheme());
    if ((!http && !"https".equalsIgnoreCase(url.getScheme())) || url.getHost() == null) {
      throw Arguments.wrong(
          command, "--url of the form http://HOST:PORT or https://HOST:PORT", "'" + url + "'");
    }
    String path = url.getPath();
    if (path != null && path.length() > 1) {
      return url;
    }
    try {
      return new URI(
          url.getScheme(), null, url.getHost(), url.getPort(), "/v2/health/ready", null, null);
    } catch (URISyntaxException e) {
      throw Arguments.wrong(command, "--url of the form http://HOST:PORT", "'" + url + "'");
    }
  }

  /**
   * Asks the server; empty: the answer was 200. Uses the JDK's older client, since the newer one is
   * slow to start.
   */
  private String problem(URI asked) {
    try {
      if (!(asked.toURL().openConnection() instanceof HttpURLConnection connection)) {
        return "expected http or https";
      }
      connection.setConnectTimeout(timeoutSeconds * 1000);
      connection.setReadTimeout(timeoutSeconds * 1000);
      connection.setUseCaches(false);
      connection.setInstanceFollowRedirects(false);
      int status = connection.getResponseCode();
      return status == 200 ? "" : "expected status 200, got " + status + body(connection);
    } catch (MalformedURLException | RuntimeException e) {
      return "expected an URL, got " + e.getMessage();
    } catch (IOException e) {
      String reason = e.getMessage() == null ? "" : ": " + e.getMessage();
      return "expected an answer, got " + e.getClass().getSimpleName() + reason;
    }
  }

  private static String body(HttpURLConnection connection) throws IOException {
    try (InputStream in = connection.getErrorStream()) {
      byte[] bytes = in == null ? new byte[0] : in.readNBytes(SHOWN_BYTES);
      return bytes.length == 0 ? "" : " with " + new String(bytes, StandardCharsets.UTF_8).strip();
    }
  }
}
