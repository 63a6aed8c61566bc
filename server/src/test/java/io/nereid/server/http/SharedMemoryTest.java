package io.nereid.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.nereid.internal.cuda.CudaDriver;
import io.nereid.model.ModelSpec;
import io.nereid.server.memory.Segment;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tensors in shared memory that clients registered. */
class SharedMemoryTest {

  private static final String SYSTEM = "/v2/systemsharedmemory";

  private Segment segment;
  private TestServer server;
  private RawClient client;

  @BeforeEach
  void start() throws IOException {
    segment = new Segment(256);
    server = TestServer.withClientShm();
    client = server.connect();
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
    segment.close();
  }

  private RawClient.Response register(String name, long offset, long byteSize) throws IOException {
    return client.post(
        SYSTEM + "/region/" + name + "/register",
        "{\"key\":\""
            + segment.key()
            + "\",\"offset\":"
            + offset
            + ",\"byte_size\":"
            + byteSize
            + "}");
  }

  private static String region(String name, long offset, long byteSize) {
    return "\"parameters\":{\"shared_memory_region\":\""
        + name
        + "\",\"shared_memory_offset\":"
        + offset
        + ",\"shared_memory_byte_size\":"
        + byteSize
        + "}";
  }

  private static String request(String type, String shape, String input, String output) {
    return "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\""
        + type
        + "\",\"shape\":"
        + shape
        + ","
        + input
        + "}],\"outputs\":[{\"name\":\"OUT\","
        + output
        + "}]}";
  }

  private RawClient.Response infer(String model, String json) throws IOException {
    return client.post("/v2/models/" + model + "/infer", json);
  }

  @Test
  void regionsComeAndGo() throws IOException {
    assertEquals("[]", client.get(SYSTEM + "/status").expect(200).text());
    assertEquals(0, register("b", 0, 64).expect(200).body().length);
    client
        .post(
            SYSTEM + "/region/a%20a/register",
            "{\"key\":\"" + segment.key() + "\",\"byte_size\":8}")
        .expect(200);
    String a = "{\"name\":\"a a\",\"key\":\"" + segment.key() + "\",\"offset\":0,\"byte_size\":8}";
    String b = "{\"name\":\"b\",\"key\":\"" + segment.key() + "\",\"offset\":0,\"byte_size\":64}";
    RawClient.Response all = client.get(SYSTEM + "/status").expect(200);
    assertEquals("[" + a + "," + b + "]", all.text());
    assertEquals("application/json", all.fields().get("content-type"));
    assertEquals("[" + b + "]", client.get(SYSTEM + "/region/b/status").expect(200).text());
    assertTrue(register("b", 0, 1).expect(400).text().contains("'b' already in manager"));
    client.post(SYSTEM + "/region/b/unregister", "").expect(200);
    client.post(SYSTEM + "/region/b/unregister", "").expect(200);
    assertTrue(
        client
            .get(SYSTEM + "/region/b/status")
            .expect(404)
            .text()
            .contains("Unable to find shared memory region: 'b'"));
    client.post(SYSTEM + "/unregister", "").expect(200);
    assertEquals("[]", client.get(SYSTEM + "/status").expect(200).text());
    assertEquals(0, segment.openCount());
    assertTrue(client.get("/v2").text().contains("\"system_shared_memory\""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}                                   | 400 | Unable to parse 'key'",
        "{\"key\":\"/x\"}                     | 400 | Unable to parse 'byte_size'",
        "{\"key\":7,\"byte_size\":1}          | 400 | Unable to parse 'key'",
        "{\"key\":\"/x\",\"byte_size\":-1}    | 400 | Unable to parse 'byte_size'",
        "{\"key\":\"/x\",\"byte_size\":1e1}   | 400 | Unable to parse 'byte_size'",
        "{\"key\":\"/../x\",\"byte_size\":1}  | 400 | without further slashes",
        "{\"key\":\"/nereid-no\",\"byte_size\":1}"
            + " | 400 | Unable to open shared memory region: '/nereid-no'",
        "[]                                   | 400 | expected an object",
        "{                                    | 400 | failed to parse the request JSON buffer"
      })
  void wrongRegistrationsAreExplained(String body, int status, String message) throws IOException {
    String text = client.post(SYSTEM + "/region/r/register", body).expect(status).text();
    assertTrue(text.contains(message), text);
  }

