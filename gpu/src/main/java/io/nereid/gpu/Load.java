package io.nereid.gpu;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * Keeps a number of requests of one row under way, each sent and awaited by a virtual thread: what
 * an application in the same process does.
 */
final class Load {

  /** What was seen; latencies are those of requests, from their making to their answer. */
  record Result(double rowsPerSecond, double p50Ms, double p99Ms, long errors, String firstError) {

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%.0f rows/s, p50 %.2f ms, p99 %.2f ms%s",
          rowsPerSecond,
          p50Ms,
          p99Ms,
          errors == 0 ? "" : ", " + errors + " errors: " + firstError);
    }
  }

  private static final double WARM_UP_SECONDS = 5;

  private Load() {}

  static Result run(Model model, Graph graph, int inFlight, double seconds)
      throws InterruptedException {
    ConcurrentHistogram latencies = new ConcurrentHistogram(3);
    long[] errors = new long[inFlight];
    AtomicReference<String> firstError = new AtomicReference<>("");
    AtomicBoolean counts = new AtomicBoolean();
    AtomicBoolean ends = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    double measured;
    try (Arena arena = Arena.ofShared()) {
      MemorySegment row = arena.allocate(rowBytes(graph));
      Rows.write(graph, Rows.random(graph, 0), row, 0);
      for (int i = 0; i < inFlight; i++) {
        int index = i;
        threads.add(
            Thread.ofVirtual()
                .name("nrd-verify-load")
                .start(() -> {
                  while (!ends.get()) {
                    long startNs = System.nanoTime();
                    try {
                      one(model, graph, row);
                    } catch (NereidException e) {
                      errors[index]++;
                      firstError.compareAndSet("", e.getMessage());
                      continue;
                    }
                    if (counts.get()) {
                      latencies.recordValue(System.nanoTime() - startNs);
                    }
                  }
                }));
      }
      Thread.sleep((long) (WARM_UP_SECONDS * 1e3));
      long startNs = System.nanoTime();
      counts.set(true);
      Thread.sleep((long) (seconds * 1e3));
      counts.set(false);
      measured = (System.nanoTime() - startNs) / 1e9;
      ends.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
    }
    return new Result(
        latencies.getTotalCount() / measured,
        latencies.getValueAtPercentile(50) / 1e6,
        latencies.getValueAtPercentile(99) / 1e6,
        LongStream.of(errors).sum(),
        firstError.get());
  }

  private static long rowBytes(Graph graph) {
    return (long) graph.inputElements() * (graph.bytes() ? 1 : 4);
  }

  private static void one(Model model, Graph graph, MemorySegment row) {
    try (InferRequest request = model.newRequest()) {
      Tensor input = request.allocateInput(Graph.INPUT, Rows.shape(graph, 1));
      MemorySegment.copy(row, 0, input.segment(), 0, row.byteSize());
      request.infer().close();
    }
  }
}
