package io.nereid.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.DynamicBatching;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
 * Requests from 64 virtual threads to a backend in Java, which is called once per batch; the model
 * may also run requests inline while it is idle.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Threads(64)
@Fork(
    value = 2,
    jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Djmh.executor=VIRTUAL"})
public class BatchingBenchmark {

  private static final int ELEMENTS = 16;

  private Nereid nereid;
  private Model javaModel;
  private Model coreModel;
  private Tensor input;

  /** Makes the benchmark; its state is set up by {@link #open}. */
  public BatchingBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
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
    input = Tensor.of(DataType.FP32, Arena.ofAuto().allocate(JAVA_FLOAT, ELEMENTS), 1, ELEMENTS);
  }

  @TearDown
  public void close() {
    nereid.close();
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
    try (var request = model.newRequest().input(BenchmarkModels.INPUT, input);
        var response = request.infer()) {
      return response.output(BenchmarkModels.OUTPUT).floatAt(0);
    }
  }
}
