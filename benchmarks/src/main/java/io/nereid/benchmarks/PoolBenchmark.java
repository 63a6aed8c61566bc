package io.nereid.benchmarks;

import io.nereid.Model;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.jmh.RuntimeBenchmark;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Threads;

/** Measures a buffer of the pool that is taken for a request's input and given back. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PoolBenchmark extends RuntimeBenchmark {

  /** FP32 elements of the buffer: 64 B, 64 KiB and an image. */
  @Param({"16", "16384", "150528"})
  public int elements;

  private Model model;

  /** Made by JMH. */
  public PoolBenchmark() {}

  @Override
  protected void open() {
    model = nereid.load(BenchmarkModels.identity(8, elements).build());
  }

  @Benchmark
  public long allocate() {
    try (var request = model.newRequest()) {
      return request.allocateInput(BenchmarkModels.INPUT, 1, elements).byteSize();
    }
  }

  /** The same on eight threads at once. */
  @Benchmark
  @Threads(8)
  public long allocate08() {
    return allocate();
  }
}
