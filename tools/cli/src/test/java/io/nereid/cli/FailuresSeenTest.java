package io.nereid.cli;

import static io.nereid.cli.FailureKind.connection;
import static io.nereid.cli.FailureKind.grpc;
import static io.nereid.cli.FailureKind.http;
import static io.nereid.cli.RequestFailures.INFER;
import static io.nereid.cli.RequestFailures.answers;
import static io.nereid.cli.RequestFailures.call;
import static io.nereid.cli.RequestFailures.message;
import static io.nereid.server.http.TestServer.PATIENCE;
import static io.nereid.server.http.TestServer.await;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.grpc.GrpcFrames;
import io.nereid.server.http.FrameClient;
import io.nereid.server.http.RawClient;
import io.nereid.server.metrics.Troubles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Walks kinds of failures: each one is provoked over a real socket, and then seen in a metric, in
 * the overview of the console and in what {@code nereid top} shows.
 */
class FailuresSeenTest {

  private static final int LEAST_KINDS = 40;

  @TempDir private Path directory;

  private static void allAreSeen(FailingServer server, List<FailureKind> kinds, Duration patience) {
    assertAll(kinds.stream().map(kind -> (Executable) () -> isSeen(kind, server, patience)));
    Map<String, Long> counts = toldAlike(server);
    for (FailureKind kind : kinds) {
      long same = kinds.stream().filter(other -> other.trouble().equals(kind.trouble())).count();
      assertTrue(counts.get(kind.trouble()) >= same, kind + " of " + counts);
    }
  }

  /** Tries again for a while: a client that stood still is late for a server that gives no time. */
  private static void isSeen(FailureKind kind, FailingServer server, Duration patience)
      throws Exception {
    long startNs = System.nanoTime();
    while (true) {
      awaitNoClients(server);
      try {
        kind.isSeenOf(server);
        return;
      } catch (AssertionError e) {
        if (System.nanoTime() - startNs >= patience.toNanos()) {
          throw e;
        }
      }
    }
  }

  /** The counts that metrics, console and top agree on: a look that fails may change them. */
  private static Map<String, Long> toldAlike(FailingServer server) {
    long startNs = System.nanoTime();
    while (true) {
      String told;
      try {
        awaitNoClients(server);
        Map<String, Long> console = server.console();
        awaitNoClients(server);
        Map<String, Long> top = server.top();
        Map<String, Long> counts = Troubles.of(server.scrape()).counts();
        if (counts.equals(console) && counts.equals(top)) {
          return counts;
        }
        told = counts + ", the console has " + console + ", top " + top;
      } catch (IOException | AssertionError e) {
        told = e.toString();
      }
      assertTrue(System.nanoTime() - startNs < PATIENCE.toNanos(), told);
    }
  }

  private static void awaitNoClients(FailingServer server) {
    for (String protocol : List.of("http", "grpc")) {
      Map<String, String> label = Map.of("protocol", protocol);
      await(
          () -> server.scrape().sum("nereid_connections", label) == 0,
          "earlier connections of " + protocol + " stay");
    }
  }

  @Test
  void failuresOfRequestsAndModelsAreSeen() throws Exception {
    try (FailingServer server = FailingServer.open(directory)) {
      allAreSeen(server, RequestFailures.ALL, Duration.ZERO);
    }
  }

  @Test
  void failuresOfTokensAndEncryptionAreSeen() throws Exception {
    try (FailingServer server = FailingServer.guarded(directory)) {
      allAreSeen(server, OF_ACCESS, Duration.ZERO);
    }
  }

  @Test
  void failuresOfConnectionsAreSeen() throws Exception {
    try (FailingServer server = FailingServer.small(directory)) {
      allAreSeen(server, OF_CONNECTIONS, PATIENCE.multipliedBy(3));
    }
  }

  @Test
  void kindsAreMany() {
    List<String> names =
        List.of(RequestFailures.ALL, OF_ACCESS, OF_CONNECTIONS).stream()
            .flatMap(List::stream)
            .map(FailureKind::name)
            .distinct()
            .toList();
    assertTrue(names.size() >= LEAST_KINDS, names::toString);
  }

