package io.nereid.client;

import static io.nereid.client.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.StatusCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Retries over HTTP: which calls, when, and how often. */
class HttpRetryTest {

  private static final InferRequest REQUEST =
      InferRequest.builder("m").input("IN", Tensor.ofInts(new int[] {1}, 1)).build();

  private static final ClientOptions INSISTENT =
      ClientOptions.builder().retry(RetryPolicy.DEFAULT.retryInfer(true)).build();

  /** Refuses so many requests with 503 and then answers. */
  private static ScriptedServer busy(int refusals, String fields) throws IOException {
    AtomicInteger left = new AtomicInteger(refusals);
    return new ScriptedServer(request ->
        left.getAndDecrement() > 0
            ? json("503 Busy" + fields, "{\"error\":\"busy\"}")
            : json("200 OK", "{\"name\":\"s\",\"outputs\":[]}"));
  }

  @Test
  void readsAreRepeatedAsOftenAsThePolicySays() throws Exception {
    try (ScriptedServer server = busy(2, "");
        InferenceClient client = server.connect()) {
      assertEquals("s", client.serverMetadata().name());
      assertEquals(3, server.requests.size());
      assertEquals(1, server.connections.get());
    }
    try (ScriptedServer server = busy(3, "");
        InferenceClient client = server.connect()) {
      InferenceException failure = assertThrows(InferenceException.class, client::serverMetadata);
      assertEquals("busy", failure.getMessage());
      assertEquals(503, failure.httpStatus().orElseThrow());
      assertEquals(3, server.requests.size());
    }
  }

  @Test
  void inferenceIsRepeatedOnlyOnRequestAndSequencesNever() throws Exception {
    try (ScriptedServer server = busy(2, "");
        InferenceClient client = server.connect()) {
      assertThrows(InferenceException.class, () -> client.infer(REQUEST));
      assertEquals(1, server.requests.size());
    }
    try (ScriptedServer server = busy(2, "");
        InferenceClient client = server.connect(INSISTENT)) {
      client.infer(REQUEST).close();
      assertEquals(3, server.requests.size());
      // With the same body each time, although the first was read to its end.
      ScriptedServer.Request first = server.requests.take();
      assertEquals(first.text(), server.requests.take().text());
      assertEquals(first.text(), server.requests.take().text());
    }
    try (ScriptedServer server = busy(2, "");
        InferenceClient client = server.connect(INSISTENT)) {
      client.inferAsync(REQUEST).get(20, TimeUnit.SECONDS).close();
      assertEquals(3, server.requests.size());
    }
    InferRequest sequence = InferRequest.builder("m").sequence(7, false, false).build();
    try (ScriptedServer server = busy(2, "");
        InferenceClient client = server.connect(INSISTENT)) {
      assertThrows(InferenceException.class, () -> client.infer(sequence));
      assertEquals(1, server.requests.size());
    }
  }

  @Test
  void memoryOfTheHeapIsSentAgainToo() throws Exception {
    try (ScriptedServer server = busy(1, "");
        InferenceClient client = server.connect(INSISTENT)) {
      for (int count : new int[] {1, 10_000}) {
        Tensor tensor = Tensor.ofInts(new int[count], count);
        InferRequest request = InferRequest.builder("m").input("IN", tensor).build();
        client.infer(request).close();
        client.inferAsync(request).get(20, TimeUnit.SECONDS).close();
      }
      assertEquals(5, server.requests.size());
      assertEquals(server.requests.take().text(), server.requests.take().text());
    }
  }

  @Test
  void changesAreNotRepeated() throws Exception {
    try (ScriptedServer server = busy(1, "");
        InferenceClient client = server.connect(INSISTENT)) {
      assertThrows(InferenceException.class, () -> client.loadModel("m"));
      assertEquals(1, server.requests.size());
    }
  }

  @Test
  void aConnectionThatEndsWithoutAReplyIsAFailureOrARetry() throws Exception {
    AtomicInteger left = new AtomicInteger(1);
    ScriptedServer.Script script =
        request ->
            left.getAndDecrement() > 0 ? null : json("200 OK", "{\"name\":\"s\",\"outputs\":[]}");
    try (ScriptedServer server = new ScriptedServer(script);
        InferenceClient client = server.connect()) {
      InferenceException failure =
          assertThrows(InferenceException.class, () -> client.infer(REQUEST));
      assertEquals(StatusCode.UNAVAILABLE, failure.code());
      assertEquals(1, server.requests.size());
      left.set(1);
      assertEquals("s", client.serverMetadata().name());
    }
  }

  @Test
  void retryAfterIsWaitedForAndBoundedByTheDeadline() throws Exception {
    try (ScriptedServer server = busy(1, "\r\nRetry-After: 1");
        InferenceClient client = server.connect()) {
      long startNs = System.nanoTime();
      client.serverMetadata();
      assertTrue(System.nanoTime() - startNs >= TimeUnit.SECONDS.toNanos(1));
    }
    ClientOptions hurried =
        ClientOptions.builder()
            .deadline(Duration.ofMinutes(1))
            .retry(new RetryPolicy(3, Duration.ofMillis(50), Duration.ofHours(1), false))
            .build();
    try (ScriptedServer server = busy(1, "\r\nRetry-After: 3600");
        InferenceClient client = server.connect(hurried)) {
      InferenceException failure = assertThrows(InferenceException.class, client::serverMetadata);
      assertEquals("busy", failure.getMessage()); // at once, for waiting would be in vain
      assertEquals(1, server.requests.size());
    }
  }

  @Test
  void aServerThatIsNotThereYetIsTriedAgain() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    try (InferenceClient client = InferenceClient.connect("http://127.0.0.1:" + port)) {
      long startNs = System.nanoTime();
      InferenceException failure =
          assertThrows(InferenceException.class, () -> client.infer(REQUEST));
      assertEquals(StatusCode.UNAVAILABLE, failure.code());
      assertTrue(failure.getMessage().startsWith("no connection came about"), failure::getMessage);
      // Two pauses: of 25 to 50 ms, and of 50 to 100.
      assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(75));
    }
  }

  @Test
  void aConnectionIsUsedAgain() throws Exception {
    try (ScriptedServer server = busy(0, "");
        InferenceClient client = server.connect()) {
      for (int i = 0; i < 50; i++) {
        client.infer(REQUEST).close();
      }
      assertEquals(1, server.connections.get());
    }
  }
}
