package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelEvent;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.HttpLimits;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.http.TestServer;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import io.nereid.server.metrics.MetricsOptions;
import io.nereid.server.trace.TraceLevel;
import io.nereid.server.trace.TraceOptions;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The order in which a server starts. */
class NereidServerTest {

  private static final Path MODELS = Path.of("..", "examples", "models");

  /** The ports that are tried, since others may take one that was free. */
  private static final int PORTS = 5;

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static HttpOptions at(int port) {
    return HttpOptions.DEFAULT.withPort(port).withExitTimeout(Duration.ofSeconds(10));
  }

  private static HttpResponse<String> ask(HttpClient client, int port, String method, String path)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .method(
                method,
                method.equals("GET") ? BodyPublishers.noBody() : BodyPublishers.ofString("{}"))
            .timeout(TestServer.PATIENCE)
            .build();
    return client.send(request, BodyHandlers.ofString());
  }

  @Test
  void healthAnswersWhileModelsAreLoaded() throws Exception {
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    RepositoryOptions repository =
        RepositoryOptions.builder()
            .repository(MODELS)
            .explicit("identity_fp32")
            .listener(event -> {
              if (event instanceof ModelEvent.Loading) {
                loading.countDown();
                await(goOn);
              }
            })
            .build();
    int port;
    CompletableFuture<NereidServer> starting;
    int left = PORTS;
    do { // another program may take it first
      port = freePort();
      ServerOptions options = ServerOptions.DEFAULT.withRepository(repository).withHttp(at(port));
      starting = CompletableFuture.supplyAsync(() -> NereidServer.start(options));
      while (loading.getCount() > 0 && !starting.isDone()) {
        Thread.sleep(1);
      }
    } while (loading.getCount() > 0 && --left > 0);
    try (HttpClient client = HttpClient.newHttpClient()) {
      assertEquals(0, loading.getCount());
      assertEquals(200, ask(client, port, "GET", "/v2/health/live").statusCode());
      assertEquals(503, ask(client, port, "GET", "/v2/health/ready").statusCode());
      assertEquals(503, ask(client, port, "GET", "/v2/models/identity_fp32/ready").statusCode());
      assertEquals(200, ask(client, port, "GET", "/v2").statusCode());
      assertEquals(200, ask(client, port, "GET", "/v2/systemsharedmemory/status").statusCode());
      assertEquals(501, ask(client, port, "GET", "/v2/logging").statusCode()); // it has none
      for (String path :
          List.of(
              "POST /v2/models/identity_fp32/infer",
              "POST /v2/models/other/infer",
              "POST /v2/repository/index",
              "POST /v2/repository/models/simple/load",
              "GET /v2/models/identity_fp32",
              "GET /v2/models/stats")) {
        HttpResponse<String> response = ask(client, port, path.split(" ")[0], path.split(" ")[1]);
        assertEquals(503, response.statusCode(), path);
        assertTrue(response.body().contains("its models are being loaded"), response.body());
      }
      goOn.countDown();
      try (NereidServer server = starting.get(60, TimeUnit.SECONDS)) {
        assertEquals(200, ask(client, port, "GET", "/v2/health/ready").statusCode());
        assertEquals(200, ask(client, port, "GET", "/v2/models/identity_fp32").statusCode());
        assertEquals(
            List.of(new NereidServer.Frontend("HTTP", "http://127.0.0.1:" + port)),
            server.frontends());
        assertEquals(
            List.of("runtime", "HTTP", "models"),
            server.startTimes().stream().map(NereidServer.StartPart::name).toList());
      }
    } finally {
      goOn.countDown();
    }
  }

  @Test
  void itIsHandedOverBeforeItTakesRequests() {
    RepositoryOptions repository =
        RepositoryOptions.builder().repository(MODELS).explicit("identity_fp32").build();
    ServerOptions options = ServerOptions.DEFAULT.withRepository(repository).withHttp(at(0));
    List<Boolean> readiness = new ArrayList<>();
    try (NereidServer server =
        NereidServer.start(options, early -> readiness.add(early.isReady()))) {
      readiness.add(server.isReady());
    }
    assertEquals(List.of(false, true), readiness);
    try (NereidServer stopped = NereidServer.start(options, NereidServer::stop)) {
      assertFalse(stopped.isReady());
    }
  }

  @Test
  void aTakenPortIsKnownBeforeModelsAreLoaded() throws Exception {
    AtomicInteger events = new AtomicInteger();
    RepositoryOptions repository =
        RepositoryOptions.builder()
            .repository(MODELS)
            .listener(event -> events.incrementAndGet())
            .build();
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      ServerOptions options =
          ServerOptions.DEFAULT.withRepository(repository).withHttp(at(taken.getLocalPort()));
      NereidException failure =
          assertThrows(NereidException.class, () -> NereidServer.start(options));
      String where = "127.0.0.1:" + taken.getLocalPort();
      assertTrue(failure.getMessage().contains("listen at " + where), failure::getMessage);
    }
    assertEquals(0, events.get());
  }

  @Test
  void soIsATakenPortOfGrpc() throws Exception {
    AtomicInteger events = new AtomicInteger();
    RepositoryOptions repository =
        RepositoryOptions.builder()
            .repository(MODELS)
            .listener(event -> events.incrementAndGet())
            .build();
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      ServerOptions options =
          ServerOptions.DEFAULT
              .withRepository(repository)
              .withHttp(at(0))
              .withGrpc(GrpcOptions.DEFAULT.withPort(taken.getLocalPort()));
      NereidException failure =
          assertThrows(NereidException.class, () -> NereidServer.start(options));
      String where = "127.0.0.1:" + taken.getLocalPort();
      assertTrue(
          failure.getMessage().startsWith("cannot serve gRPC at " + where), failure::getMessage);
    }
    assertEquals(0, events.get());
  }

  @Test
  void aStartThatFailsClosesThePort(@TempDir Path repository) throws Exception {
    Files.createDirectories(repository.resolve("broken/1"));
    Files.writeString(repository.resolve("broken/config.pbtxt"), "backend: \"none\"");
    boolean isFree = false;
    for (int left = PORTS; !isFree && left > 0; left--) { // another program may take it
      int port = freePort();
      ServerOptions options =
          ServerOptions.DEFAULT
              .withRepository(RepositoryOptions.builder().repository(repository).build())
              .withHttp(at(port));
      String failure =
          assertThrows(NereidException.class, () -> NereidServer.start(options)).getMessage();
      isFree = !failure.contains("listen at") && isFree(port);
    }
    assertTrue(isFree, "the port stays open");
  }

  private static boolean isFree(int port) throws IOException {
    try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return free.isBound();
    } catch (BindException e) {
      return false;
    }
  }

  @Test
  void aStartThatFailsEndsTheAccessLog(@TempDir Path directory) throws Exception {
    try (LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.empty())) {
      ServerOptions options =
          ServerOptions.DEFAULT
              .withRepository(
                  RepositoryOptions.builder().repository(directory.resolve("none")).build())
              .withAccessLog(AccessLog.toFile(directory.resolve("access"), log));
      assertThrows(NereidException.class, () -> NereidServer.start(options));
      TestServer.await(() -> !TestServer.hasThread("nrd-access-log"), "its thread goes on");
    }
  }

  @Test
  void timeoutsWithoutAnEndStopLikeOthers() {
    Duration endless = Duration.ofSeconds(Long.MAX_VALUE);
    HttpLimits limits = new HttpLimits(1 << 20, 16 << 10, 65_536, 100, 100, endless, endless);
    NereidServer server =
        NereidServer.start(
            ServerOptions.DEFAULT
                .withHttp(HttpOptions.DEFAULT.withLimits(limits).withExitTimeout(endless))
                .withMetrics(MetricsOptions.DEFAULT.withInterval(endless))
                .withTrace(
                    TraceOptions.OFF
                        .withFile(Path.of("target", "traces.json").toString())
                        .withLevels(TraceLevel.TIMESTAMPS))
                .withExitTimeout(endless));
    assertTrue(server.stop());
  }

  @Test
  void httpCanBeLeftOut() {
    try (NereidServer server = NereidServer.start(ServerOptions.DEFAULT.withoutHttp())) {
      assertEquals(List.of(), server.frontends());
      assertTrue(server.stop());
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(60, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
