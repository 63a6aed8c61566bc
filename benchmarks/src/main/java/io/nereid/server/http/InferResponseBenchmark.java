package io.nereid.server.http;

import io.nereid.InferResponse;
import io.nereid.Nereid;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.benchmarks.fixtures.ServerBenchmark;
import io.nereid.server.json.JsonBuffer;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Measures the encoding of a response of FP32, without the sending: JSON, or a head for binary
 * data.
 */
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class InferResponseBenchmark extends ServerBenchmark {

  @Param({"16", "1024", "150528"})
  public int elements;

  private final JsonBuffer json = new JsonBuffer();
  private final WantedOutputs outputs = new WantedOutputs();
  private Nereid nereid;
  private InferResponse response;

  /** Made by JMH. */
  public InferResponseBenchmark() {}

  @Setup
  public void open() {
    nereid = Nereid.create();
    Tensor input = BenchmarkRequests.tensor(DataType.FP32, elements);
    try (var request = nereid.load(BenchmarkModels.anyIdentity()).newRequest()) {
      response = request.input(BenchmarkModels.INPUT, input).infer();
    }
  }

  @TearDown
  public void close() {
    response.close();
    nereid.close();
  }

  @Benchmark
  public long json() {
    return write(false);
  }

  @Benchmark
  public long binary() {
    return write(true);
  }

  private long write(boolean binary) {
    json.clear();
    int segments = InferResponseWriter.write(response, outputs, binary, json).size();
    return json.size() + segments;
  }
}
