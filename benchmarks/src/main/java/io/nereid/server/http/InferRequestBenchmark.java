package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.benchmarks.fixtures.ServerBenchmark;
import io.nereid.server.memory.RequestSlices;
import io.nereid.server.shared.ServerState;
import io.nereid.server.wire.ConnectionInput;
import io.nereid.server.wire.HeadReader;
import io.nereid.server.wire.RequestBody;
import io.nereid.server.wire.RequestHead;
import io.nereid.server.wire.WireLimits;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * A whole HTTP request of FP32, head and body, out of a buffer as the socket filled it and into a
 * request that could be sent: all parsing, and no network.
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
  private final InferRequestParser parser = new InferRequestParser(HttpLimits.DEFAULT);

  /** Made by JMH. */
  public InferRequestBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    state = ServerState.builder(nereid).build();
    model = nereid.load(BenchmarkModels.anyIdentity());
    json = new Reader(BenchmarkRequests.http(true, elements));
    binary = new Reader(BenchmarkRequests.http(false, elements));
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

  /** A connection, as far as requests are read from it. */
  private final class Reader {

    private static final WireLimits LIMITS =
        new WireLimits(64L << 20, 16 << 10, 100, 1, Duration.ofMinutes(1), Duration.ofMinutes(1));

    private final ConnectionInput input;
    private final RequestBody body;

    Reader(byte[] request) {
      input = new ConnectionInput(new RepeatedChannel(request, Long.MAX_VALUE), LIMITS.headBytes());
      body = new RequestBody(input, LIMITS, () -> {});
    }

    /**
     * Reads what a client sends that never says the same twice: what is kept of a request is not
     * used.
     */
    long read() throws IOException {
      ProtocolHead head =
          (ProtocolHead)
              new HeadReader(input, LIMITS.headBytes())
                  .read(() -> new ProtocolHead(ProtocolHead.KeptFields.NONE, Route::to));
      body.start(head);
      try (InferRequest request = model.newRequest();
          RequestSlices slices = new RequestSlices(state.sharedMemory())) {
        String jsonLength = head.inferenceHeaderLength();
        parser.forget();
        parser.parse(
            body,
            jsonLength == null ? RequestHead.ABSENT : Long.parseLong(jsonLength),
            model,
            request,
            slices);
        parser.release();
        return body.received();
      }
    }
  }
}
