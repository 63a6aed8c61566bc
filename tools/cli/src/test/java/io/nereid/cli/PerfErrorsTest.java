package io.nereid.cli;

import static io.nereid.server.http.TestServer.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.nereid.client.InferenceClient;
import io.nereid.model.ModelSpec;
import io.nereid.server.access.AccessControl;
import io.nereid.server.access.Restrictions;
import io.nereid.server.access.Tokens;
import io.nereid.server.tls.ServerTlsOptions;
import io.nereid.server.tls.ServerTlsOptions.ClientCertificate;
import io.nereid.server.tls.TestCertificates;
import io.nereid.server.tls.TestCertificates.Identity;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages if a measurement cannot be made, and servers of other kinds. */
class PerfErrorsTest {

  @TempDir Path directory;

  private static void expect(PerfFixture fixture, int code, String text, String... arguments) {
    long startNs = System.nanoTime();
    assertEquals(code, fixture.run(arguments), fixture::printed);
    assertTrue(fixture.printed().contains(text), text + " is not in: " + fixture.printed());
    assertFalse(fixture.printed().contains("\tat io.nereid"), fixture::printed);
    assertTrue(System.nanoTime() - startNs < 300e9, "it did not stop early");
  }

  @Test
  void aMeasurementThatIsEndedLeavesNoSharedMemory() throws Exception {
    try (PerfFixture fixture = new PerfFixture(directory, List.of());
        InferenceClient client = InferenceClient.connect("http://" + fixture.http())) {
      fixture.identity("m", DataType.FP32, 4, 4);
      List<String> arguments = new ArrayList<>(List.of("perf", "m", "-u", fixture.http()));
      arguments.addAll(List.of("--input-form", "shm", "-p", "600000"));
      Process perf = ServeProcess.start(Main.class.getName(), arguments);
      try {
        while (client.sharedMemoryStatus().isEmpty()) {
          assertTrue(perf.isAlive());
          Thread.sleep(10);
        }
        perf.destroy();
        perf.waitFor();
        assertEquals(List.of(), client.sharedMemoryStatus());
        try (DirectoryStream<Path> left =
            Files.newDirectoryStream(Path.of("/dev/shm"), "nereid-perf-" + perf.pid() + "-*")) {
          assertFalse(left.iterator().hasNext(), "shared memory is left");
        }
      } finally {
        perf.destroyForcibly();
      }
    }
  }

