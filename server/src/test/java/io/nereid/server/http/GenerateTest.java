package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The generate extension with one response: what goes in and comes out. */
class GenerateTest {

  private TestServer server;
  private RawClient client;

  @BeforeEach
  void start() throws IOException {
    server = new TestServer();
    client = server.connect();
  }

  @AfterEach
  void stop() throws IOException {
    client.close();
    server.close();
  }

  private RawClient.Response generate(String model, String json) throws IOException {
    return client.post("/v2/models/" + model + "/generate", json);
  }

  private static ModelSpec.Builder text() {
    return ModelSpec.builder("text")
        .backend("identity")
        .maxBatchSize(4)
        .input("text_input", DataType.BYTES, 1)
        .output("text_output", DataType.BYTES, 1);
  }

  @Test
  void membersBecomeInputsAndOutputsBecomeMembers() throws IOException {
    server.load(text());
    RawClient.Response response =
        generate("text", "{\"id\":\"42\",\"text_input\":\"a\\n\\u00e9\\\"\"}").expect(200);
    assertEquals(
        "{\"id\":\"42\",\"model_name\":\"text\",\"model_version\":\"1\","
            + "\"text_output\":\"a\\n\u00e9\\\"\"}",
        response.text());
    assertEquals("application/json", response.fields().get("content-type"));
    String text =
        client
            .post("/v2/models/text/versions/1/generate", "{\"text_input\":[\"a\",\"b\"]}")
            .expect(200)
            .text();
    assertTrue(text.endsWith("\"text_output\":[\"a\",\"b\"]}"), text);
    client.post("/v2/models/text/versions/2/generate", "{}").expect(404);
    generate("none", "{}").expect(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "BOOL   | true                 | true",
        "INT8   | -128                 | -128",
        "UINT64 | 18446744073709551615 | 18446744073709551615",
        "FP32   | 6.8                  | 6.8",
        "FP64   | NaN                  | NaN",
        "INT32  | [7]                  | 7",
        "INT32  | [1,2,3]              | [1,2,3]",
        "INT32  | []                   | []",
        "BYTES  | [\"\",\"b\"]         | [\"\",\"b\"]"
      })
  void everyValueGoesInAndOut(DataType type, String in, String out) throws IOException {
    server.identity(type);
    String text = generate(type.name(), "{\"IN\":" + in + "}").expect(200).text();
    assertEquals(
        "{\"model_name\":\"" + type + "\",\"model_version\":\"1\",\"OUT\":" + out + "}", text);
  }

  /** The shape shows in which numbers of elements are taken, and in how many rows were counted. */
  @ParameterizedTest
  @CsvSource({
    "0, 3, 3, 0",
    "0, 3, 4, -1",
    "0, 0, 0, 0",
    "0, 0, 1, -1",
    "4, 2, 6, 3",
    "4, 2, 5, -1",
    "4, -1, 5, 1",
    "4, 1, 4, 4",
    "4, 0, 0, 1"
  })
  void shapesAreFilledInFromTheMetadata(int maxBatchSize, int dim, int count, int rows)
      throws IOException {
    server.load(
        ModelSpec.builder("m")
            .backend("identity")
            .maxBatchSize(maxBatchSize)
            .input("IN", DataType.INT8, dim)
            .output("OUT", DataType.INT8, dim));
    String values = "[" + "1,".repeat(Math.max(0, count - 1)) + (count == 0 ? "]" : "1]");
    if (rows < 0) {
      String text = generate("m", "{\"IN\":" + values + "}").expect(400).text();
      assertTrue(
          text.contains("The schema can not convert input 'IN' to tensor with proper shape"), text);
    } else {
      generate("m", "{\"IN\":" + values + "}").expect(200);
      assertEquals(Math.max(1, rows), server.statistics("m").inferenceCount());
    }
  }

