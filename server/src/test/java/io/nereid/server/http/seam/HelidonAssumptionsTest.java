package io.nereid.server.http.seam;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The behaviour of Helidon on which the connections of this package rely, seen with nothing of ours
 * between but a reader and a writer. An upgrade that changes it fails here.
 */
class HelidonAssumptionsTest {

  private static final int BODY_BYTES = 100_000;

  private final List<String> events = new CopyOnWriteArrayList<>();
  private volatile int supplied; // bytes that Helidon was given
  private volatile int beforeSelector; // bytes that Helidon had read when it asked for a connection

  private WebServer server;

  @BeforeEach
  void start() {
    server =
        WebServer.builder()
            .address(InetAddress.getLoopbackAddress())
            .shutdownHook(false)
            .protocolsDiscoverServices(false)
            .addConnectionSelector(new Recording())
            .addRouting(
                HttpRouting.builder()
                    .get("/short", (request, response) -> response.send("short"))
                    .post("/unread", (request, response) -> response.send("unread"))
                    .post(
                        "/read",
                        (request, response) -> {
                          int count = request.content().inputStream().readAllBytes().length;
                          events.add("read " + count);
                          response.send("read");
                        }))
            .build()
            .start();
  }

  @AfterEach
  void stop() {
    server.stop();
  }

  /** A token succeeds once for each request, behind its reply and the end of its body. */
  @Test
  void aTokenSucceedsWhenTheRequestHasEnded() throws Exception {
    ask("GET /short HTTP/1.1\r\nHost: a\r\n\r\n", "short", "write", "success");
    ask(post("/unread"), "unread", "write", "success");
    ask(post("/read"), "read", "read " + BODY_BYTES, "write", "success");
  }

  /** A selector that needs no byte to decide gets the connection before anything was read. */
  @Test
  void nothingButTheReaderReads() throws Exception {
    String request = "GET /short HTTP/1.1\r\nHost: a\r\n\r\n";
    ask(request, "short", "write", "success");
    assertEquals(0, beforeSelector);
    assertEquals(request.length(), supplied);
  }

  /** A body takes exactly as many bytes of what the reader supplies as its length says. */
  @Test
  void aBodyIsCountedByWhatTheReaderSupplies() throws Exception {
    String request = post("/read");
    ask(request + request, "read", "read " + BODY_BYTES, "write", "success");
    await(2);
    assertEquals(2 * request.length(), supplied);
    assertEquals(events.subList(0, events.size() / 2), events.subList(events.size() / 2, 6));
  }

  private static String post(String path) {
    return "POST "
        + path
        + " HTTP/1.1\r\nHost: a\r\nContent-Length: "
        + BODY_BYTES
        + "\r\n\r\n"
        + "x".repeat(BODY_BYTES);
  }

  private void ask(String request, String reply, String... expected) throws Exception {
    events.clear();
    supplied = 0;
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      client.setSoTimeout(20_000);
      OutputStream out = client.getOutputStream();
      out.write(request.getBytes(StandardCharsets.US_ASCII));
      StringBuilder got = new StringBuilder();
      while (!got.toString().endsWith(reply)) {
        int next = client.getInputStream().read();
        assertTrue(next >= 0, () -> "expected a reply that ends with " + reply + ", got " + got);
        got.append((char) next);
      }
      await(1);
    }
    assertEquals(List.of(expected), events.subList(0, expected.length));
  }

  private void await(int successes) throws InterruptedException {
    long startNs = System.nanoTime();
    while (events.stream().filter("success"::equals).count() < successes) {
      assertTrue(
          System.nanoTime() - startNs < Duration.ofSeconds(20).toNanos(),
          () -> "expected " + successes + " successes, got " + events);
      Thread.sleep(1);
    }
  }

  /** Hands each connection to Helidon's HTTP/1.1, with a reader and a writer that are watched. */
  private final class Recording implements ServerConnectionSelector {

    private final Http1ConnectionSelector http1 =
        Http1ConnectionSelector.builder().config(Http1Config.create()).build();

    @Override
    public int bytesToIdentifyConnection() {
      return 0;
    }

    @Override
    public Support supports(BufferData data) {
      beforeSelector += data.available();
      return Support.SUPPORTED;
    }

    @Override
    public Set<String> supportedApplicationProtocols() {
      return Set.of("http/1.1");
    }

    @Override
    public ServerConnection connection(ConnectionContext original) {
      DataReader from = original.dataReader();
      beforeSelector += from.available();
      DataReader reader =
          DataReader.create(() -> {
            from.ensureAvailable();
            byte[] bytes = from.readBytes(from.available());
            supplied += bytes.length;
            return bytes;
          });
      ServerConnection helidon = http1.connection(replaced(original, reader));
      return new ServerConnection() {
        @Override
        public void handle(Limit none) throws InterruptedException {
          helidon.handle(new RequestLimit(() -> events.add("success")));
        }

        @Override
        public Duration idleTime() {
          return helidon.idleTime();
        }

        @Override
        public void close(boolean interrupt) {
          helidon.close(interrupt);
        }
      };
    }

    private ConnectionContext replaced(ConnectionContext original, DataReader reader) {
      DataWriter writer = recording(original.dataWriter());
      return (ConnectionContext)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {ConnectionContext.class},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "dataReader" -> reader;
                    case "dataWriter" -> writer;
                    default -> method.invoke(original, arguments);
                  });
    }

    private DataWriter recording(DataWriter original) {
      return (DataWriter)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {DataWriter.class},
              (proxy, method, arguments) -> {
                if (method.getName().startsWith("write")) {
                  events.add("write");
                }
                return method.invoke(original, arguments);
              });
    }
  }
}
