package io.nereid.internal.backend;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The backend {@code repeat}: sends each element of IN back as a response of its own, for trying
 * out decoupled models. As in Triton, responses are sent on other threads than the instance's,
 * which takes its next request WAIT milliseconds after this one began: so requests of one instance
 * interleave.
 */
public final class RepeatBackend implements Backend {

  /** Requests of one instance that can be answered at the same time; more wait for their turn. */
  private static final int AT_ONCE = 8;

  /** The longest that a cancelled request goes on waiting. */
  private static final long NOTICE_NS = TimeUnit.MILLISECONDS.toNanos(10);

  /** The turns, by the number of the configured instance. */
  private final Map<Integer, Turn> turns = new ConcurrentHashMap<>();

  /** {@link java.util.ServiceLoader} calls this. */
  public RepeatBackend() {}

  @Override
  public String name() {
    return "repeat";
  }

  @Override
  public int batchesInFlight(ModelSpec spec) {
    return AT_ONCE;
  }

  @Override
  public BackendInstance open(ModelContext context) {
    boolean decoupled = context.spec().decoupled();
    Turn turn = turns.computeIfAbsent(context.instanceIndex() / AT_ONCE, index -> new Turn());
    return batch -> execute(batch, turn, decoupled);
  }

  /** The time at which an instance takes its next request. All its executing threads use it. */
  private static final class Turn {
    @GuardedBy("this")
    private long freeNs = System.nanoTime();

    /**
     * Returns the time at which a request begins; the request then occupies the instance for {@code
     * waitNs}.
     */
    synchronized long take(long waitNs) {
      long nowNs = System.nanoTime();
      long beginNs = freeNs - nowNs > 0 ? freeNs : nowNs;
      freeNs = beginNs + waitNs;
      return beginNs;
    }
  }

  private static void execute(Batch batch, Turn turn, boolean decoupled)
      throws InterruptedException {
    for (int i = 0; i < batch.requestCount(); i++) {
      try {
        answer(batch.request(i), turn, decoupled);
      } catch (NereidException e) {
        batch.fail(i, e.code(), e.getMessage());
      }
    }
  }

  private static void answer(BatchRequest request, Turn turn, boolean decoupled)
      throws InterruptedException {
    Tensor in = request.input("IN");
    Tensor delay = request.input("DELAY");
    check(in, delay, decoupled);
    long waitMs = request.input("WAIT").longAt(0);
    long beginNs = turn.take(TimeUnit.MILLISECONDS.toNanos(waitMs));
    pause(request, beginNs);
    for (int i = 0; i < in.elementCount(); i++) {
      pause(request, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delay.longAt(i)));
      request.output("OUT", Tensor.ofInts(new int[] {in.intAt(i)}, 1));
      request.output("IDX", 1).copyFrom(Tensor.ofInts(new int[] {i}, 1));
      if (decoupled) {
        request.respond();
      }
    }
  }

  private static void check(Tensor in, Tensor delay, boolean decoupled) {
    if (!Arrays.equals(in.shape(), delay.shape())) {
      throw invalid(
          "expected IN and DELAY shape to match, got %s and %s"
              .formatted(Arrays.toString(in.shape()), Arrays.toString(delay.shape())));
    }
    if (!decoupled && in.elementCount() != 1) {
      throw invalid(
          "expected one element in IN, because the model is not decoupled, got "
              + in.elementCount());
    }
  }

  private static NereidException invalid(String message) {
    return new NereidException(StatusCode.INVALID_ARGUMENT, message);
  }

  /** Sleeps until {@code endNs}; throws when the request was cancelled. */
  private static void pause(BatchRequest request, long endNs) throws InterruptedException {
    while (true) {
      if (request.isCancelled()) {
        throw new NereidException(StatusCode.CANCELLED, "Request was cancelled");
      }
      long leftNs = endNs - System.nanoTime();
      if (leftNs <= 0) {
        return;
      }
      TimeUnit.NANOSECONDS.sleep(Math.min(leftNs, NOTICE_NS));
    }
  }
}
