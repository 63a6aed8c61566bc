package io.nereid.server.http;

import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.benchmarks.fixtures.ServerBenchmark;
import io.nereid.server.json.JsonBuffer;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Elements of a tensor as JSON, into the buffer that a connection keeps. */
public class JsonWriteBenchmark extends ServerBenchmark {

  /** The type of the elements. */
  @Param({"FP32", "FP64", "INT32", "INT64", "UINT8", "BOOL", "BYTES"})
  public DataType datatype;

  @Param({"16", "1024"})
  public int elements;

  private final JsonBuffer json = new JsonBuffer();
  private Tensor tensor;

  /** Made by JMH. */
  public JsonWriteBenchmark() {}

  @Setup
  public void prepare() {
    tensor = BenchmarkRequests.tensor(datatype, elements);
  }

  @Benchmark
  public long write() {
    json.clear();
    InferResponseWriter.writeTensor(tensor, "OUTPUT0", json);
    return json.size();
  }
}
