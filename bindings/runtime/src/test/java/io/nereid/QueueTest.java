package io.nereid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.DynamicBatching;
import io.nereid.model.QueuePolicy;
import io.nereid.statistics.BatchStatistics;
import io.nereid.statistics.ModelStatistics;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** The queue's rules, as far as they are set and seen from Java. */
class QueueTest extends RuntimeTest {

  private final GateBackend gate = new GateBackend();
  private final List<InferRequest> requests = new ArrayList<>();

  private CompletableFuture<InferResponse> send(Model model, float first, int priority) {
    InferRequest request = model.newRequest().input("IN", row(first)).priority(priority);
    requests.add(request);
    return request.inferAsync();
  }

  private void closeAll(List<CompletableFuture<InferResponse>> futures) {
    futures.forEach(future -> future.join().close());
    requests.forEach(InferRequest::close);
  }

  @Test
  void urgentRequestsGoFirst() throws Exception {
    Model model =
        nereid.load(
            gate.model("m")
                .maxBatchSize(1)
                .dynamicBatching(DynamicBatching.builder().priorityLevels(3, 2).build())
                .build());
    List<CompletableFuture<InferResponse>> futures = new ArrayList<>();
    futures.add(send(model, 0, 0));
    gate.awaitBatch();
    futures.add(send(model, 3, 3));
    futures.add(send(model, 2, 0)); // the default level
    futures.add(send(model, 1, 1));
    gate.open(4);
    closeAll(futures);
    assertEquals(List.of(0f, 1f, 2f, 3f), gate.executed);
  }

  @Test
  void aFullQueueRefuses() throws Exception {
    Model model =
        nereid.load(
            gate.model("m")
                .dynamicBatching(
                    DynamicBatching.builder()
                        .queuePolicy(QueuePolicy.DEFAULT.withMaxQueueSize(2))
                        .build())
                .build());
    List<CompletableFuture<InferResponse>> futures = new ArrayList<>();
    futures.add(send(model, 0, 0));
    gate.awaitBatch();
    futures.add(send(model, 1, 0));
    futures.add(send(model, 2, 0));
    CompletionException e = assertThrows(CompletionException.class, () -> send(model, 3, 0).join());
    NereidException refused = (NereidException) e.getCause();
    assertEquals(StatusCode.UNAVAILABLE, refused.code());
    assertTrue(refused.getMessage().contains("Exceeds maximum queue size"), refused.getMessage());
    assertEquals(1, model.statistics().failRejected());
    gate.open(3);
    closeAll(futures);
  }

  @Test
  void aRequestThatWaitedTooLongIsRejected() throws Exception {
    Model model =
        nereid.load(
            gate.model("m")
                .dynamicBatching(
                    DynamicBatching.builder()
                        .priorityLevels(2, 1)
                        .queuePolicy(
                            2, QueuePolicy.DEFAULT.withDefaultTimeout(Duration.ofMillis(500)))
                        .build())
                .build());
    CompletableFuture<InferResponse> first = send(model, 1, 0);
    gate.awaitBatch();
    CompletionException e = assertThrows(CompletionException.class, () -> send(model, 2, 2).join());
    NereidException late = (NereidException) e.getCause();
    assertEquals(StatusCode.UNAVAILABLE, late.code());
    assertTrue(late.getMessage().contains("Request timeout expired"), late.getMessage());
    gate.open(1);
    closeAll(List.of(first));
    assertEquals(List.of(1f), gate.executed);
  }

  @Test
  void aRequestsOwnTimeoutCounts() throws Exception {
    Model model = nereid.load(gate.model("m").dynamicBatching(DynamicBatching.create()).build());
    CompletableFuture<InferResponse> first = send(model, 1, 0);
    gate.awaitBatch();
    try (var request = model.newRequest().input("IN", row(2)).timeout(Duration.ofMillis(20))) {
      assertFails(StatusCode.UNAVAILABLE, request::infer);
    }
    gate.open(1);
    closeAll(List.of(first));
  }

  @Test
  void lateRequestsMayBeDelayedInstead() throws Exception {
    QueuePolicy delay =
        QueuePolicy.DEFAULT
            .withTimeoutAction(QueuePolicy.TimeoutAction.DELAY)
            .withAllowTimeoutOverride(true);
    Model model =
        nereid.load(
            gate.model("m")
                .maxBatchSize(1)
                .dynamicBatching(DynamicBatching.builder().queuePolicy(delay).build())
                .build());
    List<CompletableFuture<InferResponse>> futures = new ArrayList<>();
    futures.add(send(model, 0, 0));
    gate.awaitBatch();
    InferRequest late = model.newRequest().input("IN", row(9)).timeout(Duration.ofMillis(10));
    requests.add(late);
    futures.add(late.inferAsync());
    futures.add(send(model, 1, 0));
    Thread.sleep(50); // the first of the two has to be late
    gate.open(3);
    closeAll(futures);
    assertEquals(List.of(0f, 1f, 9f), gate.executed);
  }

  @Test
  void waitingRequestsShareABatch() throws Exception {
    Model model = nereid.load(gate.model("m").dynamicBatching(DynamicBatching.create()).build());
    List<CompletableFuture<InferResponse>> futures = new ArrayList<>();
    futures.add(send(model, 0, 0));
    gate.awaitBatch();
    for (int i = 1; i <= 8; i++) {
      futures.add(send(model, i, 0));
    }
    gate.open(9);
    for (int i = 0; i < futures.size(); i++) {
      InferResponse response = futures.get(i).join();
      assertEquals((float) i, response.output("OUT").floatAt(0));
      assertEquals(i == 0 ? 1 : 8, response.executedBatchSize());
    }
    closeAll(futures);
    ModelStatistics statistics = model.statistics();
    assertEquals(9, statistics.inferenceCount());
    assertEquals(2, statistics.executionCount());
    assertEquals(
        List.of(1L, 8L), statistics.batches().stream().map(BatchStatistics::batchSize).toList());
  }
}
