package io.nereid.benchmarks;

import io.nereid.Model;
import io.nereid.Nereid;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/** Measures a buffer of the pool that is taken for a request's input and given back. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class PoolBenchmark {

  /** FP32 elements of the buffer: 64 B, 64 KiB and an image. */
  @Param({"16", "16384", "150528"})
  public int elements;

  private Nereid nereid;
  private Model model;

  /** Made by JMH. */
  public PoolBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    model = nereid.load(BenchmarkModels.identity(8, elements).build());
  }

  @TearDown
  public void close() {
    nereid.close();
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
