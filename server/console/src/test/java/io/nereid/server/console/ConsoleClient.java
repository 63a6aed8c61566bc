package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.server.NereidServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import javax.net.ssl.SSLContext;
import tools.jackson.jr.ob.JSON;

/** Asks a server for what the pages of its console ask for. */
final class ConsoleClient implements AutoCloseable {

  private final HttpClient client;
  private final String server;

  /** Over TLS where somebody is trusted. */
  ConsoleClient(NereidServer server, Optional<SSLContext> trusting) {
    HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
    trusting.ifPresent(builder::sslContext);
    client = builder.build();
    this.server =
        (trusting.isPresent() ? "https" : "http") + "://localhost:" + server.httpPort() + "/";
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(server + path));
  }

  /** A document that has to be there. */
  String get(String path) throws IOException, InterruptedException {
    HttpResponse<String> reply = client.send(request(path).build(), BodyHandlers.ofString());
    assertEquals(200, reply.statusCode(), reply::body);
    return reply.body();
  }

  HttpResponse<String> post(String path, String json) throws IOException, InterruptedException {
    return client.send(
        request(path)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(json))
            .build(),
        BodyHandlers.ofString());
  }

  Events events(String path) throws IOException, InterruptedException {
    return new Events(
        new BufferedReader(
            new InputStreamReader(
                client.send(request(path).build(), BodyHandlers.ofInputStream()).body(),
                StandardCharsets.UTF_8)));
  }

  /** The events of one stream, in their order. */
  record Events(BufferedReader lines) implements AutoCloseable {

    /** The next event of which something holds. */
    Map<String, Object> await(Predicate<Map<String, Object>> wanted) throws IOException {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("data: ")) {
          Map<String, Object> event = JSON.std.mapFrom(line.substring("data: ".length()));
          if (wanted.test(event)) {
            return event;
          }
        }
      }
      throw new AssertionError("the stream ended before what was waited for");
    }

    @Override
    public void close() throws IOException {
      lines.close();
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
