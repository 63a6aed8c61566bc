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
import org.openjdk.jmh.annotations.Warmup;

/**
 * One request of 64 bytes through an idle model, which runs on the calling thread: what a request
 * costs at least. Goal: 2 µs and 300 bytes of heap, with {@code -prof gc}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class InlineIdentityBenchmark {

  private static final int ELEMENTS = 16;

  private Nereid nereid;
  private Model model;
  private Tensor nativeInput;
  private float[] array;

  /** Makes the benchmark; its state is set up by {@link #open}. */
  public InlineIdentityBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    model = nereid.load(BenchmarkModels.identity(8, ELEMENTS).build());
    array = new float[ELEMENTS];
    nativeInput =
        Tensor.of(DataType.FP32, Arena.ofAuto().allocate(JAVA_FLOAT, ELEMENTS), 1, ELEMENTS);
  }

  @TearDown
  public void close() {
    nereid.close();
  }

  /** The input is native memory of the caller's, used in place. */
  @Benchmark
  public float borrowedInput() {
    try (var request = model.newRequest().input(BenchmarkModels.INPUT, nativeInput);
        var response = request.infer()) {
      return response.output(BenchmarkModels.OUTPUT).floatAt(0);
    }
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
