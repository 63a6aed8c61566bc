package io.nereid.benchmarks;

import io.nereid.Model;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.jmh.RuntimeBenchmark;
import io.nereid.tensor.Tensor;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Threads;

/**
 * The bundled digits classifier on ONNX Runtime: one request at a time on the calling thread, and
 * batched from 64 virtual threads. Compare the first with {@code native/bench}, which runs the same
 * session in a C++ loop; goal: within 1.3 times.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
    value = 2,
    jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Djmh.executor=VIRTUAL"})
public class DigitsBenchmark extends RuntimeBenchmark {

  private Model model;
  private Tensor image;

  /** Made by JMH. */
  public DigitsBenchmark() {}

  @Override
  protected void open() {
    model = nereid.load(BenchmarkModels.digits().build());
    image = nativeInput(1, 8, 8);
  }

  @Benchmark
  @Threads(1)
  public float single() {
    return infer();
  }

  @Benchmark
  @Threads(64)
  @BenchmarkMode(Mode.Throughput)
  @OutputTimeUnit(TimeUnit.SECONDS)
  public float batched64() {
    return infer();
  }

  private float infer() {
    return infer(model, "image", image, "scores");
  }
}
