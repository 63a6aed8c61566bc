package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.NereidOptions;
import io.nereid.model.RepositoryOptions;
import io.nereid.types.DataType;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Parameters of a request. */
class ParametersTest {

  private static final String INPUTS =
      "\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":[1]}]";

  @Test
  void theBackendGetsThem() throws Exception {
    BlockingQueue<Map<String, Object>> seen = new LinkedBlockingQueue<>();
    try (TestServer server =
            new TestServer()
                .load(
                    TestServer.identity("m", DataType.FP32)
                        .backend(context ->
                            batch -> {
                              seen.add(Map.copyOf(batch.request(0).parameters()));
                              batch.output("OUT", batch.input("IN"));
                            }));
        RawClient client = server.connect()) {
      String parameters =
          "{\"a\":true,\"b\":-3,\"c\":\"x\",\"d\":0.5,\"e\":18446744073709551615,"
              + "\"sequence_id\":7,\"sequence_start\":true,\"sequence_end\":false,"
              + "\"priority\":2,\"timeout\":1000000,\"binary_data_output\":false}";
      client
          .post("/v2/models/m/infer", "{\"parameters\":" + parameters + "," + INPUTS + "}")
          .expect(200);
      Map<String, Object> got = seen.poll(60, TimeUnit.SECONDS);
      assertEquals(
          Map.of(
              "a", true, "b", -3L, "c", "x", "d", 0.5, "e", new BigInteger("18446744073709551615")),
          got);
    }
  }

  @Test
  void anIdIsRepeatedAsItIs() throws IOException {
    try (TestServer server = new TestServer().identity(DataType.FP32);
        RawClient client = server.connect()) {
      String id = "\\\"\\\\\\u0001\\u00fc\\ud83d\\ude00";
      String text =
          client
              .post("/v2/models/FP32/infer", "{\"id\":\"" + id + "\"," + INPUTS + "}")
              .expect(200)
              .text();
      assertTrue(text.startsWith("{\"id\":\"\\\"\\\\\\u0001ü😀\",\"model_name\""), text);
      text =
          client.post("/v2/models/FP32/infer", "{\"id\":\"\"," + INPUTS + "}").expect(200).text();
      assertTrue(text.startsWith("{\"model_name\""), text);
    }
  }

  @Test
  void aPoolWithoutMemoryIsToldToComeAgain() throws IOException {
    try (TestServer server =
        new TestServer(
            Nereid.open(
                RepositoryOptions.builder().explicit().build(),
                NereidOptions.builder().poolByteLimit(1 << 20).build()),
            HttpLimits.DEFAULT)) {
      server.identity(DataType.FP32);
      TestServer.await(() -> isToldToComeAgain(server), "it was not told");
    }
  }

  private static boolean isToldToComeAgain(TestServer server) {
    try (RawClient client = server.connect()) {
      int size = 4 << 20;
      String json =
          "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,"
              + size / Float.BYTES
              + "],\"parameters\":{\"binary_data_size\":"
              + size
              + "}}]}";
      RawClient.Response response = client.infer("FP32", json, new byte[size]).expect(503);
      return "1".equals(response.fields().get("retry-after"));
    } catch (IOException e) {
      return false; // it sent on for longer than the server reads over
    }
  }
}
