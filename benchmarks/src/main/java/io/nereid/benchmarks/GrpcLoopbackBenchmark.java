package io.nereid.benchmarks;

import io.nereid.benchmarks.fixtures.BenchmarkRequests;
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
 * Calls of ModelInfer over the loopback device, with messages of bytes at the client: its share is
 * grpc-java's and the kernel's.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class GrpcLoopbackBenchmark {

  @Param({"16", "150528"})
  public int elements;

  private BenchmarkServer server;
  private GrpcExchange exchange;

  /** Made by JMH. */
  public GrpcLoopbackBenchmark() {}

  @Setup
  public void open() {
    server = new BenchmarkServer();
    exchange = new GrpcExchange(server.grpcPort(), BenchmarkRequests.grpc(elements));
  }

  @TearDown
  public void close() {
    exchange.close();
    server.close();
  }

  @Benchmark
  @Threads(1)
  public int threads01() {
    return exchange.run();
  }

  @Benchmark
  @Threads(8)
  public int threads08() {
    return exchange.run();
  }
}
