package io.nereid.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.Model;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.jmh.RuntimeBenchmark;
import io.nereid.tensor.Tensor;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/**
 * One request of 64 bytes through an idle model, which runs on the calling thread: what a request
 * costs at least. Goal: 2 µs and 300 bytes of heap, with {@code -prof gc}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class InlineIdentityBenchmark extends RuntimeBenchmark {

  private static final int ELEMENTS = 16;

  private Model model;
  private Tensor nativeInput;
  private float[] array;

  /** Made by JMH. */
  public InlineIdentityBenchmark() {}

  @Override
  protected void open() {
    model = nereid.load(BenchmarkModels.identity(8, ELEMENTS).build());
    array = new float[ELEMENTS];
    nativeInput = nativeInput(1, ELEMENTS);
  }

  /** The input is native memory of the caller's, used in place. */
  @Benchmark
  public float borrowedInput() {
    return infer(model, BenchmarkModels.INPUT, nativeInput, BenchmarkModels.OUTPUT);
  }

  /** The input is memory of the pool, written in place. */
  @Benchmark
  public float pooledInput() {
    try (var request = model.newRequest()) {
      var input = request.allocateInput(BenchmarkModels.INPUT, 1, ELEMENTS);
      input.segment().set(JAVA_FLOAT, 0, 1f);
      try (var response = request.infer()) {
        return response.output(BenchmarkModels.OUTPUT).floatAt(0);
      }
    }
  }

  /** The input is an array, copied once. */
  @Benchmark
  public float arrayInput() {
    try (var request =
            model.newRequest().input(BenchmarkModels.INPUT, Tensor.ofFloats(array, 1, ELEMENTS));
        var response = request.infer()) {
      return response.output(BenchmarkModels.OUTPUT).floatAt(0);
    }
  }
}
