package io.nereid.client;

import static io.nereid.client.ScriptedServer.json;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.client.ClientOptions.Compression;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A request cancelled over HTTP ends, and no other does. */
class HttpCancelTest {

  private static final int THREADS = 16;
  private static final int CALLS = 150; // of each thread
  private static final int LONGEST_DELAY_NS = 300_000;

  private record Info(int statusCode, HttpHeaders headers) implements HttpResponse.ResponseInfo {
    @Override
    public HttpClient.Version version() {
      return HttpClient.Version.HTTP_1_1;
    }
  }

  private static HttpReply.Reader reply(Map<String, List<String>> fields) {
    var reader = new HttpReply.Reader(new MemoryPool(1 << 20), 1 << 20, Compression.NONE);
    reader.apply(new Info(200, HttpHeaders.of(fields, (name, value) -> true)));
    reader.onSubscribe(
        new Flow.Subscription() {
          @Override
          public void request(long n) {}

          @Override
          public void cancel() {}
        });
    return reader;
  }

  private static int cancellations(HttpReply.Reader reader) {
    AtomicInteger count = new AtomicInteger();
    reader.whileConnected(count::incrementAndGet);
    return count.get();
  }

  /** From the last byte on the connection may be somebody else's. */
  @Test
  void aCallIsCancelledAsLongAsTheConnectionIsItsOwn() {
    var waiting = new HttpReply.Reader(new MemoryPool(1 << 20), 1 << 20, Compression.NONE);
    assertEquals(1, cancellations(waiting));
    HttpReply.Reader reader = reply(Map.of("Content-Length", List.of("5")));
    assertEquals(1, cancellations(reader));
    reader.onNext(List.of(ByteBuffer.wrap(new byte[4])));
    assertEquals(1, cancellations(reader));
    reader.onNext(List.of(ByteBuffer.wrap(new byte[1])));
    assertEquals(0, cancellations(reader));
    assertEquals(0, cancellations(reply(Map.of("Content-Length", List.of("0")))));
    assertEquals(0, cancellations(reply(Map.of("Transfer-Encoding", List.of("chunked")))));
  }

  /** The server never closes a connection, so each call that is not cancelled has its answer. */
  @Test
  void othersKeepTheirConnections() throws Exception {
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    Semaphore cancelled = new Semaphore(0);
    try (ScriptedServer server =
            new ScriptedServer(request -> json("200 OK", "{\"name\":\"s\",\"outputs\":[]}"));
        InferenceClient client =
            server.connect(ClientOptions.builder().retry(RetryPolicy.NONE).build())) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        Random random = new Random(i);
        threads.add(
            ScriptedServer.start(() -> {
              for (int call = 0; call < CALLS; call++) {
                call(client, random, failures, cancelled);
              }
            }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    assertEquals(List.of(), List.copyOf(failures));
    assertTrue(cancelled.availablePermits() > 0);
  }

  private static void call(
      InferenceClient client, Random random, Queue<Throwable> failures, Semaphore cancelled) {
    CompletableFuture<InferResponse> call = client.inferAsync(InferRequest.builder("m").build());
    if (random.nextBoolean()) {
      LockSupport.parkNanos(random.nextInt(LONGEST_DELAY_NS));
      if (call.cancel(true)) {
        cancelled.release();
        return;
      }
    }
    try {
      call.get(1, TimeUnit.MINUTES).close();
    } catch (Exception e) {
      failures.add(e);
    }
  }
}
