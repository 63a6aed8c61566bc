package io.nereid.server.http;

import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.server.json.JsonBuffer;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
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
import org.openjdk.jmh.annotations.Warmup;

/** Elements of a tensor as JSON, into the buffer that a connection keeps. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class JsonWriteBenchmark {

  /** What the elements are. */
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
