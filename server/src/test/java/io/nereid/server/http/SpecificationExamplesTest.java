package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The examples that the specifications give, with their slips corrected. */
class SpecificationExamplesTest {

  private static TestServer server;

  @BeforeAll
  static void start() {
    server = new TestServer();
    server.load(
        ModelSpec.builder("mymodel")
            .backend(context ->
                batch -> {
                  batch
                      .request(0)
                      .output(
                          "output0",
                          Tensor.ofHalfFloats(DataType.FP16, new float[] {1, 2, 3, 4, 5, 6}, 3, 2));
                  batch
                      .request(0)
                      .output(
                          "output1",
                          Tensor.ofFloats(new float[] {1.203f, 5.403f, 3.434f, 34.234f}, 2, 2));
                })
            .input("input0", DataType.FP16, 2, 2)
            .input("input1", DataType.UINT32, 2, 2)
            .input("input2", DataType.BOOL, 3)
            .output("output0", DataType.FP16, 3, 2)
            .output("output1", DataType.FP32, 2, 2));
    server.load(
        ModelSpec.builder("rest")
            .backend(context ->
                batch ->
                    batch
                        .request(0)
                        .output(
                            "output0",
                            Tensor.ofFloats(new float[] {1, 1.1f, 2, 2.1f, 3, 3.1f}, 3, 2)))
            .input("input0", DataType.UINT32, 2, 2)
            .input("input1", DataType.BOOL, 3)
            .output("output0", DataType.FP32, 3, 2));
    server.load(
        ModelSpec.builder("raw")
            .backend("identity")
            .maxBatchSize(4)
            .input("IN", DataType.FP32, 2, -1)
            .output("OUT", DataType.FP32, 2, -1));
    server.load(
        ModelSpec.builder("raw_bytes")
            .backend("identity")
            .input("IN", DataType.BYTES, 1)
            .output("OUT", DataType.BYTES, 1));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void binaryAndJsonInputsAndOutputsInOneRequest() throws IOException {
    String json =
        """
        {
          "model_name" : "mymodel",
          "inputs" : [
            { "name" : "input0", "shape" : [ 2, 2 ], "datatype" : "FP16",
              "parameters" : { "binary_data_size" : 8 } },
            { "name" : "input1", "shape" : [ 2, 2 ], "datatype" : "UINT32",
              "data": [[1, 2], [3, 4]] },
            { "name" : "input2", "shape" : [ 3 ], "datatype" : "BOOL",
              "parameters" : { "binary_data_size" : 3 } }
          ],
          "outputs" : [
            { "name" : "output0", "parameters" : { "binary_data" : true } },
            { "name" : "output1" }
          ]
        }
        """;
    try (RawClient client = server.connect()) {
      RawClient.Response response = client.infer("mymodel", json, new byte[11]).expect(200);
      assertEquals(
          "{\"model_name\":\"mymodel\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"output0\","
              + "\"datatype\":\"FP16\",\"shape\":[3,2],\"parameters\":{\"binary_data_size\":12}},"
              + "{\"name\":\"output1\",\"datatype\":\"FP32\",\"shape\":[2,2],"
              + "\"data\":[1.203,5.403,3.434,34.234]}]}",
          response.json());
      assertArrayEquals(HexFormat.of().parseHex("003c00400042004400450046"), response.binary());
      assertEquals("application/octet-stream", response.fields().get("content-type"));
    }
  }

  @Test
  void allOutputsBinaryUnlessOneSaysOtherwise() throws IOException {
    String inputs =
        "{\"inputs\":[{\"name\":\"input0\",\"shape\":[2,2],\"datatype\":\"FP16\",\"parameters\":"
            + "{\"binary_data_size\":8}},{\"name\":\"input1\",\"shape\":[2,2],\"datatype\":"
            + "\"UINT32\",\"data\":[1,2,3,4]},{\"name\":\"input2\",\"shape\":[3],\"datatype\":"
            + "\"BOOL\",\"data\":[true,true,false]}],\"parameters\":{\"binary_data_output\":true}";
    try (RawClient client = server.connect()) {
      RawClient.Response all = client.infer("mymodel", inputs + "}", new byte[8]).expect(200);
      assertEquals(12 + 16, all.binary().length);
      RawClient.Response one =
          client
              .infer(
                  "mymodel",
                  inputs
                      + ",\"outputs\":[{\"name\":\"output0\"},{\"name\":\"output1\",\"parameters\":"
                      + "{\"binary_data\":false}}]}",
                  new byte[8])
              .expect(200);
      assertEquals(12, one.binary().length);
      assertTrue(one.json().contains("\"data\":[1.203"), one.json());
    }
  }

  @Test
  void jsonOnly() throws IOException {
    String body =
        """
        {
          "id" : "42",
          "inputs" : [
            { "name" : "input0", "shape" : [ 2, 2 ], "datatype" : "UINT32", "data" : [ 1, 2, 3, 4 ] },
            { "name" : "input1", "shape" : [ 3 ], "datatype" : "BOOL", "data" : [ true, false, true ] }
          ],
          "outputs" : [ { "name" : "output0" } ]
        }
        """;
    try (RawClient client = server.connect()) {
      RawClient.Response response = client.post("/v2/models/rest/infer", body).expect(200);
      assertEquals(
          "{\"id\":\"42\",\"model_name\":\"rest\",\"model_version\":\"1\",\"outputs\":[{\"name\":"
              + "\"output0\",\"datatype\":\"FP32\",\"shape\":[3,2],"
              + "\"data\":[1.0,1.1,2.0,2.1,3.0,3.1]}]}",
          response.text());
      assertEquals("application/json", response.fields().get("content-type"));
      assertNull(response.fields().get("inference-header-content-length"));
      client.post("/v2/models/rest/versions/1/infer", body).expect(200);
      // As the example is printed, with one value for three.
      client
          .post("/v2/models/rest/infer", body.replace("[ true, false, true ]", "[ true ]"))
          .expect(400);
    }
  }

  @Test
  void rawBinary() throws IOException {
    try (RawClient client = server.connect()) {
      String zero = "Inference-Header-Content-Length: 0\r\n";
      byte[] data = HexFormat.of().parseHex("0000803f000000400000404000008040");
      RawClient.Response response = client.post("/v2/models/raw/infer", zero, data).expect(200);
      assertArrayEquals(data, response.binary());
      assertTrue(response.json().contains("\"shape\":[1,2,2]"), response.json());
      String text = client.post("/v2/models/raw/infer", zero, new byte[12]).expect(400).text();
      assertTrue(text.contains("input byte size mismatch"), text);
      text = client.post("/v2/models/mymodel/infer", zero, data).expect(400).text();
      assertTrue(
          text.contains("Raw request must only have 1 input (found 1) to be deduced but got 3"),
          text);
      byte[] string = "hello".getBytes(StandardCharsets.UTF_8);
      response = client.post("/v2/models/raw_bytes/infer", zero, string).expect(200);
      assertArrayEquals(HexFormat.of().parseHex("0500000068656c6c6f"), response.binary());
    }
  }
}
