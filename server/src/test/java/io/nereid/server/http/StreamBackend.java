package io.nereid.server.http;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Answers COUNT times with SIZE zeros. With parameter {@code gate} each response waits for a
 * permit; with {@code fail} the request fails after its responses.
 */
final class StreamBackend implements Backend {

  final Semaphore permits = new Semaphore(0);
  final AtomicInteger responded = new AtomicInteger();

  /** How many requests ended because nobody waited for them any more. */
  final AtomicInteger cancelled = new AtomicInteger();

  ModelSpec.Builder model() {
    return ModelSpec.builder("stream")
        .backend(this)
        .decoupled(true)
        .input("COUNT", DataType.INT32, 1)
        .input("SIZE", DataType.INT32, 1)
        .output("OUT", DataType.UINT8, -1);
  }

  @Override
  public BackendInstance open(ModelContext context) {
    return this::execute;
  }

  private void execute(Batch batch) throws Exception {
    for (int i = 0; i < batch.requestCount(); i++) {
      try {
        answer(batch.request(i));
      } catch (NereidException e) {
        if (e.code() == StatusCode.CANCELLED) {
          cancelled.incrementAndGet();
        }
        batch.fail(i, e.code(), e.getMessage());
      }
    }
  }

  private void answer(BatchRequest request) throws InterruptedException {
    int count = request.input("COUNT").intAt(0);
    int size = request.input("SIZE").intAt(0);
    for (int i = 0; i < count; i++) {
      if (request.parameters().containsKey("gate")) {
        awaitPermit(request);
      }
      request.output("OUT", Tensor.of(DataType.UINT8, zeros(size), size));
      request.respond();
      responded.incrementAndGet();
    }
    if (request.parameters().containsKey("fail")) {
      throw new NereidException(StatusCode.INTERNAL, "it failed after " + count);
    }
  }

  private static MemorySegment zeros(int size) {
    return MemorySegment.ofArray(new byte[size]);
  }

  private void awaitPermit(BatchRequest request) throws InterruptedException {
    long deadlineNs = System.nanoTime() + TestServer.PATIENCE.toNanos();
    while (!permits.tryAcquire(5, TimeUnit.MILLISECONDS)) {
      if (request.isCancelled()) {
        throw new NereidException(StatusCode.CANCELLED, "cancelled at the gate");
      }
      if (System.nanoTime() - deadlineNs > 0) {
        throw new IllegalStateException("nobody opened the gate");
      }
    }
  }
}
