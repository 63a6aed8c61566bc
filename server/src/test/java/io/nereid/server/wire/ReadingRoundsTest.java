package io.nereid.server.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.server.http.GateBackend;
import io.nereid.server.http.HttpLimits;
import io.nereid.server.http.HttpOptions;
import io.nereid.server.http.HttpServer;
import io.nereid.server.http.RawClient;
import io.nereid.server.http.TestServer;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerState;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that one thread reads are served as if each had its own. */
class ReadingRoundsTest {

  private static final String LIVE = "/v2/health/live";

  /** More connections than there are rounds, so that some share one. */
  private static final int CLIENTS = 2 * Runtime.getRuntime().availableProcessors() + 2;

  private static final int PERMITS = 1_000_000;

  /** More than the most that a connection serves alone, also on a machine that is busy. */
  private static final int MANY = 20_000;

  /** Elements of a tensor that is read in more than one piece. */
  private static final int LARGE = 60_000;

  private final HeapBudget heap = new HeapBudget(64 << 20);
  private final Nereid nereid = Nereid.create();
  private final GateBackend gate = new GateBackend();
  private final List<RawClient> clients = new ArrayList<>();
  private ConnectionWatch watch;
  private HttpPort port;

  @BeforeEach
  void open() {
    nereid.load(identity("identity").backend("identity").build());
    nereid.load(identity("gate").backend(gate).inline(true).build());
    listen(HttpOptions.DEFAULT);
  }

  private static ModelSpec.Builder identity(String name) {
    return ModelSpec.builder(name)
        .input("IN", DataType.FP32, -1, -1)
        .output("OUT", DataType.FP32, -1, -1);
  }

  private void listen(HttpOptions options) {
    watch = new ConnectionWatch("nrd-http");
    ServerState state = ServerState.builder(nereid).build();
    WireContext context = HttpServer.context(state, options, watch, heap);
    port = HttpPort.open("HTTP", options.address(), 0, Optional.empty(), context, () -> {});
  }

  @AfterEach
  void close() throws IOException {
    for (RawClient client : clients) {
      client.close();
    }
    gate.open(PERMITS);
    assertTrue(port.stop(TestServer.PATIENCE), "requests were still under way");
    assertEquals(0, watch.count());
    assertEquals(0, watch.rounds().size());
    assertEquals(0, heap.takenByConnections());
    assertEquals(0, heap.takenByRequests());
    TestServer.await(() -> !TestServer.hasThread("nrd-http-reader"), "a thread still reads");
    nereid.close();
  }

  private static String infer(long value) {
    return "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":["
        + value
        + "]}]}";
  }

  private static byte[] request(String model, long value) {
    byte[] body = infer(value).getBytes(StandardCharsets.US_ASCII);
    return RawClient.request("/v2/models/" + model + "/infer", "", body);
  }

  private static void check(long value, RawClient.Response reply) {
    String wanted = "\"data\":[" + value + ".0]";
    assertTrue(reply.expect(200).text().contains(wanted), reply::text);
  }

  /** Connections that are in rounds, all of them. */
  private List<RawClient> joined(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      clients.add(new RawClient(port.number()));
    }
    TestServer.await(
        () -> {
          expectServed(clients);
          return watch.rounds().size() == clients.size();
        },
        "some are in no round");
    return clients;
  }

