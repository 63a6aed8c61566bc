package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.DataType;
import java.io.IOException;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every datatype, in JSON and in binary, both ways. */
class DatatypesTest {

  private static TestServer server;

  @BeforeAll
  static void start() {
    server = new TestServer();
    for (DataType type : DataType.values()) {
      server.identity(type);
    }
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  private static String input(String type, String shape, String data) {
    return "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\""
        + type
        + "\",\"shape\":"
        + shape
        + ","
        + data
        + "}]";
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "BOOL   | [true,[false]]                   | 0100             | [true,false]",
        "UINT8  | [0,255]                          | 00ff             | [0,255]",
        "INT8   | [-128,127]                       | 807f             | [-128,127]",
        "UINT16 | [0,65535]                        | 0000ffff         | [0,65535]",
        "INT16  | [-32768,32767]                   | 0080ff7f         | [-32768,32767]",
        "UINT32 | [1,4294967295]                   | 01000000ffffffff | [1,4294967295]",
        "INT32  | [-2147483648,2147483647]         | 00000080ffffff7f | [-2147483648,2147483647]",
        "FP32   | [6.8,-1]                         | 9a99d940000080bf | [6.8,-1.0]",
        "UINT64 | [0,18446744073709551615] | 0000000000000000ffffffffffffffff"
            + " | [0,18446744073709551615]",
        "INT64  | [-9223372036854775808,9223372036854775807]"
            + " | 0000000000000080ffffffffffffff7f"
            + " | [-9223372036854775808,9223372036854775807]",
        "FP64   | [0.1,1e300] | 9a9999999999b93f9c7500883ce4377e | [0.1,1.0E300]",
        "BYTES  | [\"a\",\"\\u0000\\u00e9\\\"\"] | 01000000610400000000c3a922"
            + " | [\"a\",\"\\u0000é\\\"\"]"
      })
  void jsonAndBinaryAreTheSame(String type, String data, String hex, String answer)
      throws IOException {
    byte[] binary = HexFormat.of().parseHex(hex);
    String described = input(type, "[1,2]", "\"data\":" + data);
    String binarySize = "\"parameters\":{\"binary_data_size\":" + binary.length + "}";
    String wantBinary = ",\"parameters\":{\"binary_data_output\":true}}";
    try (RawClient client = server.connect()) {
      String path = "/v2/models/" + type + "/infer";
      assertTrue(
          client.post(path, described + "}").expect(200).text().contains("\"data\":" + answer));
      RawClient.Response response = client.post(path, described + wantBinary).expect(200);
      assertArrayEquals(binary, response.binary());
      assertEquals("application/octet-stream", response.fields().get("content-type"));
      String sent = input(type, "[1,2]", binarySize);
      response = client.infer(type, sent + "}", binary).expect(200);
      assertEquals("application/json", response.fields().get("content-type"));
      assertTrue(response.text().contains("\"data\":" + answer), response.text());
      assertArrayEquals(binary, client.infer(type, sent + wantBinary, binary).expect(200).binary());
    }
  }

  @ParameterizedTest
  @CsvSource({"FP16", "BF16"})
  void halvesAreBinaryOnly(String type) throws IOException {
    byte[] binary = {0, 0x3c, 1, 2};
    String described = input(type, "[2,1]", "\"parameters\":{\"binary_data_size\":4}");
    try (RawClient client = server.connect()) {
      assertArrayEquals(
          binary,
          client
              .infer(type, described + ",\"parameters\":{\"binary_data_output\":true}}", binary)
              .expect(200)
              .binary());
      assertTrue(
          client
              .infer(type, described + "}", binary)
              .expect(400)
              .text()
              .contains("sending " + type + " data via JSON is not supported."));
      assertTrue(
          client
              .post("/v2/models/" + type + "/infer", input(type, "[1,1]", "\"data\":[1]") + "}")
              .expect(400)
              .text()
              .contains("receiving " + type + " data via JSON is not supported."));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "BOOL   | 1                     | true or false",
        "UINT8  | 256                   | an integer from 0 to 255",
        "UINT8  | -1                    | an integer from 0 to 255",
        "INT8   | 128                   | an integer from -128 to 127",
        "INT16  | 40000                 | an integer from -32768 to 32767",
        "INT32  | 2147483648            | an integer from -2147483648 to 2147483647",
        "INT32  | 1.0                   | an integer",
        "INT32  | true                  | an integer",
        "INT64  | 9223372036854775808   | an integer",
        "UINT64 | 18446744073709551616  | an integer from 0 to 18446744073709551615",
        "UINT64 | -1                    | an integer",
        "FP32   | 1e39                  | a number that fits FP32",
        "FP64   | 1e400                 | a number that fits FP64",
        "FP32   | \"1\"                 | a number",
        "FP32   | null                  | a number",
        "BYTES  | 1                     | a string"
      })
  void aValueThatDoesNotFitIsNamed(String type, String value, String expected) throws IOException {
    String fits =
        switch (type) {
          case "BOOL" -> "true";
          case "BYTES" -> "\"a\"";
          default -> "1";
        };
    try (RawClient client = server.connect()) {
      String text =
          client
              .post(
                  "/v2/models/" + type + "/infer",
                  input(type, "[1,2]", "\"data\":[" + fits + "," + value + "]") + "}")
              .expect(400)
              .text();
      assertTrue(text.contains("element 1 of input 'IN' of " + type), text);
      assertTrue(text.contains("expected " + expected), text);
    }
    assertEquals(0, server.nereid().poolStatistics().liveBuffers());
  }

  @Test
  void floatsMayBeNoNumbers() throws IOException {
    try (RawClient client = server.connect()) {
      String text =
          client
              .post(
                  "/v2/models/FP32/infer",
                  input("FP32", "[1,3]", "\"data\":[NaN,Infinity,-Infinity]") + "}")
              .expect(200)
              .text();
      assertTrue(text.contains("\"data\":[NaN,Infinity,-Infinity]"), text);
    }
  }

  @Test
  void dataMayComeBeforeWhatItIs() throws IOException {
    try (RawClient client = server.connect()) {
      String text =
          client
              .post(
                  "/v2/models/UINT64/infer",
                  "{\"inputs\":[{\"data\":[[18446744073709551615],[[2]]],\"shape\":[2,1],"
                      + "\"datatype\":\"UINT64\",\"name\":\"IN\"}],\"id\":\"x\"}")
              .expect(200)
              .text();
      assertEquals(
          "{\"id\":\"x\",\"model_name\":\"UINT64\",\"model_version\":\"1\",\"outputs\":[{\"name\":"
              + "\"OUT\",\"datatype\":\"UINT64\",\"shape\":[2,1],"
              + "\"data\":[18446744073709551615,2]}]}",
          text);
    }
  }

  @Test
  void anEmptyTensorHasNoBinaryPart() throws IOException {
    try (RawClient client = server.connect()) {
      RawClient.Response response =
          client
              .post(
                  "/v2/models/FP32/infer",
                  input("FP32", "[0,2]", "\"data\":[]")
                      + ",\"outputs\":[{\"name\":\"OUT\",\"parameters\":{\"binary_data\":true}}]}")
              .expect(200);
      assertEquals("application/json", response.fields().get("content-type"));
      assertTrue(response.text().contains("\"binary_data_size\":0"), response.text());
    }
  }
}