  @ParameterizedTest
  @CsvSource({
    "POST, status, 'GET, HEAD'",
    "GET, region/r/register, POST",
    "GET, unregister, POST",
    "GET, region/r/unregister, POST"
  })
  void wrongVerbsAreTold(String verb, String path, String allow) throws IOException {
    for (String kind : new String[] {"system", "cuda"}) {
      client.send(verb + " /v2/" + kind + "sharedmemory/" + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
      assertEquals(allow, client.receive().expect(405).fields().get("allow"));
    }
    client.get("/v2/systemsharedmemory").expect(404);
    client.post("/v2/systemsharedmemory/register", "").expect(404);
    client.post("/v2/systemsharedmemory/region//register", "").expect(404);
  }

  @Test
  void withoutAGpuThereIsNoneOfCuda() throws IOException {
    assumeFalse(CudaDriver.isPresent(), "there is a GPU here");
    assertEquals("[]", client.get("/v2/cudasharedmemory/status").expect(200).text());
    assertEquals("[]", client.get("/v2/cudasharedmemory/region/r/status").expect(200).text());
    String text = client.post("/v2/cudasharedmemory/region/r/register", "{}").expect(501).text();
    assertTrue(text.contains("CUDA shared memory is not supported: there is no"), text);
    String extensions = client.get("/v2").expect(200).text();
    assertTrue(extensions.contains("\"system_shared_memory\""), extensions);
    assertFalse(extensions.contains("cuda"), extensions);
  }

  /** The chain of CVE-2025-23319: a client registers the backend's segment, and reads it. */
  @ParameterizedTest
  @ValueSource(strings = {"", "/", "///", "./", "/./"})
  void theSegmentsOfThePythonBackendAreNotAClients(String front) throws IOException {
    String name = "triton_python_backend_shm_region_" + ProcessHandle.current().pid();
    Path file = Path.of("/dev/shm", name);
    Files.write(file, new byte[64]);
    try {
      String body = "{\"key\":\"" + front + name + "\",\"byte_size\":64}";
      client.post(SYSTEM + "/region/stolen/register", "", body.getBytes(UTF_8)).expect(400);
      assertEquals("[]", client.get(SYSTEM + "/status").expect(200).text());
    } finally {
      Files.delete(file);
    }
  }

  /** As clients do first, before they register memory of whatever kind. */
  @Test
  void aMissingRegionCanBeUnregistered() throws IOException {
    for (String kind : new String[] {"system", "cuda"}) {
      for (String path : new String[] {"unregister", "region/r/unregister"}) {
        client.post("/v2/" + kind + "sharedmemory/" + path, "").expect(200);
      }
    }
  }

  @Test
  void whileItIsOffNothingIsRegistered() throws IOException {
    try (TestServer off = new TestServer().identity(DataType.INT8);
        RawClient other = off.connect()) {
      for (String path : new String[] {"region/r/register", "region/r/unregister", "unregister"}) {
        String body = "{\"key\":\"" + segment.key() + "\",\"byte_size\":8}";
        String text = other.post(SYSTEM + "/" + path, body).expect(501).text();
        assertTrue(text.contains("--allow-client-shm"), text);
      }
      assertEquals("[]", other.get(SYSTEM + "/status").expect(200).text());
      assertEquals("[]", other.get(SYSTEM + "/region/r/status").expect(200).text());
      assertFalse(other.get("/v2").text().contains("shared_memory"));
      String plain = "\"data\":[1]";
      String path = "/v2/models/INT8/infer";
      other.post(path, request("INT8", "[1,1]", region("r", 0, 1), "\"x\":0")).expect(501);
      other.post(path, request("INT8", "[1,1]", plain, region("r", 0, 1))).expect(501);
      other.post(path, request("INT8", "[1,1]", plain, "\"x\":0")).expect(200);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "BOOL, 0100",
    "UINT8, 00ff",
    "INT8, 807f",
    "UINT16, 0000ffff",
    "INT16, 0080ff7f",
    "UINT32, 01000000ffffffff",
    "INT32, 00000080ffffff7f",
    "UINT64, 0000000000000000ffffffffffffffff",
    "INT64, 0000000000000080ffffffffffffff7f",
    "FP16, 003c00c0",
    "BF16, 803f00c0",
    "FP32, 9a99d940000080bf",
    "FP64, 9a9999999999f13f000000000000f0bf",
    "BYTES, 0300000061620000000000"
  })
  void everyDatatypeGoesInAndOut(DataType type, String hex) throws IOException {
    byte[] bytes = HexFormat.of().parseHex(hex);
    server.identity(type);
    segment.write(40, bytes);
    register("in", 32, 64).expect(200);
    register("out", 128, 64).expect(200);
    String json =
        request(
            type.name(), "[1,2]", region("in", 8, bytes.length), region("out", 16, bytes.length));
    assertEquals(
        "{\"model_name\":\""
            + type
            + "\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"OUT\",\"datatype\":\""
            + type
            + "\",\"shape\":[1,2]}]}",
        infer(type.name(), json).expect(200).text());
    assertArrayEquals(bytes, segment.read(144, bytes.length));
    assertArrayEquals(new byte[16], segment.read(128, 16));
    assertArrayEquals(new byte[32], segment.read(144 + bytes.length, 32));
  }

  @Test
  void aRequestMayMixAllForms() throws IOException {
    ModelSpec.Builder model = ModelSpec.builder("three").backend("identity");
    for (int i = 0; i < 3; i++) {
      model.input("IN" + i, DataType.INT16, -1).output("OUT" + i, DataType.INT16, -1);
    }
    server.load(model);
    register("r", 0, 64).expect(200);
    segment.write(0, new byte[] {5, 0, 6, 0});
    String json =
        "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"INT16\",\"shape\":[2],\"parameters\":"
            + "{\"binary_data_size\":4}},"
            + "{\"name\":\"IN1\",\"datatype\":\"INT16\",\"shape\":[2],"
            + "\"parameters\":{\"shared_memory_region\":\"r\",\"shared_memory_byte_size\":4}},"
            + "{\"name\":\"IN2\",\"datatype\":\"INT16\",\"shape\":[1],\"data\":[9]}],"
            + "\"parameters\":{\"binary_data_output\":true},\"outputs\":["
            + "{\"name\":\"OUT0\","
            + region("r", 8, 4)
            + "},{\"name\":\"OUT1\"},"
            + "{\"name\":\"OUT2\",\"parameters\":{\"binary_data\":false}}]}";
    RawClient.Response response = client.infer("three", json, new byte[] {3, 0, 4, 0}).expect(200);
    String outputs = response.json().substring(response.json().indexOf("[{"));
    assertEquals(
        "[{\"name\":\"OUT0\",\"datatype\":\"INT16\",\"shape\":[2]},{\"name\":\"OUT1\",\"datatype\":"
            + "\"INT16\",\"shape\":[2],\"parameters\":{\"binary_data_size\":4}},{\"name\":\"OUT2\","
            + "\"datatype\":\"INT16\",\"shape\":[1],\"data\":[9]}]}",
        outputs);
    assertArrayEquals(new byte[] {5, 0, 6, 0}, response.binary());
    assertArrayEquals(new byte[] {3, 0, 4, 0}, segment.read(8, 4));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"shared_memory_region\":\"no\",\"shared_memory_byte_size\":4}"
            + " | 404 | Unable to find shared memory region: 'no'",
        "{\"shared_memory_region\":\"r\",\"shared_memory_byte_size\":4,\"shared_memory_offset\":61}"
            + " | 400 | Invalid offset + byte size for shared memory region: 'r'",
        "{\"shared_memory_region\":\"r\",\"shared_memory_byte_size\":4,"
            + "\"shared_memory_offset\":9223372036854775807}"
            + " | 400 | Invalid offset + byte size for shared memory region: 'r'",
        "{\"shared_memory_region\":\"r\"} | 400 | Unable to parse 'shared_memory_byte_size'",
        "{\"shared_memory_byte_size\":4} | 400 | Unable to parse 'shared_memory_region'",
        "{\"shared_memory_region\":1,\"shared_memory_byte_size\":4}"
            + " | 400 | Unable to parse 'shared_memory_region'",
        "{\"shared_memory_region\":\"r\",\"shared_memory_byte_size\":-4}"
            + " | 400 | Unable to parse 'shared_memory_byte_size'"
      })
  void wrongParametersAreExplained(String parameters, int status, String message)
      throws IOException {
    server.identity(DataType.FP32);
    register("r", 0, 64).expect(200);
    String there = "\"parameters\":" + parameters;
    String text = infer("FP32", request("FP32", "[1,1]", there, "\"x\":0")).expect(status).text();
    assertTrue(text.contains(message), text);
    text = infer("FP32", request("FP32", "[1,1]", "\"data\":[1]", there)).expect(status).text();
    assertTrue(text.contains(message), text);
    client.post(SYSTEM + "/unregister", "").expect(200);
    assertEquals(0, segment.openCount(), "a failed request kept the region");
  }