  private static void expectServed(List<RawClient> some) {
    try {
      for (RawClient client : some) {
        check(8, client.send(request("identity", 8)).receive());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Its requests are served in a round, unless they are found to take long. */
  private void findQuick(RawClient client) throws Exception {
    for (int i = 0; i < 100 || (i < MANY && watch.rounds().size() < clients.size()); i++) {
      gate.open(1);
      check(i, client.send(request("gate", i)).receive());
      gate.awaitBatch();
    }
  }

  /** Each comes when nobody else is there to wake the thread that goes round. */
  @Test
  void whoeverJoinsIsHeard() throws Exception {
    for (int i = 0; i < 500; i++) {
      try (RawClient client = new RawClient(port.number())) {
        for (int request = 0; request < 7; request++) {
          check(i, client.send(request("identity", i)).receive());
        }
      }
    }
  }

  @Test
  void aModelThatWasQuickAndBlocksKeepsNobodyWaiting() throws Exception {
    List<RawClient> all = joined(CLIENTS);
    RawClient first = all.getFirst();
    RawClient second = all.get(1);
    List<RawClient> others = all.subList(2, all.size());
    findQuick(first);
    first.send(request("gate", 1));
    gate.awaitBatch();
    expectServed(others);
    second.send(request("gate", 2));
    TestServer.await(() -> nereid.model("gate").statistics().pendingCount() == 1, "it runs");
    expectServed(others);
    gate.open(2);
    check(1, first.receive());
    check(2, second.receive());
    expectServed(all);
  }

  /** Sends so much that a thread of the platform goes round, where the machine is quick enough. */
  private void makeBusy(List<RawClient> all) throws Exception {
    boolean busy = false;
    for (int i = 0; i < MANY && !busy; i++) {
      for (RawClient client : all) {
        client.send(request("identity", i));
      }
      for (RawClient client : all) {
        check(i, client.receive());
      }
      busy = watch.rounds().size() == all.size() && TestServer.hasThread("nrd-http-reader");
    }
    assumeTrue(busy, "it is never busy here");
  }

  @Test
  void aBusyRoundKeepsNobodyWaiting() throws Exception {
    List<RawClient> all = joined(CLIENTS);
    findQuick(all.getFirst());
    for (int i = 0; i < 3; i++) {
      makeBusy(all);
      for (RawClient slow : List.of(all.getFirst(), all.get(1))) {
        slow.send(request("gate", i));
        gate.awaitBatch();
        expectServed(all.subList(2, all.size()));
        gate.open(1);
        check(i, slow.receive());
        expectServed(all);
      }
    }
  }

  /** A connection of large requests is in no round, but joins one now and then. */
  @Test
  void aBusyConnectionOfItsOwnIsServedByAThreadOfThePlatform() throws Exception {
    nereid.load(identity("slow").backend(gate).build());
    gate.open(PERMITS);
    clients.add(new RawClient(port.number()));
    RawClient client = clients.getFirst();
    boolean busy = false;
    for (int i = 0; i < 1000 && !busy; i++) {
      sendLarge(client, i);
      busy = watch.rounds().size() == 0 && TestServer.hasThread("nrd-http-reader");
    }
    assumeTrue(busy, "it is never busy here");
    for (int i = 0; i < 1000; i++) {
      if (i % 50 < 10) {
        check(i, client.send(request("slow", i)).receive());
      } else {
        sendLarge(client, i);
      }
    }
    gate.close();
    client.send(request("slow", 1));
    gate.awaitBatch(); // and leaves while that executes
  }

  private static void sendLarge(RawClient client, int seed) throws IOException {
    byte[] tensor = new byte[4 * LARGE];
    new Random(seed).nextBytes(tensor);
    byte[] json =
        ("{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,"
                + LARGE
                + "],\"parameters\":{\"binary_data_size\":"
                + tensor.length
                + "}}],\"parameters\":{\"binary_data_output\":true}}")
            .getBytes(StandardCharsets.US_ASCII);
    String fields = "Inference-Header-Content-Length: " + json.length + "\r\n";
    byte[] body = RawClient.concat(json, tensor);
    client.send(RawClient.request("/v2/models/slow/infer", fields, body));
    byte[] reply = client.receive().expect(200).body();
    assertArrayEquals(
        tensor, Arrays.copyOfRange(reply, reply.length - tensor.length, reply.length));
  }

  @Test
  void halfARequestKeepsNobodyWaiting() throws Exception {
    List<RawClient> all = joined(CLIENTS);
    byte[] request = request("identity", 3);
    for (int end : new int[] {1, 20, request.length - 1}) {
      for (RawClient client : all) {
        client.send(Arrays.copyOf(request, end));
      }
      try (RawClient other = new RawClient(port.number())) {
        expectServed(List.of(other));
      }
      for (RawClient client : all.reversed()) {
        check(3, client.send(Arrays.copyOfRange(request, end, request.length)).receive());
      }
    }
  }

  @Test
  void whatIsSentWithoutWaitingIsAnsweredInOrder() throws Exception {
    RawClient client = joined(CLIENTS).getFirst();
    byte[] many = {};
    for (int i = 0; i < 300; i++) {
      many = RawClient.concat(many, request("identity", i));
    }
    client.send(many);
    for (int i = 0; i < 300; i++) {
      check(i, client.receive());
    }
  }

  /** Until the kernel takes no more of the replies, and then all of them at once. */
  @Test
  void aClientThatReadsNothingKeepsNobodyWaiting() throws Exception {
    List<RawClient> all = joined(CLIENTS);
    RawClient deaf = all.getFirst();
    byte[] body =
        infer(5)
            .replaceFirst("\\{", "{\"id\":\"" + "x".repeat(3000) + "\",")
            .getBytes(StandardCharsets.US_ASCII);
    byte[] request = RawClient.request("/v2/models/identity/infer", "", body);
    long before = inferences();
    int sent = 0;
    while (watch.rounds().size() == all.size()) {
      deaf.send(request);
      long wanted = before + ++sent;
      TestServer.await(
          () -> inferences() == wanted || watch.rounds().size() < all.size(), "nobody reads it");
    }
    expectServed(all.subList(1, all.size()));
    for (int i = 0; i < sent; i++) {
      check(5, deaf.receive());
    }
    expectServed(all);
  }

  private long inferences() {
    return nereid.model("identity").statistics().inferenceCount();
  }

  @Test
  void whoGoesAwayIsForgotten() throws Exception {
    List<RawClient> all = joined(CLIENTS);
    for (int i = 0; i < all.size(); i++) {
      if (i % 2 == 0) {
        all.get(i).socket().setSoLinger(true, 0); // it is reset
      }
      all.get(i).close();
    }
    all.clear();
    TestServer.await(() -> watch.count() == 0, "connections are still there");
    assertEquals(0, watch.rounds().size());
    joined(1);
  }

  @Test
  void aConnectionThatIsIdleForTooLongIsClosed() throws Exception {
    assertTrue(port.stop(TestServer.PATIENCE));
    HttpLimits usual = HttpLimits.DEFAULT;
    listen(
        HttpOptions.DEFAULT.withLimits(
            new HttpLimits(
                usual.bodyBytes(),
                usual.headBytes(),
                usual.chunkCount(),
                usual.jsonDepth(),
                usual.connectionCount(),
                usual.requestTime(),
                Duration.ofMillis(500))));
    for (RawClient client : joined(2)) {
      assertTrue(client.isClosedByServer());
    }
    TestServer.await(() -> watch.count() == 0, "connections are still there");
  }

  @Test
  void aServerThatStopsClosesThem() throws Exception {
    List<RawClient> all = joined(CLIENTS);
    assertTrue(port.stop(TestServer.PATIENCE));
    assertEquals(0, watch.count());
    for (RawClient client : all) {
      assertTrue(client.isClosedByServer());
    }
  }

  /** Clients of all habits at once, and rounds that connections are moved between. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void everyRequestHasItsOwnAnswer(long seed) throws Exception {
    gate.open(PERMITS);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Random random = new Random(seed * 1000 + i);
      threads.add(
          Thread.startVirtualThread(() -> {
            try {
              for (int connection = 0; connection < 5; connection++) {
                ask(random, 1 + random.nextInt(400));
              }
            } catch (Throwable e) {
              failure.set(e);
            }
          }));
    }
    Random random = new Random(seed);
    ReadingRounds rounds = watch.rounds();
    while (threads.stream().anyMatch(Thread::isAlive)) {
      Thread.sleep(random.nextInt(20));
      rounds.use(random.nextBoolean() ? rounds.half : rounds.most);
    }
    if (failure.get() != null) {
      throw new AssertionError("seed " + seed, failure.get());
    }
  }

  /** One connection, with requests in pieces, together, short, long, and none. */
  private void ask(Random random, int count) throws Exception {
    try (RawClient client = new RawClient(port.number())) {
      for (int i = 0; i < count; i++) {
        int value = random.nextInt(1_000_000);
        byte[] request = request(random.nextInt(8) == 0 ? "gate" : "identity", value);
        switch (random.nextInt(24)) {
          case 0 -> {
            int middle = random.nextInt(request.length);
            client.send(Arrays.copyOf(request, middle));
            Thread.sleep(random.nextInt(3));
            check(
                value, client.send(Arrays.copyOfRange(request, middle, request.length)).receive());
          }
          case 1 -> {
            client.send(RawClient.concat(request, request("identity", value + 1)));
            check(value, client.receive());
            check(value + 1, client.receive());
          }
          case 2 -> {
            byte[] spaces = " ".repeat(100_000).getBytes(StandardCharsets.US_ASCII);
            byte[] body = infer(value).getBytes(StandardCharsets.US_ASCII);
            check(
                value,
                client.post("/v2/models/identity/infer", "", RawClient.concat(body, spaces)));
          }
          case 3 -> client.get("/v2/models/unknown/ready").expect(404);
          case 4 -> client.get(LIVE).expect(200);
          default -> check(value, client.send(request).receive());
        }
      }
      if (random.nextBoolean()) {
        client.socket().setSoLinger(true, 0);
      }
    }
  }
}
