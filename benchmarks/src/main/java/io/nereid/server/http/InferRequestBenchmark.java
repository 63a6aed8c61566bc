package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.benchmarks.fixtures.ServerBenchmark;
import io.nereid.server.memory.RequestSlices;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.HeapShare;
import io.nereid.server.shared.ServerState;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The body of an HTTP request of FP32, out of a buffer as the socket filled it and into a request
 * that could be sent: all parsing of ours, and no network.
 */
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class InferRequestBenchmark extends ServerBenchmark {

  @Param({"16", "1024", "150528"})
  public int elements;

  private Nereid nereid;
  private ServerState state;
  private Model model;
  private Reader json;
  private Reader binary;
  private final InferRequestParser parser = new InferRequestParser(HttpLimits.DEFAULT, null);

  /** Made by JMH. */
  public InferRequestBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    state = ServerState.builder(nereid).build();
    model = nereid.load(BenchmarkModels.anyIdentity());
    json = new Reader(BenchmarkRequests.http(true, elements), true);
    binary = new Reader(BenchmarkRequests.http(false, elements), false);
  }

  @TearDown
  public void close() {
    nereid.close();
  }

  @Benchmark
  public long json() throws IOException {
    return json.read();
  }

  @Benchmark
  public long binary() throws IOException {
    return binary.read();
  }

  /** A request that has come, as those have that repeat the last one. */
  private final class Reader {

    private static final byte[] END = {'\r', '\n', '\r', '\n'};

    private final byte[] request;
    private final int bodyAt;
    private final long jsonLength;
    private final RequestBody body =
        new RequestBody(null, new HeapShare(HeapBudget.ofThisProcess()), HttpLimits.DEFAULT);

    Reader(byte[] request, boolean isJson) {
      this.request = request.clone();
      int end = 0;
      while (!Arrays.equals(request, end, end + END.length, END, 0, END.length)) {
        end++;
      }
      bodyAt = end + END.length;
      jsonLength =
          isJson ? InferRequestParser.ALL : request.length - bodyAt - (long) elements * Float.BYTES;
    }

    /**
     * Reads what a client sends that never says the same twice: what is kept of a request is not
     * used.
     */
    long read() throws IOException {
      body.startGiven(request, bodyAt, request.length - bodyAt);
      try (InferRequest filled = model.newRequest();
          RequestSlices slices = new RequestSlices(state.sharedMemory())) {
        parser.forget();
        parser.parse(body, jsonLength, model, filled, slices);
        parser.release();
        return body.received();
      }
    }
  }
}
