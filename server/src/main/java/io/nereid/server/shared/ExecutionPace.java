package io.nereid.server.shared;

import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.model.ModelState;
import io.nereid.statistics.Timings;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * The time that requests of one model took lately. It decides whether a thread that serves several
 * connections may execute a request: the event loop of gRPC, or a round of HTTP. The estimate rises
 * at once and falls slowly. An unknown model is not trusted; nor is one that was quick and then
 * took very long, for a time that doubles at each repetition. Every thread that executes requests
 * of the frontends reads and writes it.
 */
public final class ExecutionPace {

  /**
   * The longest execution on a shared thread; the core would allow 1 ms on a thread that serves one
   * request. Handing a request over costs 5 to 20 µs of processor time: much for a model that takes
   * 50 µs, negligible for one that takes 200.
   */
  public static final long INLINE_NS = TimeUnit.MICROSECONDS.toNanos(50);

  /** The weight of a faster execution in the estimate is 1 divided by this. */
  private static final int DECAY = 16;

  /** A quick model that once takes this long is not trusted; preemption of a thread is shorter. */
  private static final long STALL_NS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final long FIRST_DISTRUST_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int MOST_DOUBLINGS = 3;

  /**
   * The time of trust after which earlier stalls are forgotten, since pauses of the JVM cause
   * stalls, too.
   */
  private static final long FORGET_NS = TimeUnit.MINUTES.toNanos(5);

  /** The paces by model. A model that is gone for good is forgotten when a new one comes. */
  public static final class Table {
    private final ConcurrentHashMap<Model, ExecutionPace> paces = new ConcurrentHashMap<>();

    /** The pace of a model. */
    public ExecutionPace of(Model model) {
      ExecutionPace pace = paces.get(model);
      return pace == null ? add(model) : pace;
    }

    private ExecutionPace add(Model model) {
      paces.keySet().removeIf(known -> known.state() == ModelState.UNLOADED);
      return paces.computeIfAbsent(model, unknown -> new ExecutionPace());
    }

    /** The number of known models. */
    public int size() {
      return paces.size();
    }
  }

  // Unsynchronized: lost updates do not matter.
  private volatile long estimateNs = Long.MAX_VALUE;
  private volatile int stalls;
  private volatile long trustedAtNs; // unused without stalls

  /** True if the next request may be executed while others wait for the thread. */
  public boolean isShort() {
    return estimateNs <= INLINE_NS && (stalls == 0 || System.nanoTime() - trustedAtNs >= 0);
  }

  /** Updates the estimate after an execution. */
  public void executed(InferResponse response) {
    Timings timings = response.timings();
    long tookNs = timings.computeInputNs() + timings.computeInferNs() + timings.computeOutputNs();
    if (tookNs > STALL_NS && isShort()) {
      long nowNs = System.nanoTime();
      int before = stalls == 0 || nowNs - trustedAtNs > FORGET_NS ? 0 : stalls;
      trustedAtNs = nowNs + (FIRST_DISTRUST_NS << Math.min(before, MOST_DOUBLINGS));
      stalls = before + 1;
    }
    long last = estimateNs;
    estimateNs = last == Long.MAX_VALUE || tookNs > last ? tookNs : last - (last - tookNs) / DECAY;
  }
}
