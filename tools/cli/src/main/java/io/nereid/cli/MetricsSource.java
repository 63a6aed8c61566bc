package io.nereid.cli;

import io.nereid.perf.ServerConnection;
import io.nereid.server.metrics.Scrape;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Reads the metrics of a running server, if they can be reached. For one thread, which waits at
 * most a second, and after a failure a while before the next try.
 */
final class MetricsSource implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(1);
  private static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int USUAL_HTTP_PORT = 8000;
  private static final int USUAL_GRPC_PORT = 8001;
  private static final int USUAL_METRICS_PORT = 8002;

  private final URI uri; // null: the address is unknown
  private final ServerConnection server;
  private final HttpClient client;
  private boolean failed;
  private long failedNs;

  /**
   * Makes a source for a server.
   *
   * @param given the address of the metrics; null: the usual port, if the server is at its own
   *     usual port
   */
  MetricsSource(ServerConnection server, URI given) {
    this.server = server;
    client = server.otherPorts(PATIENCE);
    uri = given == null ? usual(URI.create(server.toString())) : given;
  }

  private static URI usual(URI server) {
    boolean isUsual = server.getPort() == USUAL_HTTP_PORT || server.getPort() == USUAL_GRPC_PORT;
    return isUsual
        ? URI.create("http://" + server.getHost() + ":" + USUAL_METRICS_PORT + "/metrics")
        : null;
  }

  /** The metrics as they are now; empty: not available. */
  Optional<Scrape> ask() throws InterruptedException {
    if (uri == null || (failed && System.nanoTime() - failedNs < PAUSE_NS)) {
      return Optional.empty();
    }
    try {
      HttpResponse<String> reply =
          client.send(server.otherRequest(uri).timeout(PATIENCE).build(), BodyHandlers.ofString());
      failed = reply.statusCode() != 200;
      if (!failed) {
        return Optional.of(Scrape.parse(reply.body()));
      }
    } catch (IOException e) {
      failed = true;
    }
    failedNs = System.nanoTime();
    return Optional.empty();
  }

  /** The reason why there are none, for people. */
  String absence() {
    return (uri == null ? "it is not known where its metrics are" : "no metrics at " + uri)
        + "; --metrics-url URL says where";
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
