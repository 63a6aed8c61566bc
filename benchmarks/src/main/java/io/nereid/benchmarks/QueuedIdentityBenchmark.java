package io.nereid.benchmarks;

import io.nereid.Model;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.jmh.RuntimeBenchmark;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Threads;

/**
 * Requests of 64 bytes that must go through the queue, from 1, 8 and 64 virtual threads, each
 * waiting for its response. Goal: 500 000 requests per second at 64.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(
    value = 2,
    jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Djmh.executor=VIRTUAL"})
public class QueuedIdentityBenchmark extends RuntimeBenchmark {

  private static final int ELEMENTS = 16;

  /** True if the queue forms batches; otherwise each request is executed for itself. */
  @Param({"false", "true"})
  public boolean batching;

  private Model model;
  private Tensor input;

  /** Made by JMH. */
  public QueuedIdentityBenchmark() {}

  @Override
  protected void open() {
    ModelSpec.Builder spec = BenchmarkModels.identity(64, ELEMENTS).inline(false);
    if (batching) {
      spec.dynamicBatching(DynamicBatching.create());
    }
    model = nereid.load(spec.build());
    input = nativeInput(1, ELEMENTS);
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
    return infer(model, BenchmarkModels.INPUT, input, BenchmarkModels.OUTPUT);
  }
}
