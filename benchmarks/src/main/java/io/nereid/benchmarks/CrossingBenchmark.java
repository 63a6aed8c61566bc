package io.nereid.benchmarks;

import io.nereid.Model;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.internal.ffi.StatisticsRecord;
import io.nereid.jmh.RuntimeBenchmark;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/**
 * Measures what it costs to go from Java into the core and back, and to take a request from a model
 * and give it back without running it, which crosses nothing but does all the bookkeeping.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CrossingBenchmark extends RuntimeBenchmark {

  private Model model;

  /** Made by JMH. */
  public CrossingBenchmark() {}

  @Override
  protected void open() {
    model = nereid.load(BenchmarkModels.identity(8, 16).build());
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
