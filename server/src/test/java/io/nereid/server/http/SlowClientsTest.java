package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.DataType;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Many clients at once that keep the server busy for as little as they can. */
class SlowClientsTest {

  private static final int CLIENTS = 40;
  private static final int CLOSED = -1;

  private static final HttpLimits LIMITS =
      new HttpLimits(
          1 << 20, 16 << 10, 100, 20, 1000, Duration.ofMillis(700), Duration.ofMinutes(1));

  @Test
  void headsThatNeverEndAreGivenUpWhileOthersAreServed() throws Exception {
    try (TestServer server = new TestServer(LIMITS).identity(DataType.FP32)) {
      List<Thread> threads = new ArrayList<>();
      List<Integer> statuses = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        RawClient slow = server.connect();
        slow.send("GET /v2 HTTP/1.1\r\nHost: test\r\n");
        threads.add(Thread.startVirtualThread(() -> drip(slow)));
        threads.add(
            Thread.startVirtualThread(() -> {
              int status = statusOf(slow);
              synchronized (statuses) {
                statuses.add(status);
              }
            }));
      }
      for (int i = 0; i < 100; i++) {
        TestServer.await(server::isServing, "others are not served");
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertTrue(statuses.contains(408), statuses.toString());
      assertTrue(statuses.stream().allMatch(status -> status == 408 || status == CLOSED));
      TestServer.await(() -> server.http().connectionCount() == 0, "connections are still open");
    }
  }

  private static int statusOf(RawClient slow) {
    try (slow) {
      return slow.receiveHead().status();
    } catch (SocketTimeoutException e) {
      return 0;
    } catch (IOException e) {
      return CLOSED; // the server's own thread was too slow with its reply
    }
  }

  /** A field at a time, each well before any limit, until the server has enough. */
  private static void drip(RawClient client) {
    try {
      for (int i = 0; i < 1000; i++) {
        client.send("A: b\r\n");
        Thread.sleep(20);
      }
    } catch (IOException | InterruptedException e) {
      // It was closed.
    }
  }

  /** What nobody reads fills the buffers of the kernel, and nothing else. */
  @Test
  void requestsWithoutEndWhoseAnswersNobodyReadsAreGivenUp() throws Exception {
    byte[] requests =
        "GET /v2 HTTP/1.1\r\nHost: a\r\n\r\n".repeat(200).getBytes(StandardCharsets.US_ASCII);
    try (TestServer server = new TestServer(LIMITS);
        RawClient client = server.connect()) {
      Thread sending =
          Thread.startVirtualThread(() -> {
            try {
              while (true) {
                client.send(requests);
              }
            } catch (IOException e) {
              // It was closed.
            }
          });
      assertTrue(sending.join(TestServer.PATIENCE), "the server still takes requests");
      TestServer.await(() -> server.http().connectionCount() == 0, "the connection is still open");
      TestServer.await(server::isServing, "others are not served");
    }
  }
}
