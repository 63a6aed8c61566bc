package io.nereid.gpu;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
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
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.LongStream;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * Makes rows of input for a graph, sends them, and says how far answers are from what they should
 * be.
 */
final class Rows {

  private Rows() {}

  /** One row of random numbers, of bytes as numbers from 0 to 255; the same for the same seed. */
  static double[] random(Graph graph, long seed) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    double[] row = new double[graph.inputElements()];
    for (int i = 0; i < row.length; i++) {
      // Through float: what is sent is what the reference takes.
      row[i] = graph.bytes() ? random.nextInt(256) : (float) random.nextGaussian();
    }
    return row;
  }

  static long[] shape(Graph graph, int rows) {
    long[] shape = new long[graph.input().size() + 1];
    shape[0] = rows;
    for (int i = 1; i < shape.length; i++) {
      shape[i] = graph.input().get(i - 1);
    }
    return shape;
  }

  /** A request with these rows in page-locked memory. */
  static InferRequest request(Model model, Graph graph, double[]... rows) {
    InferRequest request = model.newRequest();
    Tensor input = request.allocateInput(Graph.INPUT, shape(graph, rows.length));
    MemorySegment to = input.segment();
    for (int i = 0; i < rows.length; i++) {
      write(graph, rows[i], to, i);
    }
    return request;
  }

  /** Writes a row as the graph takes it, behind as many as {@code index} says. */
  static void write(Graph graph, double[] row, MemorySegment to, long index) {
    long at = index * row.length;
    for (double value : row) {
      if (graph.bytes()) {
        to.set(JAVA_BYTE, at++, (byte) (int) value);
      } else {
        to.setAtIndex(JAVA_FLOAT, at++, (float) value);
      }
    }
  }

  /** The answer to one request, all rows one after another. */
  static float[] infer(Model model, Graph graph, double[]... rows) {
    try (InferRequest request = request(model, graph, rows);
        InferResponse response = request.infer()) {
      return response.output(Graph.OUTPUT).toFloatArray();
    }
  }

  /**
   * The largest difference between an answer and its reference, as part of the largest value in the
   * reference.
   */
  static double error(float[] answer, int row, double[] reference) {
    double largest = 0;
    double difference = 0;
    for (int i = 0; i < reference.length; i++) {
      double seen = answer[row * reference.length + i];
      largest = Math.max(largest, Math.abs(reference[i]));
      // A value that is no number makes the difference infinite.
      double one = Double.isNaN(seen) ? Double.POSITIVE_INFINITY : Math.abs(seen - reference[i]);
      difference = Math.max(difference, one);
    }
    return difference / largest;
  }

  /**
   * The throughput of a load; latencies are those of requests, from their making to their answer.
   */
  record Throughput(
      double rowsPerSecond, double p50Ms, double p99Ms, long errors, String firstError) {

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

  static Throughput load(Model model, Graph graph, int inFlight, double seconds)
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
      write(graph, random(graph, 0), row, 0);
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
    return new Throughput(
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
      Tensor input = request.allocateInput(Graph.INPUT, shape(graph, 1));
      MemorySegment.copy(row, 0, input.segment(), 0, row.byteSize());
      request.infer().close();
    }
  }
}
