package io.nereid.benchmarks;

import io.nereid.Model;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.jmh.RuntimeBenchmark;
import io.nereid.model.DynamicBatching;
import io.nereid.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Threads;

/**
 * Measures requests from 64 virtual threads to a backend in Java, which is called once per batch;
 * the model may also run requests inline while it is idle.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Threads(64)
@Fork(
    value = 2,
    jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Djmh.executor=VIRTUAL"})
public class BatchingBenchmark extends RuntimeBenchmark {

  private static final int ELEMENTS = 16;

  private Model javaModel;
  private Model coreModel;
  private Tensor input;

  /** Made by JMH. */
  public BatchingBenchmark() {}

  @Override
  protected void open() {
    var core =
        BenchmarkModels.identity(64, ELEMENTS)
            .dynamicBatching(DynamicBatching.builder().preferredBatchSizes(32, 64).build());
    coreModel = nereid.load(core.build());
    javaModel =
        nereid.load(
            core.version(2)
                .backend(context ->
                    batch -> {
                      MemorySegment in = batch.input(0).segment();
                      batch.output(0, batch.size(), ELEMENTS).segment().copyFrom(in);
                    })
                .build());
    input = nativeInput(1, ELEMENTS);
  }

  @Benchmark
  public float coreBackend() {
    return infer(coreModel);
  }

  @Benchmark
  public float javaBackend() {
    return infer(javaModel);
  }

  private float infer(Model model) {
    return infer(model, BenchmarkModels.INPUT, input, BenchmarkModels.OUTPUT);
  }
}
