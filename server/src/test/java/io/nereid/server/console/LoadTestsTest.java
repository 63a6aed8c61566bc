package io.nereid.server.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.ServerTlsOptions.ClientCertificate;
import io.nereid.server.tls.TestCertificates;
import io.nereid.server.tls.TestCertificates.Identity;
import java.net.InetAddress;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Load tests that pages start, over each protocol, in clear and encrypted. */
class LoadTestsTest {

  @TempDir Path folder;

  private static NereidServer start(HttpOptions http, UnaryOperator<ServerOptions> more) {
    RepositoryOptions models =
        RepositoryOptions.builder()
            .repository(ConsoleModels.BUNDLED)
            .explicit("identity_fp32")
            .explicit("repeat")
            .build();
    return NereidServer.start(
        more.apply(
            ServerOptions.DEFAULT
                .withRepository(models)
                .withHttp(http.withConsole(ConsoleOptions.DEFAULT.withLoad(true)))));
  }

  private static String plan(String model, String protocol) {
    return "{\"model\":\"%s\",\"protocol\":\"%s\",\"concurrency\":2,\"duration_s\":1}"
        .formatted(model, protocol);
  }

  /** Runs one to its end. */
  private static Map<?, ?> run(ConsoleClient client, String model, String protocol)
      throws Exception {
    HttpResponse<String> started = client.post("api/load", plan(model, protocol));
    assertEquals(200, started.statusCode(), started::body);
    String id = started.body().replaceAll("\\D", "");
    try (ConsoleClient.Events events = client.events("api/load/events")) {
      List<?> results =
          (List<?>)
              events
                  .await(event ->
                      event.get("results") instanceof List<?> done
                          && !done.isEmpty()
                          && ((Map<?, ?>) done.getFirst()).get("id").equals(id))
                  .get("results");
      return (Map<?, ?>) results.getFirst();
    }
  }

  private static void assertAnswered(String protocol, Map<?, ?> result) {
    assertEquals("finished", result.get("outcome"), result::toString);
    assertEquals(null, result.get("error"), result::toString);
    assertEquals(protocol, result.get("protocol"));
    assertTrue(((Number) result.get("requests")).longValue() > 0, result::toString);
  }

  @Test
  void inClear() throws Exception {
    try (NereidServer server =
            start(HttpOptions.DEFAULT, options -> options.withGrpc(GrpcOptions.DEFAULT));
        ConsoleClient client = new ConsoleClient(server, Optional.empty())) {
      assertAnswered("http", run(client, "identity_fp32", "http"));
      assertAnswered("grpc", run(client, "identity_fp32", "grpc"));
      assertAnswered("grpc", run(client, "repeat", "grpc"));
      Map<?, ?> refused = run(client, "repeat", "http");
      assertEquals("failed", refused.get("outcome"));
      assertTrue(refused.get("error").toString().contains("measure it over gRPC"));
      HttpResponse<String> unknown = client.post("api/load", plan("none", "http"));
      assertEquals(404, unknown.statusCode());
      assertTrue(unknown.body().contains("none"), unknown::body);
    }
  }

  @Test
  void encryptedWhateverNameTheCertificateIsFor() throws Exception {
    Identity authority = TestCertificates.authority("ca");
    Identity own = TestCertificates.signed("server", authority);
    ServerTlsOptions tls =
        ServerTlsOptions.of(
            own.writeCertificate(folder.resolve("cert.pem")),
            own.writeKey(folder.resolve("key.pem")));
    // The certificate is for 127.0.0.1 and localhost alone.
    GrpcOptions elsewhere =
        GrpcOptions.DEFAULT.withAddress(InetAddress.getByName("127.0.0.2")).withTls(tls);
    SSLContext trusting = TestCertificates.client(authority, null);
    try (NereidServer server =
            start(HttpOptions.DEFAULT.withTls(tls), options -> options.withGrpc(elsewhere));
        ConsoleClient client = new ConsoleClient(server, Optional.of(trusting))) {
      assertTrue(client.get("api/about").contains("\"grpc_tls\":true"));
      assertAnswered("http", run(client, "identity_fp32", "http"));
      assertAnswered("grpc", run(client, "identity_fp32", "grpc"));
    }
  }

  @Test
  void aPortThatWantsACertificateOfEachClient() throws Exception {
    Identity authority = TestCertificates.authority("ca");
    Identity own = TestCertificates.signed("server", authority);
    ServerTlsOptions tls =
        ServerTlsOptions.of(
            own.writeCertificate(folder.resolve("cert.pem")),
            own.writeKey(folder.resolve("key.pem")),
            authority.writeCertificate(folder.resolve("ca.pem")),
            ClientCertificate.REQUIRED);
    try (NereidServer server =
            start(
                HttpOptions.DEFAULT,
                options -> options.withGrpc(GrpcOptions.DEFAULT.withTls(tls)));
        ConsoleClient client = new ConsoleClient(server, Optional.empty())) {
      HttpResponse<String> refused = client.post("api/load", plan("identity_fp32", "grpc"));
      assertEquals(501, refused.statusCode());
      assertTrue(refused.body().contains("nereid perf measures it"), refused::body);
    }
  }

  @Test
  void aProtocolThatIsNotServed() throws Exception {
    try (NereidServer server = start(HttpOptions.DEFAULT, options -> options);
        ConsoleClient client = new ConsoleClient(server, Optional.empty())) {
      HttpResponse<String> refused = client.post("api/load", plan("identity_fp32", "grpc"));
      assertEquals(400, refused.statusCode());
      assertTrue(refused.body().contains("serves, got 'grpc'"), refused::body);
    }
  }
}
