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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The bundled digits classifier on ONNX Runtime: one request at a time on the calling thread, and
 * batched from 64 virtual threads. Compare the first with {@code native/bench}, which runs the same
 * session in a C++ loop; goal: within 1.3 times.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 2,
    jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Djmh.executor=VIRTUAL"})
public class DigitsBenchmark {

  private Nereid nereid;
  private Model model;
  private Tensor image;

  /** Makes the benchmark; its state is set up by {@link #open}. */
  public DigitsBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    model = nereid.load(BenchmarkModels.digits().build());
    image = Tensor.of(DataType.FP32, Arena.ofAuto().allocate(JAVA_FLOAT, 64), 1, 8, 8);
  }

  @TearDown
  public void close() {
    nereid.close();
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
    try (var request = model.newRequest().input("image", image);
        var response = request.infer()) {
      return response.output("scores").floatAt(0);
    }
  }
}
