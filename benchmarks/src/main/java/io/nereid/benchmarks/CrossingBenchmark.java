package io.nereid.benchmarks;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.internal.ffi.StatisticsRecord;
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
 * What it costs to go from Java into the core and back, and to take a request from a model and give
 * it back without running it, which crosses nothing but does all the bookkeeping.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class CrossingBenchmark {

  private Nereid nereid;
  private Model model;

  /** Made by JMH. */
  public CrossingBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    model = nereid.load(BenchmarkModels.identity(8, 16).build());
  }

  @TearDown
  public void close() {
    nereid.close();
  }

  /** A call that looks up a number. */
  @Benchmark
  public long downcall() {
    return StatisticsRecord.histogramBucketNs(3);
  }

  @Benchmark
  public void newRequest() {
    model.newRequest().close();
  }
}
