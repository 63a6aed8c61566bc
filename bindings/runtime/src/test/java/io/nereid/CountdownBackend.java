package io.nereid;

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
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A decoupled model: sends as many responses as IN says, or without end when it is negative. Each
 * has the request's first IN value and the response's number.
 */
final class CountdownBackend implements Backend {

  private static final int ENDLESS = Integer.MAX_VALUE;

  /** Responses sent for all requests together, those of other threads' requests included. */
  final AtomicInteger sent = new AtomicInteger();

  /** How many times respond said that nobody listens. */
  final AtomicInteger cancelled = new AtomicInteger();

  /** The largest batch. */
  final AtomicInteger largestBatch = new AtomicInteger();

  /** After this many responses a request fails; negative: never. */
  volatile int failAfter = -1;

  /** This response is an error, and others follow; negative: none. */
  volatile int errorAt = -1;

  /** Elements of each response. */
  volatile int elements = 2;

  /** Whether the last response is left for execute's end. */
  volatile boolean lastAtEnd;

  @Override
  public BackendInstance open(ModelContext context) {
    return this::execute;
  }

  private void execute(Batch batch) {
    largestBatch.accumulateAndGet(batch.requestCount(), Math::max);
    for (int i = 0; i < batch.requestCount(); i++) {
      try {
        answer(batch, i);
      } catch (NereidException e) {
        if (e.code() != StatusCode.CANCELLED) {
          throw e;
        }
        cancelled.incrementAndGet();
      }
    }
  }

  private void answer(Batch batch, int index) {
    BatchRequest request = batch.request(index);
    int in = request.input("IN").intAt(0);
    int count = in < 0 ? ENDLESS : in;
    for (int number = 0; number < count; number++) {
      if (number == failAfter) {
        batch.fail(index, StatusCode.INTERNAL, "failed after " + number);
        return;
      }
      if (number == errorAt) {
        request.output("OUT", Tensor.ofInts(new int[elements], 1, elements)); // which nobody gets
        request.respondError(StatusCode.NOT_FOUND, "without nümber " + number);
        continue;
      }
      int[] values = new int[elements];
      values[0] = in;
      values[values.length - 1] = number;
      request.output("OUT", Tensor.ofInts(values, 1, elements));
      if (lastAtEnd && number == count - 1) {
        return;
      }
      request.respond();
      sent.incrementAndGet();
    }
  }

  /** A decoupled model on this backend. */
  ModelSpec.Builder model(String name) {
    return ModelSpec.builder(name)
        .backend(this)
        .decoupled(true)
        .maxBatchSize(8)
        .input("IN", DataType.INT32, 1)
        .output("OUT", DataType.INT32, -1);
  }

  /** A request for that many responses. */
  static InferRequest request(Model model, int count) {
    return model.newRequest().input("IN", Tensor.ofInts(new int[] {count}, 1, 1));
  }

  /** Checks which response it is, and closes it. */
  static void check(InferResponse response, int count, int number) {
    try (response) {
      Tensor out = response.output("OUT");
      if (out.intAt(0) != count || out.intAt(out.elementCount() - 1) != number) {
        throw new AssertionError("expected " + number + " of " + count + ", got " + out.intAt(0));
      }
    }
  }
}
