package com.example.objective;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.Batch;
import io.nereid.model.ModelSpec;
import io.nereid.model.Objective;
import io.nereid.statistics.ObjectiveStatistics;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.time.Duration;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * A service that says in how long it answers: its latency stays flat when the load doubles, and
 * when it doubles again. Requests beyond what it can do are refused at once.
 */
public final class Flat {

  private static final Duration LATENCY = Duration.ofMillis(60);

  /** About half of what the model can do, all of it, and twice as much. */
  private static final int[] REQUESTS_PER_SECOND = {800, 1600, 3200};

  private static final int SECONDS = 3;

  private Flat() {}

  /** Prints a line for each load. */
  public static void main(String[] args) {
    ModelSpec spec =
        ModelSpec.builder("scores")
            .backend(context -> Flat::execute)
            .maxBatchSize(16)
            .input("IN", DataType.FP32, 4)
            .output("OUT", DataType.FP32, 4)
            .objective(Objective.p99(LATENCY))
            .build();
    try (Nereid nereid = Nereid.create()) {
      Model model = nereid.load(spec);
      load(model, 200); // it learns
      for (int rate : REQUESTS_PER_SECOND) {
        System.out.println(load(model, rate));
      }
      ObjectiveStatistics learned = model.statistics().objective().orElseThrow();
      for (ObjectiveStatistics.Cost cost : learned.costs()) {
        System.out.printf(
            Locale.ROOT,
            "learned: %2d rows take %.1f ms, one of a hundred more than %.1f ms%n",
            cost.rows(),
            cost.meanNs() / 1e6,
            cost.highNs() / 1e6);
      }
    }
  }

  /** Waits as long as a device would compute: for the batch, and a little more for each row. */
  private static void execute(Batch batch) {
    long untilNs = System.nanoTime() + 5_000_000 + 200_000L * batch.size();
    while (System.nanoTime() < untilNs) {
      LockSupport.parkNanos(untilNs - System.nanoTime());
    }
    batch.output("OUT", batch.input("IN"));
  }

  /** Sends requests when they are due, whatever becomes of those before them. */
  private static String load(Model model, int rate) {
    Queue<Long> answersNs = new ConcurrentLinkedQueue<>();
    AtomicInteger refused = new AtomicInteger();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      long beginNs = System.nanoTime();
      for (int i = 0; i < rate * SECONDS; i++) {
        long dueNs = beginNs + i * 1_000_000_000L / rate;
        while (System.nanoTime() < dueNs) {
          LockSupport.parkNanos(dueNs - System.nanoTime());
        }
        clients.execute(() -> {
          if (send(model)) {
            answersNs.add(System.nanoTime() - dueNs);
          } else {
            refused.incrementAndGet();
          }
        });
      }
    }
    long[] sorted = answersNs.stream().mapToLong(Long::longValue).sorted().toArray();
    return String.format(
        Locale.ROOT,
        "%4d requests/s: %4d answered, p50 %3.0f ms, p99 %3.0f ms; %4d refused",
        rate,
        sorted.length / SECONDS,
        sorted[sorted.length / 2] / 1e6,
        sorted[sorted.length * 99 / 100] / 1e6,
        refused.get() / SECONDS);
  }

  private static boolean send(Model model) {
    try (InferRequest request =
            model.newRequest().input("IN", Tensor.ofFloats(new float[] {1, 2, 3, 4}, 1, 4));
        InferResponse response = request.infer()) {
      return response.output("OUT").floatAt(3) == 4;
    } catch (NereidException e) {
      if (e.code() == StatusCode.UNAVAILABLE) {
        return false; // a caller may try elsewhere, or do without
      }
      throw e;
    }
  }
}