  @Test
  void mistakesAreTold() throws Exception {
    Path file = Files.write(directory.resolve("short"), new byte[3]);
    Path json = Files.writeString(directory.resolve("bad.json"), "{\"data\": [{\"IN\": [1, 2]}]}");
    int closed;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      closed = socket.getLocalPort();
    }
    // Windows that would take half an hour: all of this stops early.
    try (PerfFixture fixture = new PerfFixture(directory, List.of("-p", "600000"))) {
      fixture.identity("m", DataType.FP32, 4, -1);
      fixture
          .server
          .nereid()
          .load(
              ModelSpec.builder("failing")
                  .input("IN", DataType.INT32, 1)
                  .output("OUT", DataType.INT32, 1)
                  .backend(context ->
                      batch -> batch.fail(0, StatusCode.INVALID_ARGUMENT, "no luck today"))
                  .build());
      String http = fixture.http();
      String grpc = "grpc://" + fixture.grpc();
      for (String address : List.of("http://localhost:" + closed, "grpc://localhost:" + closed)) {
        expect(fixture, 1, "expected a server at " + address + ", got none", "m", "-u", address);
      }
      for (String address : List.of(http, grpc)) {
        expect(fixture, 1, "unknown model: 'nosuch'", "nosuch", "-u", address);
        expect(fixture, 1, "such as --shape IN:16", "m", "-u", address);
        expect(fixture, 1, "all requests fail; the first one: ", "failing", "-u", address);
        assertTrue(fixture.printed().contains("no luck today"), fixture::printed);
      }
      expect(
          fixture,
          1,
          "expected 16 bytes for input 'IN' of type FP32 and shape [1, 4], got 3",
          "m",
          "-u",
          http,
          "--shape",
          "IN:4",
          "--input",
          "IN=" + file);
      expect(
          fixture,
          1,
          "expected 16 bytes for input 'IN'",
          "m",
          "-u",
          http,
          "--shape",
          "IN:4",
          "--input-data",
          json.toString());
      expect(fixture, 1, "expected -b of at most 4", "m", "-u", http, "--shape", "IN:4", "-b", "5");
      expect(
          fixture,
          1,
          "which does not exist",
          "m",
          "-u",
          http,
          "--shape",
          "IN:4",
          "--input-data",
          "nowhere.json");
      expect(fixture, 2, "expected --streaming with -i grpc", "m", "-u", http, "--streaming");
      expect(fixture, 2, "expected a load above 0", "m", "-u", http, "--concurrency", "0");
      expect(fixture, 2, "expected a target such as p99<=10ms", "m", "--slo", "fast");
      expect(fixture, 2, "got both", "m", "--rate", "5", "--concurrency", "5");
    }
  }

  @Test
  void encryptedConnectionsAndTokens() throws Exception {
    Identity authority = TestCertificates.authority("ca");
    Identity server = TestCertificates.signed("server", authority);
    Identity client = TestCertificates.signed("client", authority);
    Path ca = authority.writeCertificate(directory.resolve("ca.pem"));
    Path clientCertificate = client.writeCertificate(directory.resolve("client.pem"));
    Path clientKey = client.writeKey(directory.resolve("client.key"));
    ServerTlsOptions tls =
        ServerTlsOptions.of(
            server.writeCertificate(directory.resolve("server.pem")),
            server.writeKey(directory.resolve("server.key")),
            ca,
            ClientCertificate.REQUIRED);
    Path token = Files.writeString(directory.resolve("token"), "abc123\n");
    AccessControl access = AccessControl.of(Restrictions.NONE, Optional.of(Tokens.open(token)));
    try (PerfFixture fixture =
        new PerfFixture(
            directory,
            PerfFixture.BRIEFLY,
            http -> http.withTls(tls).withAccess(access),
            grpc -> grpc.withTls(tls).withAccess(access))) {
      fixture.identity("m", DataType.FP32, 0, -1);
      for (String address : List.of("https://" + fixture.http(), "grpcs://" + fixture.grpc())) {
        String[] known = {
          "m",
          "-u",
          address,
          "--tls-ca",
          ca.toString(),
          "--tls-cert",
          clientCertificate.toString(),
          "--tls-key",
          clientKey.toString(),
          "--check",
          "--shape"
        };
        fixture.result(with(known, "IN:16", "--token-file", token.toString()));
        fixture.result(
            with(known, "IN:150528", "-H", "authorization:Bearer abc123", "--concurrency", "3"));
        expect(fixture, 1, "wants to know who asks", with(known, "IN:16"));
        expect(fixture, 1, "--tls-ca FILE names its authority", "m", "-u", address);
        String plain = address.replace("https:", "http:").replace("grpcs:", "grpc:");
        // A client that stood still sees no more than a reset.
        await(
            () ->
                fixture.run("m", "-u", plain) == 1
                    && fixture.printed().contains("a port with TLS is asked with https://"),
            "it was never told that the port has TLS");
      }
    }
  }

  private static String[] with(String[] first, String... more) {
    String[] all = Arrays.copyOf(first, first.length + more.length);
    System.arraycopy(more, 0, all, first.length, more.length);
    return all;
  }

  // ---- A server of another kind ----------------------------------------------------------------

  private static void answer(HttpExchange exchange, int status, String body, boolean chunked)
      throws IOException {
    exchange.getRequestBody().readAllBytes();
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, chunked ? 0 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  /** To four requests that succeed there is one error, if there are enough of them. */
  private static boolean failsOneInFive(Map<String, Object> result) {
    double succeeded = PerfFixture.number(result, "requests");
    return Math.abs(PerfFixture.number(result, "errors") / succeeded - 0.25) <= 0.1;
  }

  /** It has a model m, but neither configurations nor statistics. */
  private static HttpServer other() throws IOException {
    HttpServer other = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    String tensor = "{\"name\":\"x\",\"datatype\":\"FP64\",\"shape\":[-1,3]}";
    other.createContext("/", exchange -> answer(exchange, 404, "nothing here", false));
    other.createContext(
        "/v2", exchange -> answer(exchange, 200, "{\"name\":\"other\",\"version\":\"9\"}", false));
    other.createContext("/v2/models/m/", exchange -> answer(exchange, 404, "<p>no</p>", false));
    other.createContext("/v2/models/m/ready", exchange -> answer(exchange, 200, "", false));
    other.createContext(
        "/v2/models/m",
        exchange ->
            answer(
                exchange,
                200,
                "{\"name\":\"m\",\"inputs\":[" + tensor + "],\"outputs\":[" + tensor + "]}",
                true));
    other.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    return other;
  }

  @Test
  void aMeasurementThatIsEndedWhileItRegistersLeavesNothing() throws Exception {
    HttpServer other = other();
    CountDownLatch asked = new CountDownLatch(1);
    AtomicBoolean registered = new AtomicBoolean();
    other.createContext(
        "/v2/systemsharedmemory/region/",
        exchange -> {
          String[] path = exchange.getRequestURI().getPath().split("/");
          registered.set(path[5].equals("register"));
          asked.countDown();
          // The signal removes the file before it waits for this reply.
          Path file = Path.of("/dev/shm", path[4]);
          await(() -> Files.notExists(file), "the signal removes no file");
          answer(exchange, 200, "", false);
        });
    other.start();
    String url = "localhost:" + other.getAddress().getPort();
    Process perf =
        ServeProcess.start(
            Main.class.getName(), List.of("perf", "m", "-u", url, "--input-form", "shm"));
    try {
      asked.await();
      perf.destroy();
      perf.waitFor();
      assertFalse(registered.get());
    } finally {
      perf.destroyForcibly();
      other.stop(0);
    }
  }

  @Test
  void aRegistrationWhoseReplyIsLostIsUndone() throws Exception {
    HttpServer other = other();
    List<String> asked = new CopyOnWriteArrayList<>();
    other.createContext(
        "/v2/systemsharedmemory/region/",
        exchange -> {
          String[] path = exchange.getRequestURI().getPath().split("/");
          asked.add(path[5]);
          if (path[5].equals("register")) {
            exchange.close();
          } else {
            answer(exchange, 200, "", false);
          }
        });
    other.start();
    try (PerfFixture fixture = new PerfFixture(directory, PerfFixture.BRIEFLY)) {
      String url = "localhost:" + other.getAddress().getPort();
      expect(fixture, 1, "expected a server at", "m", "-u", url, "--input-form", "shm");
      assertEquals(List.of("register", "unregister"), asked);
    } finally {
      other.stop(0);
    }
  }

  /** It sends chunks, and closes connections. */
  @Test
  void serversWithTheProtocolAlone() throws Exception {
    HttpServer other = other();
    AtomicInteger count = new AtomicInteger();
    other.createContext(
        "/v2/models/m/infer",
        exchange -> {
          int number = count.incrementAndGet();
          if (number % 7 == 0) {
            exchange.getResponseHeaders().set("Connection", "close");
          }
          String values =
              "[{\"name\":\"x\",\"datatype\":\"FP64\",\"shape\":[1,3],\"data\":[1,2,3]}]";
          answer(
              exchange,
              number % 5 == 0 ? 503 : 200,
              number % 5 == 0 ? "{\"error\":\"busy\"}" : "{\"outputs\":" + values + "}",
              number % 2 == 0);
        });
    other.start();
    try (PerfFixture fixture = new PerfFixture(directory, PerfFixture.BRIEFLY)) {
      Map<String, Object> result =
          fixture.measureUntil(
              PerfErrorsTest::failsOneInFive,
              "m",
              "-u",
              "localhost:" + other.getAddress().getPort(),
              "--input-form",
              "json",
              "--check",
              "--concurrency",
              "2");
      assertTrue(fixture.printed().contains("HTTP 503: busy"), fixture::printed);
      assertEquals(null, result.get("server_queue_us"));
    } finally {
      other.stop(0);
    }
  }
}