  @Test
  void sizesAreChecked() throws IOException {
    server.identity(DataType.FP32).identity(DataType.BYTES);
    register("r", 0, 64).expect(200);
    String out = "\"x\":0";
    String text =
        infer("FP32", request("FP32", "[1,2]", region("r", 0, 12), out)).expect(400).text();
    assertTrue(
        text.contains(
            "input byte size mismatch for input 'IN' for model 'FP32'. Expected 8, got 12"),
        text);
    segment.write(0, "\4\0\0\0abcd".getBytes(StandardCharsets.US_ASCII));
    text = infer("BYTES", request("BYTES", "[1,1]", region("r", 0, 6), out)).expect(400).text();
    assertTrue(text.contains("incomplete string data for inference input"), text);
    text = infer("BYTES", request("BYTES", "[1,2]", region("r", 0, 8), out)).expect(400).text();
    assertTrue(text.contains("expected 2 string elements for inference input 'IN'"), text);
    text = infer("INT8", request("INT8", "[1,2]", region("r", 0, 2), out)).expect(404).text();
    text = infer("FP32", request("INT8", "[1,2]", region("r", 0, 2), out)).expect(400).text();
    assertTrue(text.contains("data-type is 'INT8', but model 'FP32' expects 'FP32'"), text);
    text =
        infer("FP32", request("FP32", "[1,2]", "\"data\":[1,2]", region("r", 0, 4)))
            .expect(400)
            .text();
    assertTrue(
        text.contains(
            "shared memory size specified with the request for output 'OUT' (4 bytes) should be at"
                + " least 8 bytes to hold the results"),
        text);
  }

