package io.nereid.benchmarks;

import io.nereid.Model;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.jmh.RuntimeBenchmark;
import io.nereid.tensor.Tensor;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;

/** Measures the bundled digits classifier on ONNX Runtime with several images in one request. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class OnnxBatchBenchmark extends RuntimeBenchmark {

  /** Images of a request. */
  @Param({"1", "8", "64"})
  public int images;

  private Model model;
  private Tensor input;

  /** Made by JMH. */
  public OnnxBatchBenchmark() {}

  @Override
  protected void open() {
    model = nereid.load(BenchmarkModels.digits().build());
    input = nativeInput(images, 8, 8);
  }

  @Benchmark
  public float infer() {
    return infer(model, "image", input, "scores");
  }
}
