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
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The backend {@code repeat}: sends each element of IN back as a response of its own, for trying
 * out decoupled models. As in Triton, responses are sent on other threads than the instance's,
 * which takes its next request WAIT milliseconds after this one began, or when this one is
 * cancelled before it has ended: so requests of one instance interleave.
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
    private final Queue<BatchRequest> waiting = new ArrayDeque<>(AT_ONCE);

    @GuardedBy("this")
    private long freeNs = System.nanoTime();

    /**
     * Waits until a request may begin, behind those that came before it, and throws when it was
     * cancelled. It then occupies the instance for {@code waitNs}; returns the time of its end.
     */
    synchronized long take(BatchRequest request, long waitNs) throws InterruptedException {
      waiting.add(request);
      try {
        while (true) {
          checkWanted(request);
          boolean isFirst = waiting.peek() == request;
          long leftNs = freeNs - System.nanoTime();
          if (isFirst && leftNs <= 0) {
            freeNs = System.nanoTime() + waitNs;
            return freeNs;
          }
          TimeUnit.NANOSECONDS.timedWait(this, isFirst ? Math.min(leftNs, NOTICE_NS) : NOTICE_NS);
        }
      } finally {
        waiting.remove(request);
        notifyAll();
      }
    }

    /** Gives up what is left of the time until {@code endNs}, unless another request had a turn. */
    synchronized void giveBack(long endNs) {
      if (freeNs == endNs) {
        freeNs = System.nanoTime();
        notifyAll();
      }
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
    long endNs = turn.take(request, TimeUnit.MILLISECONDS.toNanos(waitMs));
    try {
      repeat(request, in, delay, decoupled);
    } catch (NereidException e) {
      turn.giveBack(endNs);
      throw e;
    }
  }

  private static void repeat(BatchRequest request, Tensor in, Tensor delay, boolean decoupled)
      throws InterruptedException {
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
      checkWanted(request);
      long leftNs = endNs - System.nanoTime();
      if (leftNs <= 0) {
        return;
      }
      TimeUnit.NANOSECONDS.sleep(Math.min(leftNs, NOTICE_NS));
    }
  }

  private static void checkWanted(BatchRequest request) {
    if (request.isCancelled()) {
      throw new NereidException(StatusCode.CANCELLED, "Request was cancelled");
    }
  }
}
