package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import io.grpc.TlsServerCredentials;
import io.nereid.proto.ServerLiveRequest;
import io.nereid.proto.ServerLiveResponse;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both protocols over TLS, with and without certificates of the client's. */
@Tag("slow") // keytool starts a JVM for each key
class TlsTest {

  @TempDir static Path directory;

  /** Makes NAME.pem and NAME.key, which vouch for themselves. */
  private static void makeCertificate(String name, String algorithm) throws Exception {
    Path store = directory.resolve(name + ".p12");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                name,
                "-keyalg",
                algorithm,
                "-dname",
                "CN=" + name,
                "-ext",
                "SAN=DNS:localhost",
                "-validity",
                "2",
                "-storepass",
                "secret",
                "-keystore",
                store.toString())
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes());
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    assertEquals(0, process.exitValue(), printed);
    KeyStore keys = KeyStore.getInstance(store.toFile(), "secret".toCharArray());
    write(name + ".pem", "CERTIFICATE", keys.getCertificate(name).getEncoded());
    write(name + ".key", "PRIVATE KEY", keys.getKey(name, "secret".toCharArray()).getEncoded());
  }

  private static void write(String file, String kind, byte[] der) throws IOException {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    Files.writeString(
        directory.resolve(file),
        "-----BEGIN " + kind + "-----\n" + base64 + "\n-----END " + kind + "-----\n");
  }

  @BeforeAll
  static void makeCertificates() throws Exception {
    makeCertificate("server", "EC");
    makeCertificate("client", "RSA");
    makeCertificate("stranger", "Ed25519");
  }

  private static Path file(String name) {
    return directory.resolve(name);
  }

  private static TlsOptions trusting(String name) {
    return TlsOptions.DEFAULT.trusting(file(name + ".pem"));
  }

  private static TlsOptions presenting(String name) {
    return trusting("server").presenting(file(name + ".pem"), file(name + ".key"));
  }

  private static InferenceClient connect(String address, TlsOptions tls) {
    return InferenceClient.connect(
        address, ClientOptions.builder().tls(tls).retry(RetryPolicy.NONE).build());
  }

  private void check(String address) {
    try (InferenceClient client = connect(address, presenting("client"))) {
      assertTrue(client.serverLive());
    }
    for (TlsOptions wrong :
        List.of(
            TlsOptions.DEFAULT,
            trusting("stranger").presenting(file("client.pem"), file("client.key")),
            trusting("server"),
            presenting("stranger"))) {
      try (InferenceClient client = connect(address, wrong)) {
        InferenceException failure =
            assertThrows(InferenceException.class, client::serverLive, wrong::toString);
        assertEquals(StatusCode.UNAVAILABLE, failure.code());
      }
    }
  }

  @Test
  void grpcWithCertificatesOfBothSides() throws Exception {
    GrpcPeer peer =
        new GrpcPeer()
            .unary(
                "ServerLive",
                ServerLiveRequest.getDefaultInstance(),
                ServerLiveResponse.getDefaultInstance(),
                (request, to) -> {
                  to.onNext(ServerLiveResponse.newBuilder().setLive(true).build());
                  to.onCompleted();
                });
    try (GrpcPeer started =
        peer.start(
            TlsServerCredentials.newBuilder()
                .keyManager(file("server.pem").toFile(), file("server.key").toFile())
                .trustManager(file("client.pem").toFile())
                .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
                .build())) {
      check("grpcs://localhost:" + started.port());
    }
  }

  @Test
  void httpWithCertificatesOfBothSides() throws Exception {
    SSLContext context =
        Tls.context(trusting("client").presenting(file("server.pem"), file("server.key")));
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.setHttpsConfigurator(
        new HttpsConfigurator(context) {
          @Override
          public void configure(HttpsParameters parameters) {
            SSLParameters wanted = getSSLContext().getDefaultSSLParameters();
            wanted.setNeedClientAuth(true);
            parameters.setSSLParameters(wanted);
          }
        });
    server.createContext(
        "/v2/health/live",
        exchange -> {
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
    try {
      check("https://localhost:" + server.getAddress().getPort());
    } finally {
      server.stop(0);
    }
  }

  @Test
  void filesThatAreNotWhatTheyShouldBeAreNamed() throws Exception {
    Path empty = Files.writeString(file("empty"), "");
    Path old =
        Files.writeString(
            file("old.key"),
            "-----BEGIN RSA PRIVATE KEY-----\nAA==\n-----END RSA PRIVATE KEY-----");
    for (String address : new String[] {"https://localhost:1", "grpcs://localhost:1"}) {
      IllegalArgumentException none =
          assertThrows(
              IllegalArgumentException.class,
              () -> connect(address, TlsOptions.DEFAULT.trusting(empty)));
      assertTrue(none.getMessage().contains(empty.toString()), none::getMessage);
      IllegalArgumentException key =
          assertThrows(
              IllegalArgumentException.class,
              () -> connect(address, TlsOptions.DEFAULT.presenting(file("client.pem"), old)));
      assertTrue(key.getMessage().contains("openssl pkcs8 -topk8"), key::getMessage);
      assertThrows(
          java.io.UncheckedIOException.class,
          () -> connect(address, TlsOptions.DEFAULT.trusting(file("missing"))));
    }
  }
}
