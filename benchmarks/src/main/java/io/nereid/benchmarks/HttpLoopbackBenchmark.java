package io.nereid.benchmarks;

import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.benchmarks.fixtures.ServerBenchmark;
import java.io.IOException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

/**
 * Round trips over HTTP and the loopback device: the client's work and the kernel's are in it. The
 * client is as cheap as it can be: one channel a thread, and a request that is ready to be sent.
 */
public class HttpLoopbackBenchmark extends ServerBenchmark {

  @Param({"json", "binary"})
  public String form;

  @Param({"16", "150528"})
  public int elements;

  private BenchmarkServer server;
  private byte[] request;
  private byte[] requestWithId;

  /** Made by JMH. */
  public HttpLoopbackBenchmark() {}

  @Setup
  public void open() {
    server = new BenchmarkServer();
    request = BenchmarkRequests.http(form.equals("json"), elements);
    requestWithId = BenchmarkRequests.httpWithId(form.equals("json"), elements);
  }

  @TearDown
  public void close() {
    server.close();
  }

  /** The connection of one thread. */
  @State(Scope.Thread)
  public static class Connection {

    private HttpExchange exchange;

    /** Made by JMH. */
    public Connection() {}

    @Setup
    public void open(HttpLoopbackBenchmark benchmark) throws IOException {
      exchange = new HttpExchange(benchmark.server.httpPort(), benchmark.request);
    }

    @TearDown
    public void close() throws IOException {
      exchange.close();
    }
  }

  /** The connection of one thread, whose requests have an id each. */
  @State(Scope.Thread)
  public static class NewIds {

    private HttpExchange exchange;

    /** Made by JMH. */
    public NewIds() {}

    @Setup
    public void open(HttpLoopbackBenchmark benchmark) throws IOException {
      exchange = new HttpExchange(benchmark.server.httpPort(), benchmark.requestWithId);
    }

    @TearDown
    public void close() throws IOException {
      exchange.close();
    }
  }

  @Benchmark
  @Threads(1)
  public long threads01(Connection connection) throws IOException {
    return connection.exchange.run();
  }

  @Benchmark
  @Threads(8)
  public long threads08(Connection connection) throws IOException {
    return connection.exchange.run();
  }

  /** The server understands each request anew. */
  @Benchmark
  @Threads(8)
  public long newIds08(NewIds connection) throws IOException {
    return connection.exchange.run();
  }
}
