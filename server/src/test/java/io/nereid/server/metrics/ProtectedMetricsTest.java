package io.nereid.server.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.TestCertificates;
import io.nereid.server.tls.TestCertificates.Identity;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Metrics that are encrypted, and that want a token. */
class ProtectedMetricsTest {

  private static final String READER = "reader-0123456789abcdef";
  private static final String CALLER = "caller-0123456789abcdef";

  @TempDir private Path directory;

  private static NereidServer start(MetricsOptions metrics) {
    return NereidServer.start(ServerOptions.DEFAULT.withMetrics(metrics));
  }

  private static HttpResponse<String> get(
      HttpClient client, NereidServer server, String path, String... fields) throws Exception {
    String url = server.frontends().getLast().url().replace("127.0.0.1", "localhost");
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path)).timeout(Duration.ofMinutes(1));
    if (fields.length > 0) {
      request.headers(fields);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private static int status(HttpClient client, NereidServer server, String path, String token)
      throws Exception {
    return get(client, server, path, "Authorization", "Bearer " + token).statusCode();
  }

  @Test
  void tokensThatGrantStatisticsMayRead() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("tokens"),
            READER + " statistics\n" + CALLER + " inference,metadata\n");
    AccessControl access = AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(file)));
    try (NereidServer server = start(MetricsOptions.DEFAULT.withAccess(access));
        HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> refused = get(client, server, "/metrics");
      assertEquals(401, refused.statusCode());
      assertEquals("Bearer", refused.headers().firstValue("WWW-Authenticate").orElseThrow());
      assertEquals(
          "{\"error\":\"expected a token as 'Authorization: Bearer TOKEN'\"}", refused.body());
      assertEquals(401, status(client, server, "/metrics", "unknown"));
      assertEquals(403, status(client, server, "/metrics", CALLER));
      assertEquals(200, status(client, server, "/metrics", READER));
      assertEquals(401, get(client, server, "/nowhere").statusCode());
      assertEquals(404, status(client, server, "/nowhere", READER));
    }
  }

  @Test
  void aFieldIsWantedWhereStatisticsAreRestricted() throws Exception {
    AccessControl access =
        AccessControl.of(
            Restrictions.forHttp(List.of("statistics:admin-key=secret")), Optional.empty());
    try (NereidServer server = start(MetricsOptions.DEFAULT.withAccess(access));
        HttpClient client = HttpClient.newHttpClient()) {
      assertEquals(403, get(client, server, "/metrics").statusCode());
      assertEquals(200, get(client, server, "/metrics", "Admin-Key", "secret").statusCode());
    }
  }

  @Test
  void connectionsAreEncrypted() throws Exception {
    Identity authority = TestCertificates.authority("ca");
    ServerTlsOptions tls = TestCertificates.server(authority, directory);
    try (NereidServer server = start(MetricsOptions.DEFAULT.withTls(tls));
        HttpClient client =
            HttpClient.newBuilder().sslContext(TestCertificates.client(authority, null)).build()) {
      assertTrue(server.frontends().getLast().url().startsWith("https://"));
      Exposition.parse(get(client, server, "/metrics").body()).family("nereid_server_ready");
      URI plain = URI.create("http://127.0.0.1:" + server.metricsPort().orElseThrow() + "/metrics");
      assertThrows(
          IOException.class,
          () -> client.send(HttpRequest.newBuilder(plain).build(), BodyHandlers.discarding()));
    }
  }
}
