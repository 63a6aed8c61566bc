package io.nereid.benchmarks;

import io.nereid.Model;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.jmh.RuntimeBenchmark;
import io.nereid.model.Ensemble;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;

/**
 * Measures a request of 64 bytes through a chain of idle models, which runs on the calling thread.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EnsembleBenchmark extends RuntimeBenchmark {

  private static final int ELEMENTS = 16;

  /** The number of steps in the chain, all of which are the same model. */
  @Param({"1", "2", "8"})
  public int steps;

  private Model chain;
  private Tensor input;

  /** Made by JMH. */
  public EnsembleBenchmark() {}

  @Override
  protected void open() {
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
    input = nativeInput(1, ELEMENTS);
  }

  @Benchmark
  public float chain() {
    return infer(chain, BenchmarkModels.INPUT, input, BenchmarkModels.OUTPUT);
  }
}
