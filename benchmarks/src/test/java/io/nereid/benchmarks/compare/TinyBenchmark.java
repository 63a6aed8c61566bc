package io.nereid.benchmarks.compare;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/** Something that takes a known share of time, and a known amount of memory. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class TinyBenchmark {

  @Param({"1000", "4000"})
  public long tokens;

  /** Made by JMH. */
  public TinyBenchmark() {}

  @Benchmark
  public byte[] work() {
    Blackhole.consumeCPU(tokens);
    return new byte[984]; // and a header of 16 bytes
  }
}
