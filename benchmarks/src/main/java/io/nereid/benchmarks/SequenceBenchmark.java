package io.nereid.benchmarks;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.jmh.RuntimeBenchmark;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.SequenceBatching;
import io.nereid.tensor.Tensor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

/**
 * Requests of 64 bytes from 1, 8 and 64 virtual threads, each of which has a sequence of 20
 * requests at a time; beside them the same model without sequences. Goal: at most 1.3 times its
 * processor time a request.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(
    value = 2,
    jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-Djmh.executor=VIRTUAL"})
public class SequenceBenchmark extends RuntimeBenchmark {

  private static final int ELEMENTS = 16;
  private static final int LENGTH = 20;

  /** The strategy by which batches are made; "none" knows nothing of sequences. */
  @Param({"none", "direct", "oldest"})
  public String strategy;

  private final AtomicLong nextId = new AtomicLong(1);
  private Model model;
  private Tensor input;

  /** Made by JMH. */
  public SequenceBenchmark() {}

  /** The sequence that a thread sends. */
  @State(Scope.Thread)
  public static class Client {
    private Model.Sequence sequence; // null: there is none
    private int left;

    /** Made by JMH. */
    public Client() {}

    /** Called by JMH after a trial: what was begun is not ended, for the model goes. */
    @TearDown
    public void stop() {
      if (sequence != null) {
        sequence.close();
      }
    }

    InferRequest next(SequenceBenchmark benchmark) {
      if (benchmark.strategy.equals("none")) {
        return benchmark.model.newRequest();
      }
      if (left == 0) {
        sequence = benchmark.model.sequence(benchmark.nextId.getAndIncrement());
        left = LENGTH;
      }
      left--;
      return left == 0 ? sequence.lastRequest() : sequence.newRequest();
    }
  }

  @Override
  protected void open() {
    ModelSpec.Builder spec = BenchmarkModels.identity(64, ELEMENTS).inline(false);
    switch (strategy) {
      case "direct" -> spec.sequenceBatching(SequenceBatching.direct());
      case "oldest" -> spec.sequenceBatching(SequenceBatching.oldest(64));
      default -> spec.dynamicBatching(DynamicBatching.create());
    }
    model = nereid.load(spec.build());
    input = nativeInput(1, ELEMENTS);
  }

  @Benchmark
  @Threads(1)
  public float threads01(Client client) {
    return infer(client);
  }

  @Benchmark
  @Threads(8)
  public float threads08(Client client) {
    return infer(client);
  }

  @Benchmark
  @Threads(64)
  public float threads64(Client client) {
    return infer(client);
  }

  private float infer(Client client) {
    try (var request = client.next(this).input(BenchmarkModels.INPUT, input);
        var response = request.infer()) {
      return response.output(BenchmarkModels.OUTPUT).floatAt(0);
    }
  }
}