  @Test
  void otherMembersBecomeParameters() throws IOException {
    ParameterBackend backend = new ParameterBackend();
    server.load(
        ModelSpec.builder("p")
            .backend(backend)
            .input(TensorSpec.of("IN", DataType.INT32, 1).asOptional())
            .output("OUT", DataType.INT32, 1));
    String json =
        "{\"stream\":false,\"temperature\":0.5,\"timeout\":9,\"parameters\":{\"top\":\"k\","
            + "\"n\":3,\"IN\":8,\"timeout\":5000000}}";
    String text = generate("p", json).expect(200).text();
    assertTrue(text.endsWith("\"OUT\":8}"), text);
    assertEquals("{n=3, stream=false, temperature=0.5, timeout=9, top=k}", backend.seen.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{                                | failed to parse the request JSON buffer",
        "[]                               | expected an object",
        "{\"id\":7}                       | Unable to parse 'id'",
        "{}                               | expected 1 inputs but got 0 inputs for model 'INT32'",
        "{\"IN\":1,\"IN\":2}              | input 'IN' already exists in request",
        "{\"IN\":1,\"parameters\":{\"IN\":2}} | input 'IN' already exists in request",
        "{\"IN\":[[1]]}                   | Unable to parse 'IN': expected a value or an array of",
        "{\"IN\":{}}                      | got an object",
        "{\"IN\":null}                    | expected an integer",
        "{\"IN\":\"1\"}                   | expected an integer",
        "{\"IN\":2147483648}              | element 0 of input 'IN' of INT32",
        "{\"IN\":1,\"x\":[1]}             | parameter 'x' has invalid type",
        "{\"IN\":1,\"x\":null}            | parameter 'x' has invalid type",
        "{\"IN\":1,\"triton_x\":1}        | parameter keys starting with 'triton_' are reserved",
        "{\"IN\":1,\"parameters\":7}      | Unable to parse 'parameters'",
        "{\"IN\":1,\"parameters\":{\"timeout\":-1}} | Unable to parse 'timeout'",
        "{\"IN\":1}x                      | failed to parse the request JSON buffer"
      })
  void aWrongRequestIsToldWhy(String json, String message) throws IOException {
    server.identity(DataType.INT32);
    for (String path : new String[] {"generate", "generate_stream"}) {
      RawClient.Response response = client.post("/v2/models/INT32/" + path, json).expect(400);
      assertTrue(response.text().contains(message), response::text);
      assertEquals("application/json", response.fields().get("content-type"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"generate", "generate_stream"})
  void onlyAsItIsAskedFor(String path) throws IOException {
    server.identity(DataType.FP16).load(text());
    String url = "/v2/models/text/" + path;
    assertEquals("POST", client.get(url).expect(405).fields().get("allow"));
    byte[] body = "{\"text_input\":\"a\"}".getBytes(StandardCharsets.US_ASCII);
    String text = client.post(url, "Content-Encoding: gzip\r\n", body).expect(400).text();
    assertTrue(text.contains("Unsupported Content-Encoding, only identity"), text);
    client.post(url + "/x", "{}").expect(404);
    text = client.post("/v2/models/FP16/" + path, "{\"IN\":1}").expect(400).text();
    assertTrue(text.contains("receiving FP16 data via JSON is not supported"), text);
  }

  @Test
  void generateIsForOneResponse() throws IOException {
    server.load(new StreamBackend().model());
    String text = generate("stream", "{\"COUNT\":1,\"SIZE\":2}").expect(200).text();
    assertTrue(text.endsWith("\"OUT\":[0,0]}"), text);
    for (int count : new int[] {0, 2, 100}) {
      text = generate("stream", "{\"COUNT\":" + count + ",\"SIZE\":1}").expect(400).text();
      assertTrue(text.contains("generate expects model to produce exactly 1 response"), text);
    }
    text = generate("stream", "{\"COUNT\":1,\"SIZE\":1,\"fail\":true}").expect(500).text();
    assertTrue(text.contains("it failed after 1"), text);
  }

  @Test
  void aModelWithOneResponseStreamsIt() throws IOException {
    server.load(text());
    client.send(
        RawClient.request(
            "/v2/models/text/generate_stream",
            "",
            "{\"text_input\":\"a\\nb\"}".getBytes(StandardCharsets.US_ASCII)));
    assertEquals(200, client.receiveHead().status());
    assertEquals(
        "data: {\"model_name\":\"text\",\"model_version\":\"1\",\"text_output\":\"a\\nb\"}\n\n",
        client.chunk());
    assertNull(client.chunk());
  }
}
