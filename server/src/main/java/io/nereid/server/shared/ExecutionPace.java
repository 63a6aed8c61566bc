package io.nereid.server.shared;

import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.model.ModelState;
import io.nereid.statistics.Timings;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * How long requests of one model have executed lately. It decides whether a thread may execute one
 * for which other requests wait: the loop of a gRPC connection, or a thread that reads a connection
 * of HTTP/2 or several of HTTP/1.1. The estimate rises at once and falls slowly: a model that was
 * slow once is not trusted for a while, and a model of which nothing is known is not trusted at
 * all. Every thread that executes requests of the frontends reads and writes it.
 */
public final class ExecutionPace {

  /**
   * Longest execution on such a thread. The core would allow 1 ms on a thread that serves one
   * request. To hand a request over costs 5 to 20 µs of processor time: much beside a model that
   * takes 50, not to be seen beside one that takes 200. docs/grpc.md has the figures.
   */
  private static final long INLINE_NS = TimeUnit.MICROSECONDS.toNanos(50);

  /** The share of a faster execution in the estimate: 1 of so many. */
  private static final int DECAY = 16;

  /** The paces by model. A model that is gone for good is forgotten when a new one comes. */
  public static final class Table {
    private final ConcurrentHashMap<Model, ExecutionPace> paces = new ConcurrentHashMap<>();

    /** How quick a model is. */
    public ExecutionPace of(Model model) {
      ExecutionPace pace = paces.get(model);
      return pace == null ? add(model) : pace;
    }

    private ExecutionPace add(Model model) {
      paces.keySet().removeIf(known -> known.state() == ModelState.UNLOADED);
      return paces.computeIfAbsent(model, unknown -> new ExecutionPace());
    }

    /** How many models are remembered. */
    public int size() {
      return paces.size();
    }
  }

  /** Lost updates do not matter. */
  private volatile long estimateNs = Long.MAX_VALUE;

  /** Whether the next request may be executed while others wait for the thread. */
  public boolean isShort() {
    return estimateNs <= INLINE_NS;
  }

  /** Takes note of an execution. */
  public void executed(InferResponse response) {
    Timings timings = response.timings();
    long tookNs = timings.computeInputNs() + timings.computeInferNs() + timings.computeOutputNs();
    long before = estimateNs;
    estimateNs =
        before == Long.MAX_VALUE || tookNs > before ? tookNs : before - (before - tookNs) / DECAY;
  }
}
