package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors of infer requests, which the connection outlives. */
class InferErrorsTest {

  private static TestServer server;

  @BeforeAll
  static void start() {
    server = new TestServer().identity(DataType.FP32).identity(DataType.BYTES);
    server.load(
        TestServer.identity("decoupled", DataType.FP32)
            .decoupled(true)
            .backend(context -> batch -> {}));
    server.load(
        ModelSpec.builder("pair")
            .backend("identity")
            .maxBatchSize(8)
            .input("A", DataType.INT32, 2)
            .input("B", DataType.INT32, 2)
            .output("OUT_A", DataType.INT32, 2)
            .output("OUT_B", DataType.INT32, 2));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void nothingIsLeft() {
    server.awaitNoLiveBuffers();
  }

  /** In the bodies below: {@code $A}, {@code $B} are whole inputs, {@code $I} the start of one. */
  private static String expand(String body) {
    return body.replace("$A", "{'name':'A','datatype':'INT32','shape':[1,2],'data':[1,2]}")
        .replace("$B", "{'name':'B','datatype':'INT32','shape':[1,2],'data':[1,2]}")
        .replace("$I", "'name':'IN','datatype':'FP32','shape':[1,2]")
        .replace('\'', '"');
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "FP32 | {                          | 400 | failed to parse the request JSON buffer:",
        "FP32 | []                         | 400 | expected an object",
        "FP32 | ``                         | 400 | expected an object, got nothing",
        "FP32 | {} x                       | 400 | failed to parse the request JSON buffer:",
        "FP32 | {}                         | 400 | Unable to parse 'inputs': attempt to access"
            + " non-existing object member 'inputs'",
        "FP32 | {'inputs':3}               | 400 | Unable to parse 'inputs'",
        "FP32 | {'inputs':[3]}             | 400 | Unable to parse 'inputs'",
        "FP32 | {'inputs':[]}              | 400 | expected 1 inputs but got 0 inputs",
        "FP32 | {'id':3,'inputs':[]}       | 400 | Unable to parse 'id'",
        "FP32 | {'inputs':[{'datatype':'FP32','shape':[1],'data':[1]}]} | 400 | Unable to parse"
            + " 'name'",
        "FP32 | {'inputs':[{'name':'IN','shape':[1],'data':[1]}]} | 400 | Unable to parse"
            + " 'datatype'",
        "FP32 | {'inputs':[{'name':'IN','datatype':'FP32','data':[1]}]} | 400 | Unable to parse"
            + " 'shape'",
        "FP32 | {'inputs':[{'name':'IN','datatype':'FP','shape':[1],'data':[1]}]} | 400 | Unable"
            + " to parse 'datatype': expected one of",
        "FP32 | {'inputs':[{'name':'IN','datatype':'FP32','shape':[-1,2],'data':[1]}]} | 400 |"
            + " Unable to parse 'shape': attempt to access JSON non-unsigned-integer",
        "FP32 | {'inputs':[{'name':'IN','datatype':'FP32','shape':[1.5,2],'data':[1]}]} | 400 |"
            + " Unable to parse 'shape'",
        "FP32 | {'inputs':[{'name':'IN','datatype':'FP32','shape':[1,1,1,1,1,1,1,1,1],'data':[1]}]}"
            + " | 400 | at most 8 dimensions",
        "FP32 | {'inputs':[{'name':'IN','datatype':'FP32','shape':[16,1152921504606846978],"
            + "'data':[1]}]} | 400 | causes total element count to exceed maximum size of"
            + " 9223372036854775807",
        "FP32 | {'inputs':[{'name':'IN','datatype':'FP32','shape':[2,2305843009213693951],"
            + "'data':[1]}]} | 400 | byte size overflow for input",
        "FP32 | {'inputs':[{'name':'IN','datatype':'FP32','shape':[1,100000000],'data':[1]}]} |"
            + " 413 | JSON input 'IN' has a byte_size (400000000) that exceeds the maximum allowed"
            + " value of 67108864",
        "FP32 | {'inputs':[{'name':'IN','datatype':'INT32','shape':[1],'data':[1]}]} | 400 |"
            + " inference input 'IN' data-type is 'INT32', but model 'FP32' expects 'FP32'",
        "FP32 | {'inputs':[{'name':'X','datatype':'FP32','shape':[1],'data':[1]}]} | 400 |"
            + " unexpected inference input 'X' for model 'FP32'",
        "FP32 | {'inputs':[{$I}]} | 400 | Input must set only one of the following fields",
        "FP32 | {'inputs':[{$I,'data':[1,2],'parameters':{'binary_data_size':8}}]} | 400 | But set"
            + " 'data' 'binary_data_size'",
        "FP32 | {'inputs':[{$I,'data':3}]} | 400 | Unable to parse 'data'",
        "FP32 | {'inputs':[{$I,'data':[1]}]} | 400 | shape does not match true shape",
        "FP32 | {'inputs':[{$I,'data':[1,2,3]}]} | 400 | Shape does not match true shape of 'data'",
        "FP32 | {'inputs':[{$I,'data':[1,2,]}]} | 400 | failed to parse the request JSON buffer:",
        "FP32 | {'inputs':[{$I,'data':[1,{}]}]} | 400 | element 1 of input 'IN'",
        "FP32 | {'inputs':[{$I,'parameters':{'binary_data_size':8}}]} | 400 | must specify valid"
            + " 'Infer-Header-Content-Length'",
        "FP32 | {'inputs':[{$I,'parameters':{'shared_memory_region':'r',"
            + "'shared_memory_byte_size':8}}]} | 501 | shared memory",
        "FP32 | {'inputs':[{'name':'IN','datatype':'FP32','shape':[2],'data':[1,2]}]} | 400 |"
            + " unexpected shape for input 'IN' for model 'FP32'",
        "FP32 | {'inputs':[{$I,'data':[1,2]},{$I,'data':[1,2]}]} | 400 | input 'IN' already exists"
            + " in request",
        "FP32 | {'inputs':[{$I,'data':[1,2]}],'outputs':[{'name':'X'}]} | 400 | unexpected"
            + " inference output 'X' for model 'FP32'",
        "FP32 | {'inputs':[{$I,'data':[1,2]}],'outputs':[{'name':'OUT'},{'name':'OUT'}]} | 400 |"
            + " output 'OUT' already exists in request",
        "FP32 | {'inputs':[{$I,'data':[1,2]}],'outputs':[{'name':'OUT','parameters':"
            + "{'classification':-2}}]} | 400 | Unable to parse 'classification'",
        "FP32 | {'inputs':[{$I,'data':[1,2]}],'parameters':{'triton_x':1}} | 400 | reserved for"
            + " Triton usage",
        "FP32 | {'inputs':[{$I,'data':[1,2]}],'parameters':{'p':[1]}} | 400 | parameter 'p' has"
            + " invalid type",
        "FP32 | {'inputs':[{$I,'data':[1,2]}],'parameters':{'priority':-1}} | 400 | Unable to parse"
            + " 'priority'",
        "FP32 | {'inputs':[{$I,'data':[1,2]}],'parameters':{'binary_data_output':1}} | 400 | Unable"
            + " to parse 'binary_data_output'",
        "pair | {'inputs':[$A]} | 400 | expected 2 inputs but got 1 inputs for model 'pair'. Got"
            + " input(s) ['A'], but missing required input(s) ['B']",
        "pair | {'inputs':[$A,{'name':'B','datatype':'INT32','shape':[2,2],'data':[1,2,3,4]}]} |"
            + " 400 | batch size does not match other inputs for 'pair'",
        "decoupled | {} | 501 | HTTP end point doesn't support models with decoupled",
        "none | {} | 404 | Request for unknown model: 'none' is not found",
        "FP32/versions/99 | {} | 404 | Request for unknown model: 'FP32' version 99 is not found",
        "FP32/versions/x | {} | 404 | Not Found"
      })
  void aWrongRequestIsToldWhy(String model, String body, int status, String message)
      throws IOException {
    try (RawClient client = server.connect()) {
      for (int i = 0; i < 2; i++) { // the connection stays
        RawClient.Response response =
            client.post("/v2/models/" + model + "/infer", expand(body == null ? "" : body));
        assertEquals(status, response.status(), response::text);
        assertEquals("application/json", response.fields().get("content-type"));
        assertTrue(response.text().startsWith("{\"error\":\""), response.text());
        assertTrue(response.text().contains(message), response.text());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'inputs':[{'name':'IN','datatype':'LONG'}]}",
        "{'inputs':[{'name':'LONG','datatype':'FP32','shape':[1,2],'data':[1,2]}]}",
        "{'inputs':[{$I,'data':[1,2]}],'outputs':[{'name':'LONG'}]}",
        "{'inputs':[{$I,'data':[1,2]}],'parameters':{'LONG':[]}}"
      })
  void littleOfALongNameIsQuoted(String body) throws IOException {
    try (RawClient client = server.connect()) {
      for (String piece : new String[] {"x", "\u0080", "\\\\", "\\u0001"}) {
        String name = piece.repeat(30_000 / piece.length());
        RawClient.Response response =
            client.post("/v2/models/FP32/infer", expand(body).replace("LONG", name)).expect(400);
        assertTrue(response.body().length < 7000, () -> response.body().length + " bytes");
        assertTrue(response.text().endsWith("...\"}"), response::text);
      }
      String longer = expand(body).replace("LONG", "x".repeat(70_000));
      String text = client.post("/v2/models/FP32/infer", longer).expect(400).text();
      assertTrue(text.contains("a name of at most 65536 bytes, got one of 70000"), text);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "FP32  | 8 | 4  | unexpected size for input 'IN', expecting 8 additional bytes for model",
        "FP32  | 8 | 9  | unexpected additional input data for model 'FP32'",
        "FP32  | 4 | 4  | input byte size mismatch for input 'IN' for model 'FP32'. Expected 8,"
            + " got 4",
        "FP32  | 12 | 12 | input byte size mismatch for input 'IN'",
        "BYTES | 3 | 3  | incomplete string length indicator for inference input",
        "BYTES | 4 | 4  | expected 2 string elements for inference input",
        "BYTES | 12 | 12 | unexpected number of string elements 3"
      })
  void binaryDataMustHaveItsSize(String type, int said, int sent, String message)
      throws IOException {
    String json =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\""
            + type
            + "\",\"shape\":[1,2],\"parameters\":{\"binary_data_size\":"
            + said
            + "}}]}";
    try (RawClient client = server.connect()) {
      for (int i = 0; i < 2; i++) {
        String text = client.infer(type, json, new byte[sent]).expect(400).text();
        assertTrue(text.contains(message), text);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "x,    Unable to parse Inference-Header-Content-Length",
    "1.5,  Unable to parse Inference-Header-Content-Length",
    "-1,   inference header size should be in range (0",
    "1000, inference header size should be in range (0"
  })
  void theLengthOfTheJsonPartMustBeOne(String length, String message) throws IOException {
    try (RawClient client = server.connect()) {
      String text =
          client
              .post(
                  "/v2/models/FP32/infer",
                  "Inference-Header-Content-Length: " + length + "\r\n",
                  new byte[] {'{', '}'})
              .expect(400)
              .text();
      assertTrue(text.contains(message), text);
    }
  }

  /** Without a guard the processor's signal for it ends the process. */
  @Test
  void anIntegerDivisionWithoutAResultIsTheClientsError() throws IOException {
    Path model = Path.of("..", "native", "test", "models", "modulo.onnx");
    server.load(
        ModelSpec.builder("modulo")
            .backend("onnxruntime")
            .parameter("model_path", model.toAbsolutePath().normalize().toString())
            .maxBatchSize(8)
            .input("INPUT0", DataType.INT32, -1)
            .input("INPUT1", DataType.INT32, -1)
            .output("OUTPUT0", DataType.INT32, -1));
    String body =
        "{'inputs':[{'name':'INPUT0','datatype':'INT32','shape':[1,1],'data':[-2147483648]},"
            + "{'name':'INPUT1','datatype':'INT32','shape':[1,1],'data':[%d]}]}";
    try (RawClient client = server.connect()) {
      for (int divisor : new int[] {-1, 0, -1}) {
        String text =
            client
                .post("/v2/models/modulo/infer", expand(body.formatted(divisor)))
                .expect(400)
                .text();
        assertTrue(text.contains("integer division by zero or overflow in model 'modulo'"), text);
      }
      String text =
          client.post("/v2/models/modulo/infer", expand(body.formatted(3))).expect(200).text();
      assertTrue(text.contains("\"data\":[1]"), text);
    }
  }

  @Test
  void hostileNestingIsRefused() throws IOException {
    String deep = "[".repeat(250_000);
    try (RawClient client = server.connect()) {
      String input =
          "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":";
      for (String body : new String[] {deep, input + deep, "{\"x\":" + deep}) {
        String text = client.post("/v2/models/FP32/infer", body).expect(400).text();
        assertTrue(text.contains("JSON"), text);
      }
      client.post("/v2/repository/index", deep).expect(400);
    }
  }
}
