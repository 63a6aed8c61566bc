package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.Nereid;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.ServerTlsOptions.ClientCertificate;
import io.nereid.server.tls.TestCertificates;
import io.nereid.server.tls.TestCertificates.Identity;
import io.nereid.server.trace.Tracing;
import io.nereid.types.DataType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that are encrypted. */
class TlsTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration SHORT = Duration.ofMillis(500);

  private static final String BODY =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}";

  private static final byte[] INFER =
      RawClient.request("/v2/models/gate/infer", "", BODY.getBytes(StandardCharsets.US_ASCII));

  @TempDir private Path directory;
  private Identity authority;
  private SSLContext trusting;
  private Path certificate;
  private Path key;

  @BeforeEach
  void makeCertificates() throws Exception {
    authority = TestCertificates.authority("ca");
    Identity server = TestCertificates.signed("server", authority);
    certificate = server.writeCertificate(directory.resolve("cert.pem"));
    key = server.writeKey(directory.resolve("key.pem"));
    trusting = TestCertificates.client(authority, null);
  }

  private HttpOptions options() {
    return HttpOptions.DEFAULT.withTls(ServerTlsOptions.of(certificate, key));
  }

  private HttpOptions options(ClientCertificate wanted) throws Exception {
    Path ca = authority.writeCertificate(directory.resolve("ca.pem"));
    return HttpOptions.DEFAULT.withTls(ServerTlsOptions.of(certificate, key, ca, wanted));
  }

  private static SSLSocket socket(SSLContext context, TestServer server) throws IOException {
    return (SSLSocket)
        context.getSocketFactory().createSocket(InetAddress.getByName("127.0.0.1"), server.port());
  }

  private RawClient connect(TestServer server) throws IOException {
    return new RawClient(socket(trusting, server));
  }

  private static URI uri(TestServer server, String path) {
    return URI.create("https://localhost:" + server.port() + path);
  }

  private static int get(SSLContext context, TestServer server) throws Exception {
    try (HttpClient client = HttpClient.newBuilder().sslContext(context).build()) {
      return client
          .send(HttpRequest.newBuilder(uri(server, "/v2")).build(), BodyHandlers.ofString())
          .statusCode();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
  void largeTensorsGoBothWays(String version) throws Exception {
    SSLParameters parameters = new SSLParameters();
    parameters.setProtocols(new String[] {version});
    byte[] tensor = new byte[20_000_000];
    new Random(1).nextBytes(tensor);
    String json =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"UINT8\",\"shape\":[1,20000000],"
            + "\"parameters\":{\"binary_data_size\":20000000}}],"
            + "\"parameters\":{\"binary_data_output\":true}}";
    try (TestServer server = new TestServer(options()).identity(DataType.UINT8);
        HttpClient client =
            HttpClient.newBuilder()
                .sslContext(trusting)
                .sslParameters(parameters)
                .version(HttpClient.Version.HTTP_1_1)
                .build()) {
      HttpRequest request =
          HttpRequest.newBuilder(uri(server, "/v2/models/UINT8/infer"))
              .header("Inference-Header-Content-Length", Integer.toString(json.length()))
              .POST(
                  HttpRequest.BodyPublishers.ofByteArray(
                      RawClient.concat(json.getBytes(StandardCharsets.US_ASCII), tensor)))
              .build();
      for (int i = 0; i < 3; i++) {
        HttpResponse<byte[]> response = client.send(request, BodyHandlers.ofByteArray());
        assertEquals(200, response.statusCode());
        assertEquals(version, response.sslSession().orElseThrow().getProtocol());
        byte[] body = response.body();
        int from = body.length - tensor.length;
        assertArrayEquals(tensor, Arrays.copyOfRange(body, from, body.length));
      }
    }
  }

  /** By ALPN, as the JDK's client offers it. */
  @Test
  void requestsOfAllSizesFollowEachOther() throws Exception {
    try (TestServer server = new TestServer(options()).identity(DataType.UINT8);
        RawClient client = connect(server)) {
      Random random = new Random(2);
      for (int size = 1; size < 200_000; size = size * 3 / 2 + 1) {
        byte[] tensor = new byte[size];
        random.nextBytes(tensor);
        String json =
            "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"UINT8\",\"shape\":[1,"
                + size
                + "],\"parameters\":{\"binary_data_size\":"
                + size
                + "}}],\"parameters\":{\"binary_data_output\":true}}";
        assertArrayEquals(tensor, client.infer("UINT8", json, tensor).expect(200).binary());
        client.get("/v2/health/live").expect(200);
      }
    }
  }

  @Test
  void curlIsServed() throws Exception {
    Path ca = authority.writeCertificate(directory.resolve("ca.pem"));
    try (TestServer server = new TestServer(options())) {
      Process process;
      try {
        process =
            new ProcessBuilder(
                    "curl", "-s", "--cacert", ca.toString(), uri(server, "/v2/health/live") + "")
                .start();
      } catch (IOException e) {
        assumeTrue(false, "curl is not there");
        return;
      }
      assertEquals(
          "{\"live\":true}",
          new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
      assertEquals(0, process.waitFor());
    }
  }

  @Test
  void clientsNeedCertificatesWhereThatIsSaid() throws Exception {
    SSLContext known =
        TestCertificates.client(authority, TestCertificates.signed("client", authority));
    Identity stranger = TestCertificates.authority("stranger");
    SSLContext unknown = TestCertificates.client(authority, stranger);
    try (TestServer server = new TestServer(options(ClientCertificate.REQUIRED))) {
      assertEquals(200, get(known, server));
      assertThrows(IOException.class, () -> get(trusting, server));
      assertThrows(IOException.class, () -> get(unknown, server));
      assertEquals(200, get(known, server));
    }
    try (TestServer server = new TestServer(options(ClientCertificate.OPTIONAL))) {
      assertEquals(200, get(known, server));
      assertEquals(200, get(trusting, server));
    }
  }

  /** A client that shows a certificate, although it was not told that the server trusts its CA. */
  @Test
  void aCertificateOfNobodyIsRefusedWhereNoneIsNeeded() throws Exception {
    Identity stranger = TestCertificates.authority("ca"); // only its name is the authority's
    SSLContext unknown =
        TestCertificates.client(authority, TestCertificates.signed("client", stranger));
    try (TestServer server = new TestServer(options(ClientCertificate.OPTIONAL))) {
      assertThrows(IOException.class, () -> get(unknown, server));
      assertEquals(200, get(trusting, server));
    }
  }

  @Test
  void aRenewalLosesNoRequest() throws Exception {
    AtomicInteger done = new AtomicInteger();
    AtomicBoolean stopped = new AtomicBoolean();
    AtomicReference<Exception> failure = new AtomicReference<>();
    Identity next = TestCertificates.signed("next", authority);
    try (TestServer server = new TestServer(options()).identity(DataType.FP32);
        RawClient lasting = connect(server)) {
      lasting.get("/v2").expect(200);
      Thread traffic =
          Thread.startVirtualThread(() -> {
            while (!stopped.get()) {
              try (RawClient client = connect(server)) { // a handshake each
                client.post("/v2/models/FP32/infer", BODY).expect(200);
                lasting.post("/v2/models/FP32/infer", BODY).expect(200);
                done.incrementAndGet();
              } catch (IOException | AssertionError e) {
                failure.set(new IllegalStateException(e));
                return;
              }
            }
          });
      TestServer.await(() -> done.get() > 5, "no traffic");
      replace(certificate, TestCertificates.pem("CERTIFICATE", next.certificate().getEncoded()));
      int before = done.get();
      TestServer.await(() -> done.get() > before + 5, "no traffic with half a renewal");
      replace(key, TestCertificates.pem("PRIVATE KEY", next.keys().getPrivate().getEncoded()));
      TestServer.await(() -> subject(server).equals("CN=next"), "the renewal does not count");
      int after = done.get();
      TestServer.await(() -> done.get() > after + 5, "no traffic after the renewal");
      stopped.set(true);
      traffic.join();
      assertEquals(null, failure.get());
    }
  }

  private String subject(TestServer server) {
    try (SSLSocket socket = socket(TestCertificates.client(authority, null), server)) {
      socket.startHandshake();
      return socket.getSession().getPeerPrincipal().getName();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static void replace(Path file, String text) throws IOException {
    Path next = file.resolveSibling("next");
    Files.writeString(next, text);
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
  }

  @Test
  void aClientThatGoesAwayTakesItsRequestWithIt() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer(options()).gate(gate);
        RawClient first = connect(server);
        RawClient waiting = connect(server)) {
      first.send(INFER);
      gate.awaitBatch();
      waiting.send(INFER);
      TestServer.await(() -> server.statistics("gate").pendingCount() == 1, "nothing waits");
      waiting.hangUp();
      TestServer.await(
          () -> server.statistics("gate").failCancelled() == 1, "the waiting one stays");
      gate.open(1);
      first.receive().expect(200);
    }
  }

  @Test
  void requestsPipelinedBehindARunningOneAreKept() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer(options()).gate(gate);
        RawClient client = connect(server)) {
      client.send(INFER);
      gate.awaitBatch();
      byte[] get =
          "GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
      for (byte b : get) {
        client.send(new byte[] {b});
        Thread.sleep(5); // a record each, which the watch finds
      }
      gate.open(1);
      assertTrue(client.receive().expect(200).text().contains("[1.0,2.0]"));
      assertEquals("{\"live\":true}", client.receive().expect(200).text());
    }
  }

  @Test
  void aHandshakeThatTakesTooLongIsGivenUp() throws Exception {
    HttpLimits limits = new HttpLimits(100_000, 1024, 10, 20, 100, Duration.ofSeconds(1), LONG);
    try (TestServer server = new TestServer(options().withLimits(limits));
        RawClient silent = server.connect();
        RawClient begun = server.connect()) {
      begun.send(new byte[] {22, 3, 1, 1, 0}); // the head of a record that does not come
      assertTrue(silent.isClosedByServer());
      assertTrue(begun.isClosedByServer());
      TestServer.await(() -> isServed(server), "nobody's handshake is quick enough");
    }
  }

  private boolean isServed(TestServer server) {
    try (RawClient client = connect(server)) {
      return client.get("/v2").status() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void connectionsWithoutTlsAreClosed() throws Exception {
    byte[] garbage = new byte[5000];
    new Random(3).nextBytes(garbage);
    byte[] tls11 = { // a ClientHello of TLS 1.1, with one cipher suite
      22, 3, 1, 0, 45, 1, 0, 0, 41, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
      18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 0, 0, 2, 0, 0x2f, 1, 0
    };
    byte[] plain = "GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    try (TestServer server = new TestServer(options())) {
      for (byte[] bytes : new byte[][] {plain, garbage, {0}, tls11}) {
        try (RawClient client = server.connect()) {
          client.send(bytes);
          client.socket().shutdownOutput();
          byte[] answer = readAll(client);
          assertTrue(
              answer.length == 0 || (answer.length == 7 && answer[0] == 21 && answer[5] == 2),
              "expected a fatal alert or nothing, got " + answer.length + " bytes");
          assertTrue(bytes != tls11 || answer[6] == 70, "expected the alert protocol_version");
        }
      }
      assertEquals(200, get(trusting, server));
    }
  }

  private static byte[] readAll(RawClient client) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    try {
      for (int b = client.read(); b >= 0; b = client.read()) {
        all.write(b);
      }
    } catch (IOException e) {
      // Closed with what it did not read: a reset.
    }
    return all.toByteArray();
  }

  @Test
  void protocolsAreAgreedOn() throws Exception {
    try (TestServer server = new TestServer(options());
        SSLSocket socket = socket(trusting, server)) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"spdy/3", "http/1.1"});
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      assertEquals("http/1.1", socket.getApplicationProtocol());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
  void theEndIsTold(String version) throws Exception {
    HttpLimits idle = new HttpLimits(100_000, 1024, 10, 20, 1, LONG, SHORT);
    try (TestServer server = new TestServer(options().withLimits(idle));
        RawClient client = new RawClient(handshake(server, version))) {
      assertTrue(client.isClosedByServer()); // an end without close_notify would throw
    }
    HttpLimits one = new HttpLimits(100_000, 1024, 10, 20, 1, LONG, LONG);
    try (TestServer server = new TestServer(options().withLimits(one));
        RawClient client = connect(server)) {
      client.get("/v2").expect(200);
      TestServer.await(() -> isTold(server, version), "nobody was told of the limit");
    }
  }

  private SSLSocket handshake(TestServer server, String version) throws IOException {
    SSLSocket socket = socket(trusting, server);
    socket.setEnabledProtocols(new String[] {version});
    socket.startHandshake();
    return socket;
  }

  /** Whether a client that is one too many is told so; its handshake has two seconds. */
  private boolean isTold(TestServer server, String version) {
    try (RawClient second = new RawClient(handshake(server, version))) {
      assertTrue(second.receive().expect(503).text().contains("--http-max-connections"));
      return second.isClosedByServer();
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void theEndOfTheServerIsTold() throws Exception {
    try (TestServer server = new TestServer(options());
        RawClient client = connect(server);
        RawClient idle = connect(server)) {
      idle.get("/v2").expect(200);
      client.send("GET /v2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      client.receive().expect(200);
      assertTrue(client.isClosedByServer());
      server.http().stop(TestServer.PATIENCE);
      assertTrue(idle.isClosedByServer());
    }
  }

  @Test
  void anotherHandshakeIsRefused() throws Exception {
    try (TestServer server = new TestServer(options())) {
      SSLSocket socket = socket(trusting, server);
      socket.setEnabledProtocols(new String[] {"TLSv1.2"});
      try (RawClient client = new RawClient(socket)) {
        client.get("/v2").expect(200);
        assertThrows(
            IOException.class,
            () -> {
              socket.startHandshake();
              client.get("/v2");
            });
      }
      assertEquals(200, get(trusting, server));
    }
  }

  @Test
  void keysMayBeChangedMeanwhile() throws Exception {
    try (TestServer server = new TestServer(options())) {
      SSLSocket socket = socket(trusting, server);
      socket.setEnabledProtocols(new String[] {"TLSv1.3"});
      try (RawClient client = new RawClient(socket)) {
        for (int i = 0; i < 5; i++) {
          client.get("/v2").expect(200);
          socket.startHandshake(); // with TLS 1.3 a KeyUpdate
        }
        client.get("/v2").expect(200);
      }
    }
  }

  @Test
  void aClientThatTakesNoResponseIsGivenUp() throws Exception {
    HttpLimits limits = new HttpLimits(64 << 20, 1024, 10, 20, 3, Duration.ofSeconds(1), LONG);
    try (TestServer server =
        new TestServer(options().withLimits(limits)).load(TestServer.zeros(30_000_000))) {
      TestServer.await(() -> server.dropsUnread(() -> connect(server)), "no reply began");
    }
  }

  @Test
  void tracesTellThatItWasEncrypted() throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        TestServer server =
            new TestServer(
                    Nereid.create(),
                    options(),
                    state -> state.tracing(new Tracing(collector.options())))
                .identity(DataType.FP32);
        RawClient client = connect(server)) {
      client.post("/v2/models/FP32/infer", BODY).expect(200);
      List<String> schemes =
          collector.awaitSpans(5).stream()
              .flatMap(span -> span.getAttributesList().stream())
              .filter(attribute -> attribute.getKey().equals("url.scheme"))
              .map(attribute -> attribute.getValue().getStringValue())
              .toList();
      assertEquals(List.of("https"), schemes);
    }
  }

  @Test
  void aPlainPortIsNotEncrypted() throws Exception {
    try (TestServer server = new TestServer();
        Socket socket = socket(trusting, server)) {
      socket.setSoTimeout((int) TestServer.PATIENCE.toMillis());
      // At once, and not when the time for sending a request is up.
      Exception refusal =
          assertThrows(IOException.class, () -> ((SSLSocket) socket).startHandshake());
      assertTrue(refusal.getMessage().contains("SSL message"), refusal.toString());
    }
  }
}