  @Test
  void onePlaceForEachTensor() throws IOException {
    server.identity(DataType.INT8);
    register("r", 0, 64).expect(200);
    String here = region("r", 0, 1);
    String text =
        infer("INT8", request("INT8", "[1,1]", here + ",\"data\":[1]", "\"x\":0"))
            .expect(400)
            .text();
    assertTrue(text.contains("But set 'data' 'shared_memory_region'"), text);
    String binary = here.replace("{", "{\"binary_data_size\":1,");
    text = infer("INT8", request("INT8", "[1,1]", binary, "\"x\":0")).expect(400).text();
    assertTrue(text.contains("But set 'binary_data_size' 'shared_memory_region'"), text);
    for (String other : new String[] {"\"binary_data\":true", "\"classification\":2"}) {
      String both = here.replace("{", "{" + other + ",");
      text = infer("INT8", request("INT8", "[1,1]", "\"data\":[1]", both)).expect(400).text();
      String name = other.substring(1, other.indexOf("\":"));
      assertTrue(
          text.contains("Output can't set both 'shared_memory_region' and '" + name + "'"), text);
    }
    String said = here.replace("{", "{\"binary_data\":false,");
    infer("INT8", request("INT8", "[1,1]", "\"data\":[7]", said)).expect(200);
    assertArrayEquals(new byte[] {7}, segment.read(0, 1));
  }

  @Test
  void aSegmentThatBecameShorterFailsItsRequestsOnly() throws IOException {
    server.identity(DataType.INT8);
    register("r", 0, 64).expect(200);
    segment.resize(2);
    String here = region("r", 8, 4);
    String text = infer("INT8", request("INT8", "[1,4]", here, "\"x\":0")).expect(400).text();
    assertTrue(text.contains("has become too short: expected at least 12 bytes, got 2"), text);
    text = infer("INT8", request("INT8", "[1,4]", "\"data\":[1,2,3,4]", here)).expect(400).text();
    assertTrue(text.contains("has become too short"), text);
    assertEquals(2, segment.byteSize());
    infer("INT8", request("INT8", "[1,1]", "\"data\":[1]", "\"x\":0")).expect(200);
  }

  @Test
  void unregisteringWaitsForTheRequestWithoutMakingAnybodyWait() throws Exception {
    GateBackend gate = new GateBackend();
    server.gate(gate);
    register("r", 0, 64).expect(200);
    segment.write(0, new byte[] {0, 0, -128, 63});
    try (RawClient running = server.connect()) {
      String json = request("FP32", "[1,1]", region("r", 0, 4), region("r", 8, 4));
      running.send(
          RawClient.request("/v2/models/gate/infer", "", json.getBytes(StandardCharsets.US_ASCII)));
      gate.awaitBatch();
      client.post(SYSTEM + "/region/r/unregister", "").expect(200);
      client.get(SYSTEM + "/region/r/status").expect(200);
      infer("gate", json).expect(404);
      gate.open(1);
      running.receive().expect(200);
    }
    assertArrayEquals(new byte[] {0, 0, -128, 63}, segment.read(8, 4));
    client.get(SYSTEM + "/region/r/status").expect(404);
    assertEquals(0, segment.openCount());
  }

  @Test
  void aClientThatGoesAwayLetsGoOfItsRegions() throws Exception {
    GateBackend gate = new GateBackend();
    server.gate(gate);
    register("r", 0, 64).expect(200);
    try (RawClient gone = server.connect()) {
      String json = request("FP32", "[1,1]", region("r", 0, 4), region("r", 8, 4));
      gone.send(
          RawClient.request("/v2/models/gate/infer", "", json.getBytes(StandardCharsets.US_ASCII)));
      gate.awaitBatch();
    }
    client.post(SYSTEM + "/unregister", "").expect(200);
    gate.open(1);
    TestServer.await(() -> isFree(segment), "the region is still open");
  }

  static boolean isFree(Segment segment) {
    try {
      return segment.openCount() == 0;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
