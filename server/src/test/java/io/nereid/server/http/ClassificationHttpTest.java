package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The classification extension, in JSON and in binary. */
class ClassificationHttpTest {

  private TestServer server;
  private RawClient client;

  @BeforeEach
  void start() throws IOException {
    server = new TestServer();
    server.load(
        ModelSpec.builder("scores")
            .backend("identity")
            .maxBatchSize(4)
            .input("IN", DataType.FP32, -1)
            .output(TensorSpec.of("OUT", DataType.FP32, -1).withLabels(List.of("zero", "o\"ne"))));
    client = server.connect();
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
  }

  private static String request(String datatype, String data, String outputParameters) {
    return "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\""
        + datatype
        + "\","
        + data
        + "}],\"outputs\":[{\"name\":\"OUT\",\"parameters\":{"
        + outputParameters
        + "}}]}";
  }

  private RawClient.Response infer(String outputParameters) throws IOException {
    return client.post(
        "/v2/models/scores/infer",
        request("FP32", "\"shape\":[2,3],\"data\":[1,2.5,2.5,-1,0,7]", outputParameters));
  }

  @Test
  void inJson() throws IOException {
    String text = infer("\"classification\":2").expect(200).text();
    assertEquals(
        "[{\"name\":\"OUT\",\"datatype\":\"BYTES\",\"shape\":[2,2],\"data\":[\"2.500000:1:o\\\"ne\","
            + "\"2.500000:2\",\"7.000000:2\",\"0.000000:1:o\\\"ne\"]}]}",
        text.substring(text.indexOf("[{")));
    text = infer("\"classification\":10").expect(200).text();
    assertTrue(text.contains("\"shape\":[2,3]"), text);
    text = infer("\"classification\":0").expect(200).text();
    assertTrue(text.contains("\"datatype\":\"FP32\",\"shape\":[2,3]"), text);
  }

  @Test
  void inBinary() throws IOException {
    RawClient.Response response = infer("\"classification\":1,\"binary_data\":true").expect(200);
    assertTrue(
        response
            .json()
            .contains(
                "\"datatype\":\"BYTES\",\"shape\":[2,1],\"parameters\":{\"binary_data_size\":33}"),
        response::json);
    assertEquals(
        "\17\0\0\0" + "2.500000:1:o\"ne" + "\12\0\0\0" + "7.000000:2",
        new String(response.binary(), StandardCharsets.ISO_8859_1));
  }

  @Test
  void outputsThatCannotBeClassifiedAreRefused() throws IOException {
    server.identity(DataType.BYTES);
    String text =
        client
            .post(
                "/v2/models/BYTES/infer",
                request("BYTES", "\"shape\":[1,1],\"data\":[\"a\"]", "\"classification\":1"))
            .expect(400)
            .text();
    assertTrue(
        text.contains("class result not available for output due to unsupported type 'BYTES'"),
        text);
    text = infer("\"classification\":-1").expect(400).text();
    assertTrue(text.contains("Unable to parse 'classification'"), text);
    text = infer("\"classification\":\"two\"").expect(400).text();
    assertTrue(text.contains("Unable to parse 'classification'"), text);
    assertFalse(infer("\"classification\":9223372036854775807").expect(200).text().isEmpty());
    assertTrue(client.get("/v2").text().contains("\"classification\""));
  }
}
