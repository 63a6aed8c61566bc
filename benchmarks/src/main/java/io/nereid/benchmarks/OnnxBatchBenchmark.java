package io.nereid.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.lang.foreign.Arena;
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
import org.openjdk.jmh.annotations.Warmup;

/** The bundled digits classifier on ONNX Runtime, with several images in one request. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class OnnxBatchBenchmark {

  /** Images of a request. */
  @Param({"1", "8", "64"})
  public int images;

  private Nereid nereid;
  private Model model;
  private Tensor input;

  /** Made by JMH. */
  public OnnxBatchBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    model = nereid.load(BenchmarkModels.digits().build());
    input =
        Tensor.of(DataType.FP32, Arena.ofAuto().allocate(JAVA_FLOAT, 64L * images), images, 8, 8);
  }

  @TearDown
  public void close() {
    nereid.close();
  }

  @Benchmark
  public float infer() {
    try (var request = model.newRequest().input("image", input);
        var response = request.infer()) {
      return response.output("scores").floatAt(0);
    }
  }
}
