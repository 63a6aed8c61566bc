package io.nereid.benchmarks;

import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.benchmarks.fixtures.ServerBenchmark;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

/**
 * Calls of ModelInfer over the loopback device, with messages of bytes at the client: its share is
 * grpc-java's and the kernel's.
 */
public class GrpcLoopbackBenchmark extends ServerBenchmark {

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
