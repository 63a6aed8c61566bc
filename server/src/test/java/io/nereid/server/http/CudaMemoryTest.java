package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.internal.cuda.CudaDriver;
import io.nereid.model.ModelSpec;
import io.nereid.server.memory.CudaExporter;
import io.nereid.server.memory.DoublerPlan;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tensors in GPU memory that clients registered, over HTTP. Skipped where there is no GPU. */
@Tag("gpu")
class CudaMemoryTest {

  private static final int BYTES = 2 << 20;
  private static final String CUDA = "/v2/cudasharedmemory";

  private static String registration(CudaExporter client) {
    return "{\"raw_handle\":{\"b64\":\""
        + Base64.getEncoder().encodeToString(client.handle())
        + "\"},\"device_id\":0,\"byte_size\":"
        + BYTES
        + "}";
  }

  private static String region(int offset, int byteSize) {
    return "\"parameters\":{\"shared_memory_region\":\"r\",\"shared_memory_offset\":"
        + offset
        + ",\"shared_memory_byte_size\":"
        + byteSize
        + "}";
  }

  @Test
  void tensorsGoIntoAndOutOfARegion() throws IOException {
    try (CudaExporter client = new CudaExporter(BYTES);
        TestServer server = TestServer.withClientShm().identity(DataType.UINT8);
        RawClient http = server.connect()) {
      http.post(CUDA + "/region/r/register", registration(client)).expect(200);
      assertEquals(
          "[{\"name\":\"r\",\"device_id\":0,\"byte_size\":" + BYTES + "}]",
          http.get(CUDA + "/status").expect(200).text());
      assertEquals("[]", http.get("/v2/systemsharedmemory/status").expect(200).text());
      String extensions = http.get("/v2").expect(200).text();
      assertTrue(extensions.contains("\"cuda_shared_memory\""), extensions);

      int half = BYTES / 2;
      String json =
          "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"UINT8\",\"shape\":[1,"
              + half
              + "],"
              + region(0, half)
              + "}],\"outputs\":[{\"name\":\"OUT\","
              + region(half, half)
              + "}]}";
      String answer = http.post("/v2/models/UINT8/infer", json).expect(200).text();
      assertTrue(answer.contains("\"shape\":[1," + half + "]}"), answer);
      byte[] contents = client.contents();
      assertArrayEquals(Arrays.copyOf(contents, half), Arrays.copyOfRange(contents, half, BYTES));
      assertEquals(CudaExporter.firstContent(1000), contents[1000]);

      http.post(CUDA + "/region/r/unregister", "").expect(200);
      assertEquals("[]", http.get(CUDA + "/status").expect(200).text());
      http.post("/v2/models/UINT8/infer", json).expect(404);
      http.get(CUDA + "/region/r/status").expect(404);
    }
  }

  /** Nothing of the tensors comes into the processor's memory. */
  @Test
  void aModelOnTheGpuReadsAndWritesTheRegionItself(@TempDir Path directory) throws IOException {
    int half = BYTES / 2;
    ModelSpec.Builder doubler = DoublerPlan.build(directory, half / Integer.BYTES);
    try (CudaExporter client = new CudaExporter(BYTES);
        TestServer server = TestServer.withClientShm().load(doubler);
        RawClient http = server.connect()) {
      http.post(CUDA + "/region/r/register", registration(client)).expect(200);
      String path = "/v2/models/doubler/infer";
      String answer = http.post(path, doubling(half, half)).expect(200).text();
      assertTrue(answer.contains("\"shape\":[" + half / 4 + "]}"), answer);
      DoublerPlan.assertDoubled(client.contents(), 0, half, half);
      String refusal = http.post(path, doubling(half, half - 4)).expect(400).text();
      assertTrue(refusal.contains("should be at least " + half + " bytes"), refusal);
      http.post(path, doubling(half, half)).expect(200);
      http.post(CUDA + "/region/r/unregister", "").expect(200);
      assertEquals("[]", http.get(CUDA + "/status").expect(200).text());
    }
  }

  /** A request that has begun reads and writes there to its end, whatever the client says. */
  @Test
  void aRegionIsUnregisteredWhenItsRequestsAreDone(@TempDir Path directory) throws Exception {
    int half = BYTES / 2;
    ModelSpec.Builder doubler = DoublerPlan.build(directory, half / Integer.BYTES);
    try (CudaExporter client = new CudaExporter(BYTES);
        TestServer server = TestServer.withClientShm().load(doubler);
        RawClient http = server.connect();
        RawClient requests = server.connect();
        ExecutorService sender = Executors.newSingleThreadExecutor()) {
      Future<Set<Integer>> statuses =
          sender.submit(() -> {
            Set<Integer> seen = new HashSet<>();
            int done = 0;
            while (done < 10) {
              int status = requests.post("/v2/models/doubler/infer", doubling(half, half)).status();
              seen.add(status);
              done += status == 200 ? 1 : 0;
            }
            return seen;
          });
      while (!statuses.isDone()) {
        http.post(CUDA + "/region/r/register", registration(client)); // it may be there still
        http.post(CUDA + "/region/r/unregister", "").expect(200);
      }
      assertTrue(Set.of(200, 404).containsAll(statuses.get()), statuses.get()::toString);
      DoublerPlan.assertDoubled(client.contents(), 0, half, half);
    }
  }

  private static String doubling(int inBytes, int outBytes) {
    return "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT32\",\"shape\":["
        + inBytes / Integer.BYTES
        + "],"
        + region(0, inBytes)
        + "}],\"outputs\":[{\"name\":\"OUT\","
        + region(BYTES / 2, outBytes)
        + "}]}";
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}                                                    | object member 'raw_handle'",
        "{\"raw_handle\":\"x\"}                                | non-object as object",
        "{\"raw_handle\":{}}                                   | object member 'b64'",
        "{\"raw_handle\":{\"b64\":\"?\"}}                      | expected Base64",
        "{\"raw_handle\":{\"b64\":\"AAAA\"}}                   | object member 'device_id'",
        "{\"raw_handle\":{\"b64\":\"AAAA\"},\"device_id\":0}   | object member 'byte_size'",
        "{\"raw_handle\":{\"b64\":\"AAAA\"},\"device_id\":0,\"byte_size\":8} | 64 bytes"
      })
  void wrongRegistrationsAreExplained(String body, String message) throws IOException {
    assumeTrue(CudaDriver.isPresent(), () -> "there is no GPU here: " + CudaDriver.absence());
    try (TestServer server = TestServer.withClientShm();
        RawClient http = server.connect()) {
      String text = http.post(CUDA + "/region/r/register", body).expect(400).text();
      assertTrue(text.contains(message), text);
    }
  }
}
