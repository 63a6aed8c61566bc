package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Calls that are given up, the same over both protocols. */
abstract class CancellationContract extends ServerFixture {

  private GateBackend loadGate() {
    GateBackend gate = new GateBackend();
    server
        .nereid()
        .load(
            ModelSpec.builder("gate")
                .backend(gate)
                .inline(false)
                .dynamicBatching(DynamicBatching.builder().build())
                .input("IN", DataType.FP32, -1)
                .output("OUT", DataType.FP32, -1)
                .build());
    return gate;
  }

  private static InferRequest gateRequest() {
    return InferRequest.builder("gate").input("IN", Tensor.ofFloats(new float[] {1}, 1)).build();
  }

  @Test
  void aDeadlineEndsTheCallAtBothSides() throws Exception {
    GateBackend gate = loadGate();
    CompletableFuture<InferResponse> first = client.inferAsync(gateRequest());
    gate.awaitBatch();
    // The second waits in the queue behind it.
    InferRequest second =
        InferRequest.builder("gate")
            .input("IN", Tensor.ofFloats(new float[] {1}, 1))
            .deadline(Duration.ofMillis(200))
            .build();
    InferenceException late = assertThrows(InferenceException.class, () -> client.infer(second));
    assertEquals(StatusCode.DEADLINE_EXCEEDED, late.code());
    CompletableFuture<InferResponse> asynchronous = client.inferAsync(second);
    ExecutionException failure =
        assertThrows(ExecutionException.class, () -> asynchronous.get(60, TimeUnit.SECONDS));
    assertEquals(StatusCode.DEADLINE_EXCEEDED, ((InferenceException) failure.getCause()).code());
    await(() -> server.nereid().model("gate").statistics().pendingCount() == 0);
    gate.open(1);
    first.get(60, TimeUnit.SECONDS).close();
    assertEquals(1, server.nereid().model("gate").statistics().executionCount());
  }

  @Test
  void cancellingAFutureCancelsAtTheServer() throws Exception {
    GateBackend gate = loadGate();
    CompletableFuture<InferResponse> running = client.inferAsync(gateRequest());
    gate.awaitBatch();
    CompletableFuture<InferResponse> waiting = client.inferAsync(gateRequest());
    await(() -> server.nereid().model("gate").statistics().pendingCount() == 1);
    waiting.cancel(true);
    await(() -> server.nereid().model("gate").statistics().pendingCount() == 0);
    running.cancel(true);
    gate.open(1);
    await(() -> server.nereid().model("gate").statistics().executingCount() == 0);
    await(() -> server.nereid().model("gate").statistics().failCancelled() >= 1);
  }

  @Test
  void anInterruptCancels() throws Exception {
    GateBackend gate = loadGate();
    CompletableFuture<InferResponse> running = client.inferAsync(gateRequest());
    gate.awaitBatch();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread waiting =
        Thread.ofVirtual()
            .start(() -> {
              try {
                client.infer(gateRequest()).close();
              } catch (InferenceException e) {
                thrown.set(e);
              }
            });
    await(() -> server.nereid().model("gate").statistics().pendingCount() == 1);
    waiting.interrupt();
    assertTrue(waiting.join(Duration.ofSeconds(60)));
    assertEquals(StatusCode.CANCELLED, ((InferenceException) thrown.get()).code());
    await(() -> server.nereid().model("gate").statistics().pendingCount() == 0);
    gate.open(1);
    running.get(60, TimeUnit.SECONDS).close();
  }

  @Test
  void closingTheClientEndsWhatIsUnderWay() throws Exception {
    GateBackend gate = loadGate();
    CompletableFuture<InferResponse> running = client.inferAsync(gateRequest());
    gate.awaitBatch();
    client.close();
    assertThrows(ExecutionException.class, () -> running.get(60, TimeUnit.SECONDS));
    assertThrows(InferenceException.class, client::serverLive);
    gate.open(1);
  }
}
