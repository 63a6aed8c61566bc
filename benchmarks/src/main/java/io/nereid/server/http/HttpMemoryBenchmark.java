package io.nereid.server.http;

import io.nereid.Nereid;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.benchmarks.fixtures.ServerBenchmark;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.ServerState;
import io.nereid.server.wire.ConnectionWatch;
import io.nereid.server.wire.HttpConnection;
import io.nereid.server.wire.WireContext;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Whole requests through the HTTP frontend in process: everything that happens on a connection's
 * thread, over a channel that is memory. What a loopback adds is the kernel's.
 */
public class HttpMemoryBenchmark extends ServerBenchmark {

  private static final int REQUESTS = 500;

  @Param({"json", "binary"})
  public String form;

  @Param({"16", "150528"})
  public int elements;

  private Nereid nereid;
  private WireContext context;
  private byte[] request;
  private byte[] requestWithId;

  /** Made by JMH. */
  public HttpMemoryBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    nereid.load(BenchmarkModels.anyIdentity());
    ServerState state = ServerState.builder(nereid).build();
    context =
        HttpServer.context(
            state,
            HttpOptions.DEFAULT,
            new ConnectionWatch("nrd-http-watch"),
            HeapBudget.ofThisProcess());
    request = BenchmarkRequests.http(form.equals("json"), elements);
    requestWithId = BenchmarkRequests.httpWithId(form.equals("json"), elements);
  }

  @TearDown
  public void close() {
    context.watch().close();
    nereid.close();
  }

  /** A connection that lives for many requests, all of them the same. */
  @Benchmark
  @OperationsPerInvocation(REQUESTS)
  public long connection() {
    return serve(request);
  }

  /** The same where each request has an id of its own. */
  @Benchmark
  @OperationsPerInvocation(REQUESTS)
  public long connectionNewIds() {
    return serve(requestWithId);
  }

  private long serve(byte[] request) {
    RepeatedChannel channel = new RepeatedChannel(request, REQUESTS);
    new HttpConnection(context, channel).run();
    if (channel.replyBytes() < (long) REQUESTS * elements) {
      throw new IllegalStateException("got " + channel.replyBytes() + " bytes of replies");
    }
    return channel.replyBytes();
  }
}