  // ---- Tokens and encryption -------------------------------------------------------------------

  private static final String WRONG = "Authorization: Bearer wrong\r\n";
  private static final String READER = "Authorization: Bearer reader\r\n";

  private static final List<FailureKind> OF_ACCESS =
      List.of(
          http("no token", 401, "/v2", server -> server.get(401, "/v2", "")),
          http("wrong token", 401, "/v2", server -> server.get(401, "/v2", WRONG)),
          http(
              "token that does not grant it",
              403,
              "/v2/models/stats",
              server -> server.get(403, "/v2/models/stats", READER)),
          grpc("no token by gRPC", "UNAUTHENTICATED", server -> call(server, "good", "FP32")),
          grpc(
              "token that does not grant it by gRPC",
              "PERMISSION_DENIED",
              server ->
                  server.call(
                      GrpcFrames.path("ModelInfer"),
                      message("good", "FP32"),
                      "authorization",
                      "Bearer reader")),
          connection(
              "client that does not trust the certificate",
              "http",
              "tls",
              server -> distrust(server.server.httpPort())),
          connection(
              "bytes that are not encrypted",
              "http",
              "tls",
              server -> speak(server.server.httpPort(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n")),
          connection(
              "client that leaves the handshake",
              "http",
              "tls",
              server -> speak(server.server.httpPort(), "\u0016\u0003\u0001")),
          connection(
              "client of gRPC that does not trust the certificate",
              "grpc",
              "tls",
              server -> distrust(server.grpcPort())),
          connection(
              "bytes for gRPC that are not encrypted",
              "grpc",
              "tls",
              server -> speak(server.grpcPort(), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")),
          connection(
              "encrypted client that does not offer HTTP/2",
              "grpc",
              "protocol",
              server -> {
                try (Socket socket = server.encrypted(server.grpcPort())) {
                  socket.getOutputStream().write('x');
                  socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                  // It was sent away.
                }
              }));

  private static void distrust(int port) throws IOException {
    try (Socket socket =
        SSLSocketFactory.getDefault().createSocket(InetAddress.getLoopbackAddress(), port)) {
      assertThrows(SSLException.class, () -> socket.getOutputStream().write('x'));
    }
  }

  private static void speak(int port, String text) throws IOException {
    try (RawClient client = new RawClient(port)) {
      client.send(text).socket().shutdownOutput();
      client.socket().getInputStream().readAllBytes();
    }
  }

  // ---- Connections -----------------------------------------------------------------------------

  private static final List<FailureKind> OF_CONNECTIONS =
      List.of(
          connection("slow head", "http", "timeout", server -> answers(server, "GET /v2", 408)),
          http(
              "slow body",
              408,
              INFER,
              server ->
                  answers(
                      server,
                      "POST /v2/models/good/infer HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{",
                      408)),
          connection(
              "slow frame of gRPC",
              "grpc",
              "timeout",
              server -> {
                try (FrameClient client = server.grpc().begin()) {
                  client.send(new byte[] {0, 0, 9, FrameClient.HEADERS});
                  assertTrue(client.isClosedByServer());
                }
              }),
          connection(
              "HTTP/1.1 at the port of gRPC",
              "grpc",
              "protocol",
              server -> speak(server.grpcPort(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n")),
          connection(
              "too many connections",
              "http",
              "limit",
              server -> {
                try (RawClient first = server.http();
                    RawClient second = server.http()) {
                  first.get("/v2").expect(200);
                  second.get("/v2").expect(200);
                  try (RawClient third = server.http()) {
                    third.receive().expect(503);
                  }
                }
              }),
          connection(
              "too many connections of gRPC",
              "grpc",
              "limit",
              server -> {
                try (FrameClient first = server.grpc().begin();
                    FrameClient second = server.grpc().begin()) {
                  ping(first);
                  ping(second);
                  try (FrameClient third = server.grpc().sendPreface(1000)) {
                    third.awaitGoAway();
                  }
                  ping(first);
                  ping(second);
                }
              }));

  private static void ping(FrameClient client) throws IOException {
    client.frame(FrameClient.PING, 0, 0, new byte[8]);
    client.await(FrameClient.PING, FrameClient.ACK);
  }
}
