package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.LoggedLines;
import io.nereid.types.DataType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many clients at once that come, go, and break off anywhere. */
class DisconnectChurnTest {

  private static final int CLIENTS = 16;
  private static final int CONNECTIONS = 60;

  private static byte[] request(int elements) {
    String json =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,"
            + elements
            + "],\"parameters\":{\"binary_data_size\":"
            + elements * Float.BYTES
            + "}}],\"parameters\":{\"binary_data_output\":true}}";
    return RawClient.request(
        "/v2/models/slow/infer",
        "Inference-Header-Content-Length: " + json.length() + "\r\n",
        RawClient.concat(
            json.getBytes(StandardCharsets.US_ASCII), new byte[elements * Float.BYTES]));
  }

  @Test
  void aClientMayUseOnePortForTwoAddressesOfTheServer() throws Exception {
    HttpOptions options = HttpOptions.DEFAULT.withAddress(InetAddress.ofLiteral("0.0.0.0"));
    try (TestServer everywhere = new TestServer(options)) {
      for (int i = 0; i < 30; i++) {
        try (Socket first = new Socket();
            Socket second = new Socket()) {
          first.setReuseAddress(true);
          second.setReuseAddress(true);
          first.bind(new InetSocketAddress("127.0.0.1", 0));
          second.bind(first.getLocalSocketAddress());
          first.connect(new InetSocketAddress("127.0.0.1", everywhere.port()));
          second.connect(new InetSocketAddress("127.0.0.2", everywhere.port()));
          new RawClient(first).get("/v2").expect(200);
          new RawClient(second).get("/v2").expect(200);
        }
      }
    }
  }

  @Test
  void nothingIsLeftBehind() throws Exception {
    byte[][] requests = {request(4), request(1000), request(60_000)};
    AtomicInteger answered = new AtomicInteger();
    AtomicInteger wrong = new AtomicInteger();
    try (TestServer server =
        new TestServer()
            .load(
                TestServer.identity("slow", DataType.FP32)
                    .inline(false)
                    .instanceCount(2)
                    .parameter("execute_delay_ms", "1"))) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        Random random = new Random(i);
        threads.add(
            Thread.startVirtualThread(() -> {
              for (int j = 0; j < CONNECTIONS; j++) {
                converse(server, requests, random, answered, wrong);
              }
            }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      server.awaitNoLiveBuffers();
      TestServer.await(
          () -> server.statistics("slow").pendingCount() == 0, "requests are still waiting");
      assertEquals(0, wrong.get());
      assertTrue(answered.get() > CLIENTS * 10, "only " + answered + " were answered");
      try (RawClient client = server.connect()) {
        client.send(requests[0]).receive().expect(200);
      }
    }
  }

  /** Requests that fail, from clients that leave while they are answered. */
  @Test
  void failuresThatNobodyHearsOfAreNotLogged() throws Exception {
    String failing = "GET /v2/models/nobody HTTP/1.1\r\nHost: a\r\n\r\n".repeat(200);
    try (TestServer server = new TestServer()) {
      LoggedLines logged = new LoggedLines();
      for (int i = 0; i < 20; i++) {
        try (RawClient client = server.connect()) {
          client.socket().setSoLinger(true, 0); // it goes with a reset
          client.send(failing).receive().expect(404);
        }
      }
      TestServer.await(() -> server.http().connectionCount() == 0, "connections are left");
      logged.close();
    }
  }

  /** A few requests, of which the last may be broken off while it is sent or answered. */
  private static void converse(
      TestServer server,
      byte[][] requests,
      Random random,
      AtomicInteger answered,
      AtomicInteger wrong) {
    try (RawClient client = server.connect()) {
      int whole = random.nextInt(3);
      for (int i = 0; i < whole; i++) {
        byte[] request = requests[random.nextInt(requests.length)];
        int status = client.send(request).receive().status();
        (status == 200 ? answered : wrong).incrementAndGet();
      }
      byte[] last = requests[random.nextInt(requests.length)];
      int sent = random.nextBoolean() ? last.length : random.nextInt(last.length);
      client.send(Arrays.copyOf(last, sent));
      if (random.nextBoolean()) {
        client.socket().setSoLinger(true, 0);
      }
    } catch (IOException e) {
      wrong.incrementAndGet();
    }
  }
}
