package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.BatchInput;
import io.nereid.model.BatchOutput;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Clients that send vectors of different lengths share a batch, and need not know it. */
public class RaggedBatchHttpTest {

  /** Three rows at a time, however long the third takes to come. */
  public static ModelSpec.Builder sums() {
    Path file = Path.of("..", "native", "test", "models", "ragged_sums.onnx");
    return ModelSpec.builder("sums")
        .backend("onnxruntime")
        .parameter("model_path", file.toAbsolutePath().normalize().toString())
        .maxBatchSize(8)
        .input(TensorSpec.of("VALUES", DataType.FP32, -1).asRagged())
        .output("SUMS", DataType.FP32, 1)
        .output("DOUBLED", DataType.FP32, -1)
        .batchInput(BatchInput.of(BatchInput.Kind.ACCUMULATED_ELEMENT_COUNT, "INDEX", "VALUES"))
        .batchOutput(new BatchOutput(List.of("DOUBLED"), "VALUES"))
        .dynamicBatching(
            DynamicBatching.builder()
                .preferredBatchSizes(3)
                .maxQueueDelay(Duration.ofSeconds(20))
                .build());
  }

  @Test
  void eachClientGetsItsSumAndItsPart() throws Exception {
    try (TestServer server = new TestServer();
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      server.load(sums());
      List<Future<String>> replies = new ArrayList<>();
      for (String values : new String[] {"1,2,3", "4,5,6,7", "8"}) {
        replies.add(clients.submit(() -> infer(server, values)));
      }
      assertHas("\"data\":[6.0]", "\"shape\":[1,3],\"data\":[2.0,4.0,6.0]", replies.get(0).get());
      assertHas(
          "\"data\":[22.0]", "\"shape\":[1,4],\"data\":[8.0,10.0,12.0,14.0]", replies.get(1).get());
      assertHas("\"data\":[8.0]", "\"shape\":[1,1],\"data\":[16.0]", replies.get(2).get());
      var statistics = server.nereid().model("sums").statistics();
      assertEquals(1, statistics.executionCount());
      try (RawClient client = server.connect()) {
        String metadata = client.get("/v2/models/sums").expect(200).text();
        assertTrue(metadata.contains("VALUES") && !metadata.contains("INDEX"), metadata);
        String config = client.get("/v2/models/sums/config").expect(200).text();
        assertTrue(config.contains("\"kind\":\"BATCH_ACCUMULATED_ELEMENT_COUNT\""), config);
        String refused =
            client.post("/v2/models/sums/infer", body("INDEX", "INT32", "3")).expect(400).text();
        assertTrue(refused.contains("unexpected inference input 'INDEX'"), refused);
      }
    }
  }

  private static void assertHas(String sum, String doubled, String reply) {
    assertTrue(reply.contains(sum) && reply.contains(doubled), reply);
  }

  private static String body(String name, String type, String values) {
    int length = values.split(",").length;
    return "{\"inputs\":[{\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":[1,%d],\"data\":[%s]}]}"
        .formatted(name, type, length, values);
  }

  private static String infer(TestServer server, String values) throws Exception {
    try (RawClient client = server.connect()) {
      return client
          .post("/v2/models/sums/infer", body("VALUES", "FP32", values))
          .expect(200)
          .text();
    }
  }
}
