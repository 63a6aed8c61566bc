package io.nereid.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.Ensemble;
import io.nereid.Model;
import io.nereid.ModelSpec;
import io.nereid.Nereid;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
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

/** A request of 64 bytes through a chain of idle models, which runs on the calling thread. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class EnsembleBenchmark {

  private static final int ELEMENTS = 16;

  /** How many models the chain has; each step is the same one. */
  @Param({"1", "2", "8"})
  public int steps;

  private Nereid nereid;
  private Model chain;
  private Tensor input;

  /** Made by JMH. */
  public EnsembleBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    nereid.load(BenchmarkModels.identity(8, ELEMENTS).build());
    List<Ensemble.Step> graph = new ArrayList<>();
    for (int i = 0; i < steps; i++) {
      String from = i == 0 ? BenchmarkModels.INPUT : "between" + i;
      String to = i == steps - 1 ? BenchmarkModels.OUTPUT : "between" + (i + 1);
      graph.add(
          new Ensemble.Step(
              "identity",
              OptionalLong.empty(),
              Map.of(BenchmarkModels.INPUT, from),
              Map.of(BenchmarkModels.OUTPUT, to)));
    }
    chain =
        nereid.load(
            ModelSpec.builder("chain")
                .maxBatchSize(8)
                .input(BenchmarkModels.INPUT, DataType.FP32, ELEMENTS)
                .output(BenchmarkModels.OUTPUT, DataType.FP32, ELEMENTS)
                .ensemble(new Ensemble(graph))
                .build());
    input = Tensor.of(DataType.FP32, Arena.ofAuto().allocate(JAVA_FLOAT, ELEMENTS), 1, ELEMENTS);
  }

  @TearDown
  public void close() {
    nereid.close();
  }

  @Benchmark
  public float chain() {
    try (var request = chain.newRequest().input(BenchmarkModels.INPUT, input);
        var response = request.infer()) {
      return response.output(BenchmarkModels.OUTPUT).floatAt(0);
    }
  }
}
