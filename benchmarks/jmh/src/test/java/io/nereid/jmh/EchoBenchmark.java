package io.nereid.jmh;

// @start region="benchmark"
import io.nereid.Model;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class EchoBenchmark extends RuntimeBenchmark {

  private Model model;
  private Tensor input;

  @Override
  protected void open() {
    model =
        nereid.load(
            ModelSpec.builder("echo")
                .backend("identity")
                .input("x", DataType.FP32, 16)
                .output("y", DataType.FP32, 16)
                .build());
    input = nativeInput(16);
  }

  @Benchmark
  public float one() {
    return infer(model, "x", input, "y");
  }
}
// @end
