package io.nereid.server.http;

import io.nereid.benchmarks.fixtures.BenchmarkRequests;
import io.nereid.benchmarks.fixtures.ServerBenchmark;
import io.nereid.server.json.JsonReader;
import io.nereid.types.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Elements of a tensor out of JSON, into memory as a request has it. */
public class JsonReadBenchmark extends ServerBenchmark {

  private static final int MAX_DEPTH = 100;

  /** The type of the elements. */
  @Param({"FP32", "FP64", "INT32", "INT64", "UINT8", "BOOL", "BYTES"})
  public DataType datatype;

  @Param({"16", "1024"})
  public int elements;

  private final JsonReader reader = new JsonReader(MAX_DEPTH);
  private byte[] text;
  private MemorySegment target;

  /** Made by JMH. */
  public JsonReadBenchmark() {}

  @Setup
  public void prepare() {
    text = BenchmarkRequests.array(datatype, elements);
    target = Arena.ofAuto().allocate(8L * elements, 8);
  }

  @Benchmark
  public Object read() {
    reader.reset(text, 0, text.length).next();
    TensorJsonReader tensor = new TensorJsonReader(reader, "INPUT0", datatype, elements);
    if (datatype == DataType.BYTES) {
      return tensor.readBytes(Long.MAX_VALUE);
    }
    tensor.read(target);
    return target;
  }
}
