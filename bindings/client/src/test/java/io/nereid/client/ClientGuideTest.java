package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The example that the package shows in its documentation. */
class ClientGuideTest {

  private static final String REPLY =
      "{\"model_name\":\"doubles\",\"outputs\":["
          + "{\"name\":\"y\",\"datatype\":\"INT32\",\"shape\":[1,3],\"data\":[2,4,6]}]}";

  @Test
  void aServerIsAsked() throws Exception {
    try (ScriptedServer server =
        new ScriptedServer(request -> ScriptedServer.json("200 OK", REPLY))) {
      String url = "http://localhost:" + server.port(); // or grpc://localhost:8001
      // @start region="infer"
      InferRequest request =
          InferRequest.builder("doubles")
              .input("x", Tensor.ofInts(new int[] {1, 2, 3}, 1, 3))
              .build();
      try (InferenceClient client = InferenceClient.connect(url);
          InferResponse response = client.infer(request)) {
        assertArrayEquals(new int[] {2, 4, 6}, response.output("y").toIntArray());
      }
      // @end
      assertTrue(server.requests.take().line().startsWith("POST /v2/models/doubles/infer"));
    }
  }
}
