package io.nereid.internal.backend;

import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.Tensor;
import io.nereid.backend.Backend;
import io.nereid.backend.BackendInstance;
import io.nereid.backend.Batch;
import io.nereid.backend.BatchRequest;
import io.nereid.backend.ModelContext;
import java.util.concurrent.TimeUnit;

/**
 * The backend {@code repeat}: sends each element of IN back as a response of its own, for trying
 * out decoupled models.
 */
public final class RepeatBackend implements Backend {

  /** How long a request that was cancelled may go on waiting. */
  private static final long NOTICE_NS = TimeUnit.MILLISECONDS.toNanos(10);

  /** For {@link java.util.ServiceLoader}. */
  public RepeatBackend() {}

  @Override
  public String name() {
    return "repeat";
  }

  @Override
  public BackendInstance open(ModelContext context) {
    return RepeatBackend::execute;
  }

  private static void execute(Batch batch) throws InterruptedException {
    for (int i = 0; i < batch.requestCount(); i++) {
      try {
        answer(batch.request(i));
      } catch (NereidException e) {
        batch.fail(i, e.code(), e.getMessage());
      }
    }
  }

  private static void answer(BatchRequest request) throws InterruptedException {
    Tensor in = request.input("IN");
    Tensor delay = request.input("DELAY");
    if (delay.elementCount() != in.elementCount()) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "expected as many elements in DELAY as in IN, got "
              + delay.elementCount()
              + " and "
              + in.elementCount());
    }
    for (int i = 0; i < in.elementCount(); i++) {
      if (!pause(request, delay.longAt(i))) {
        throw new NereidException(StatusCode.CANCELLED, "cancelled before response " + i);
      }
      request.output("OUT", Tensor.ofInts(new int[] {in.intAt(i)}, 1));
      request.output("IDX", 1).copyFrom(Tensor.ofInts(new int[] {i}, 1));
      request.respond();
    }
    pause(request, request.input("WAIT").longAt(0));
  }

  /** Sleeps; false when the request was cancelled meanwhile. */
  private static boolean pause(BatchRequest request, long ms) throws InterruptedException {
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    while (!request.isCancelled()) {
      long leftNs = endNs - System.nanoTime();
      if (leftNs <= 0) {
        return true;
      }
      TimeUnit.NANOSECONDS.sleep(Math.min(leftNs, NOTICE_NS));
    }
    return false;
  }
}
