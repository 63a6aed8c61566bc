package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.trace.TraceLevel;
import io.nereid.server.trace.TraceOptions;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.jr.ob.JSON;

/** Contents of inputs and outputs in Triton's trace files. */
class TensorTraceTest {

  @TempDir Path files;

  private TraceOptions options(TraceLevel... levels) {
    return TraceOptions.OFF
        .withRate(1)
        .withFile(files.resolve("t.json").toString())
        .withLevels(levels);
  }

  private List<Map<?, ?>> entries() throws IOException {
    List<Map<?, ?>> entries = new ArrayList<>();
    for (Object entry : JSON.std.listFrom(Files.readString(files.resolve("t.json")))) {
      entries.add((Map<?, ?>) entry);
    }
    return entries;
  }

  private static String infer(DataType type, String data) {
    return "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\""
        + type
        + "\",\"shape\":[1,2],\"data\":"
        + data
        + "}]}";
  }

  private static Map<String, Object> tensor(
      String activity, String name, DataType type, String data) {
    return Map.of(
        "id",
        1,
        "activity",
        activity,
        "tensor",
        Map.of("name", name, "data", data, "shape", "1,2", "dtype", type.name()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "BOOL   | [true,false]              | 1,0",
        "INT8   | [-128,127]                | -128,127",
        "UINT8  | [0,255]                   | 0,255",
        "UINT16 | [1,65535]                 | 1,65535",
        "INT32  | [-2147483648,7]           | -2147483648,7",
        "UINT32 | [4294967295,7]            | 4294967295,7",
        "INT64  | [-9223372036854775808,7]  | -9223372036854775808,7",
        "UINT64 | [18446744073709551615,7]  | 18446744073709551615,7",
        "FP32   | [6.8,-0.5]                | 6.8,-0.5",
        "FP64   | [1e300,0.1]               | 1.0E300,0.1",
        "BYTES  | [\"a \\\"b\\\"\",\"\"]     | \"a \"b\"\",\"\"",
      })
  void inputsAndOutputsAreRecorded(DataType type, String json, String text) throws IOException {
    try (TestServer server = TestServer.traced(options(TraceLevel.TENSORS)).identity(type);
        RawClient client = server.connect()) {
      client.post("/v2/models/" + type + "/infer", infer(type, json)).expect(200);
    }
    List<Map<?, ?>> entries = entries();
    assertEquals(Map.of("id", 1, "model_name", type.name(), "model_version", 1), entries.get(0));
    assertEquals(tensor("TENSOR_QUEUE_INPUT", "IN", type, text), entries.get(1));
    assertEquals(tensor("TENSOR_BACKEND_OUTPUT", "OUT", type, text), entries.get(2));
    assertEquals(3, entries.size(), entries::toString);
  }

  @Test
  void halfPrecisionIsReadableToo() throws IOException {
    try (TestServer server =
            TestServer.traced(options(TraceLevel.TENSORS)).identity(DataType.FP16);
        RawClient client = server.connect()) {
      String json =
          "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP16\",\"shape\":[1,2],"
              + "\"parameters\":{\"binary_data_size\":4}}],"
              + "\"parameters\":{\"binary_data_output\":true}}";
      client.infer("FP16", json, new byte[] {0, 0x3c, 0, 0x40}).expect(200);
    }
    assertEquals(
        tensor("TENSOR_BACKEND_OUTPUT", "OUT", DataType.FP16, "1.0,2.0"), entries().get(2));
  }

  @Test
  void bothLevelsTogether() throws IOException {
    try (TestServer server =
            TestServer.traced(options(TraceLevel.TIMESTAMPS, TraceLevel.TENSORS))
                .identity(DataType.FP32);
        RawClient client = server.connect()) {
      client.post("/v2/models/FP32/infer", infer(DataType.FP32, "[1,2]")).expect(200);
      client
          .post("/v2/models/FP32/trace/setting", "{\"trace_level\":[\"TIMESTAMPS\"]}")
          .expect(200);
      client.post("/v2/models/FP32/infer", infer(DataType.FP32, "[1,2]")).expect(200);
    }
    List<Map<?, ?>> entries = entries();
    assertEquals(2, entries.stream().filter(entry -> entry.containsKey("activity")).count());
    for (int id = 1; id <= 2; id++) {
      int its = id;
      assertTrue(
          entries.stream()
              .anyMatch(entry -> entry.get("id").equals(its) && entry.containsKey("timestamps")));
    }
  }

  @Test
  void eachResponseOfAStreamIsRecorded() throws IOException {
    try (TestServer server = TestServer.traced(options(TraceLevel.TENSORS));
        RawClient client = server.connect()) {
      server.load(new StreamBackend().model());
      String body = "{\"COUNT\":3,\"SIZE\":1}";
      byte[] bytes = body.getBytes(StandardCharsets.US_ASCII);
      client.send(RawClient.request("/v2/models/stream/generate_stream", "", bytes));
      client.receiveHead().expect(200);
      while (client.chunk() != null) {
        // the next event
      }
    }
    long outputs =
        entries().stream()
            .filter(entry -> "TENSOR_BACKEND_OUTPUT".equals(entry.get("activity")))
            .count();
    assertEquals(3, outputs);
  }

  /** The file is complete JSON although more is written at a time than is held as text. */
  @Test
  void longTensorsAreWrittenInPieces() throws IOException {
    int count = 1 << 20;
    try (TestServer server =
            TestServer.traced(options(TraceLevel.TENSORS)).identity(DataType.UINT8);
        RawClient client = server.connect()) {
      String json =
          "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"UINT8\",\"shape\":[1,"
              + count
              + "],\"parameters\":{\"binary_data_size\":"
              + count
              + "}}],\"parameters\":{\"binary_data_output\":true}}";
      client.infer("UINT8", json, new byte[count]).expect(200);
      client.post("/v2/models/UINT8/infer", infer(DataType.UINT8, "[1,2]")).expect(200);
    }
    List<Map<?, ?>> entries = entries();
    assertEquals(6, entries.size());
    String data = (String) ((Map<?, ?>) entries.get(2).get("tensor")).get("data");
    assertEquals(2 * count - 1, data.length());
    assertFalse(data.contains("1"));
    assertEquals("1,2", ((Map<?, ?>) entries.get(5).get("tensor")).get("data"));
  }
}
