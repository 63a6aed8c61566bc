package io.nereid.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.DynamicBatching;
import io.nereid.Model;
import io.nereid.ModelSpec;
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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Requests of 64 bytes that must go through the queue, from 1, 8 and 64 virtual threads, each
 * waiting for its response. Goal: 500 000 requests per second at 64.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 2,
    jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Djmh.executor=VIRTUAL"})
public class QueuedIdentityBenchmark {

  private static final int ELEMENTS = 16;

  /** Whether the queue forms batches; otherwise each request is executed for itself. */
  @Param({"false", "true"})
  public boolean batching;

  private Nereid nereid;
  private Model model;
  private Tensor input;

  /** Makes the benchmark; its state is set up by {@link #open}. */
  public QueuedIdentityBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    ModelSpec.Builder spec = BenchmarkModels.identity(64, ELEMENTS).inline(false);
    if (batching) {
      spec.dynamicBatching(DynamicBatching.create());
    }
    model = nereid.load(spec.build());
    input = Tensor.of(DataType.FP32, Arena.ofAuto().allocate(JAVA_FLOAT, ELEMENTS), 1, ELEMENTS);
  }

  @TearDown
  public void close() {
    nereid.close();
  }

  @Benchmark
  @Threads(1)
  public float threads01() {
    return infer();
  }

  @Benchmark
  @Threads(8)
  public float threads08() {
    return infer();
  }

  @Benchmark
  @Threads(64)
  public float threads64() {
    return infer();
  }

  private float infer() {
    try (var request = model.newRequest().input(BenchmarkModels.INPUT, input);
        var response = request.infer()) {
      return response.output(BenchmarkModels.OUTPUT).floatAt(0);
    }
  }
}
