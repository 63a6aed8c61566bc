package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.Backend;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.server.shared.ServerState;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that ask for more than their share, and the others beside them. */
class FairnessTest {

  private static final int POOL_BYTES = 64 << 20;
  private static final int LARGE_BYTES = 12 << 20;
  private static final int MODEST_BYTES = 8 << 10;

  private static byte[] head(int bytes) {
    String json =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,"
            + bytes / Float.BYTES
            + "],\"parameters\":{\"binary_data_size\":"
            + bytes
            + "}}],\"parameters\":{\"binary_data_output\":true}}";
    String head =
        "POST /v2/models/FP32/infer HTTP/1.1\r\nHost: a\r\nInference-Header-Content-Length: "
            + json.length()
            + "\r\nContent-Length: "
            + (json.length() + bytes)
            + "\r\n\r\n"
            + json;
    return head.getBytes(StandardCharsets.US_ASCII);
  }

  /** The beginning of a request whose tensor is JSON. */
  private static byte[] json(int bytes) {
    return ("POST /v2/models/FP32/infer HTTP/1.1\r\nHost: a\r\nContent-Length: "
            + bytes
            + "\r\n\r\n{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,"
            + bytes / Float.BYTES
            + "],\"data\":[0,")
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** Heads that announce large tensors, of which nothing comes: each takes memory of the pool. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void announcedTensorsDoNotTakeThePoolFromOthers(boolean asJson) throws Exception {
    NereidOptions options = NereidOptions.builder().poolByteLimit(POOL_BYTES).build();
    List<RawClient> attackers = new ArrayList<>();
    try (Nereid nereid = Nereid.open(RepositoryOptions.builder().explicit().build(), options)) {
      nereid.load(TestServer.identity("FP32", DataType.FP32).build());
      ServerState state = ServerState.builder(nereid).build();
      HttpServer server = HttpServer.start(state, HttpOptions.DEFAULT);
      try (RawClient modest = new RawClient(server.port())) {
        modest.send(head(MODEST_BYTES)); // no faster, but it takes little
        TestServer.await(() -> nereid.poolStatistics().liveBytes() > 0, "it was not read");
        for (int i = 0; i < 10; i++) {
          attackers.add(
              new RawClient(server.port()).send(asJson ? json(LARGE_BYTES) : head(LARGE_BYTES)));
        }
        TestServer.await(
            () -> nereid.poolStatistics().liveBytes() >= 2 * LARGE_BYTES, "no head was read");
        try (RawClient small = new RawClient(server.port())) {
          small.send(head(64)).send(new byte[64]).receive().expect(200);
        }
        // The slow ones are given up as soon as another one wants their place.
        TestServer.await(() -> isServed(server.port()), "there is no place for a large tensor");
        modest.send(new byte[MODEST_BYTES]).receive().expect(200);
      } finally {
        for (RawClient attacker : attackers) {
          attacker.close();
        }
        server.stop(Duration.ZERO);
      }
    }
  }

  private static boolean isServed(int port) {
    try (RawClient large = new RawClient(port)) {
      return large.send(head(LARGE_BYTES)).send(new byte[LARGE_BYTES]).receive().status() == 200;
    } catch (IOException e) {
      return false; // it was told so before it had sent everything
    }
  }

  /** Clients that send on and on keep their threads busy: others have their turns meanwhile. */
  @Test
  void othersHaveTheirTurnsBesideRequestsInARow() throws Exception {
    int count = 8;
    CountDownLatch started = new CountDownLatch(count);
    List<RawClient> clients = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    try (TestServer server = new TestServer().identity(DataType.FP32);
        RawClient victim = server.connect()) {
      victim.get("/v2/health/live").expect(200);
      for (int i = 0; i < count; i++) {
        RawClient client = server.connect();
        clients.add(client);
        threads.add(Thread.ofVirtual().start(() -> send(client)));
        threads.add(Thread.ofPlatform().start(() -> receive(client, started)));
      }
      started.await();
      for (int i = 0; i < 20; i++) {
        victim.get("/v2/health/live").expect(200);
      }
      for (RawClient client : clients) {
        client.close();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  /** Replies that take long to write, on more connections than there are processors. */
  @ParameterizedTest
  @CsvSource({
    "1000000, X-None: 0, '\"binary_data\":false'",
    "2000000, Accept-Encoding: gzip, '\"binary_data\":true'",
    "400000, X-None: 0, '\"binary_data\":true,\"classification\":1000000'"
  })
  void othersHaveTheirTurnsBesideLongReplies(int count, String field, String parameters)
      throws Exception {
    float[] values = new float[count];
    Random random = new Random(1);
    for (int i = 0; i < count; i++) {
      values[i] = 3e38f * random.nextFloat();
    }
    Backend backend = context -> batch -> batch.output("OUT", Tensor.ofFloats(values, count));
    byte[] request =
        RawClient.request(
            "/v2/models/long/infer",
            field + "\r\n",
            ("{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"BOOL\",\"shape\":[1],\"data\":[true]}],"
                    + "\"outputs\":[{\"name\":\"OUT\",\"parameters\":{"
                    + parameters
                    + "}}]}")
                .getBytes(StandardCharsets.US_ASCII));
    int busy = 2 * Runtime.getRuntime().availableProcessors();
    try (TestServer server = new TestServer();
        RawClient victim = server.connect()) {
      server.load(
          ModelSpec.builder("long")
              .backend(backend)
              .input("IN", DataType.BOOL, 1)
              .output("OUT", DataType.FP32, -1));
      victim.get("/v2/health/live").expect(200);
      boolean inTime = false;
      for (int round = 0; round < 10 && !inTime; round++) { // any thread may be slow in one
        inTime = isBesideLongReplies(server, victim, busy, request);
      }
      assertTrue(inTime, "others wait for whole replies");
    }
  }

  /** Whether a client has some turns while all of the busy ones wait for their replies. */
  private static boolean isBesideLongReplies(
      TestServer server, RawClient victim, int busy, byte[] request) throws IOException {
    List<RawClient> clients = new ArrayList<>();
    try {
      long wanted = server.statistics("long").inferenceCount() + busy;
      for (int i = 0; i < busy; i++) {
        clients.add(server.connect().send(request));
      }
      TestServer.await(
          () ->
              server.statistics("long").inferenceCount() >= wanted
                  || clients.stream().anyMatch(FairnessTest::isAnswered),
          "the requests are not executed");
      for (int i = 0; i < 5; i++) {
        victim.get("/v2/health/live").expect(200);
      }
      return clients.stream().noneMatch(FairnessTest::isAnswered);
    } finally {
      for (RawClient client : clients) {
        client.close();
      }
    }
  }

  private static boolean isAnswered(RawClient client) {
    try {
      return client.socket().getInputStream().available() > 0;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Sends requests without waiting for their replies, until the client is closed. */
  private static void send(RawClient client) {
    String many = "GET /v2/models/stats HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100);
    try {
      while (true) {
        client.send(many);
      }
    } catch (IOException e) {
      return; // it is closed
    }
  }

  private static void receive(RawClient client, CountDownLatch started) {
    try {
      while (true) {
        client.receive().expect(200);
        started.countDown();
      }
    } catch (IOException e) {
      return; // it is closed
    }
  }
}
