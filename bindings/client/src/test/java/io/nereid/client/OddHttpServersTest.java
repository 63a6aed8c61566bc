package io.nereid.client;

import static io.nereid.client.ScriptedServer.json;
import static io.nereid.client.ScriptedServer.response;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers over HTTP of servers that are not Nereid, not well or not friendly. */
class OddHttpServersTest {

  private static final InferRequest REQUEST =
      InferRequest.builder("m").input("IN", Tensor.ofInts(new int[] {1, 2}, 2)).build();

  private static InferenceException failure(ScriptedServer server) {
    try (InferenceClient client = server.connect()) {
      return assertThrows(InferenceException.class, () -> client.infer(REQUEST));
    }
  }

  // ---- Requests --------------------------------------------------------------------------------

  @Test
  void requestsAreSentAsTheProtocolSays() throws Exception {
    ClientOptions options = ClientOptions.builder().header("Authorization", "Bearer x").build();
    try (ScriptedServer server = new ScriptedServer(request -> json("200 OK", "{\"outputs\":[]}"));
        InferenceClient client = server.connect(options)) {
      InferRequest.Builder request =
          InferRequest.builder("a model/ä")
              .version("3")
              .id("id\"")
              .input("A", Tensor.ofInts(new int[] {1, 2}, 1, 2))
              .input(
                  "B", Tensor.ofSharedMemory(DataType.INT32, SharedMemory.Slice.of("r", 64, 8), 2))
              .input("C", Tensor.ofStrings(new String[] {"x"}, 1))
              .parameter("flag", true);
      client.infer(request.build()).close();
      ScriptedServer.Request seen = server.requests.take();
      assertEquals("POST /v2/models/a%20model%2F%C3%A4/versions/3/infer HTTP/1.1", seen.line());
      assertEquals("Bearer x", seen.fields().get("authorization"));
      int length = Integer.parseInt(seen.fields().get("inference-header-content-length"));
      assertEquals(
          "{\"id\":\"id\\\"\",\"parameters\":{\"flag\":true,\"binary_data_output\":true},\"inputs\":["
              + "{\"name\":\"A\",\"shape\":[1,2],\"datatype\":\"INT32\","
              + "\"parameters\":{\"binary_data_size\":8}},"
              + "{\"name\":\"B\",\"shape\":[2],\"datatype\":\"INT32\","
              + "\"parameters\":{\"shared_memory_region\":\"r\",\"shared_memory_byte_size\":8,"
              + "\"shared_memory_offset\":64}},"
              + "{\"name\":\"C\",\"shape\":[1],\"datatype\":\"BYTES\","
              + "\"parameters\":{\"binary_data_size\":5}}]}",
          seen.text().substring(0, length));
      assertEquals("\1\0\0\0\2\0\0\0\1\0\0\0x", seen.text().substring(length));
      request.output("X").classification("Y", 3).output("Z", SharedMemory.Slice.of("r", 0, 64));
      client.infer(request.build()).close();
      assertTrue(
          server
              .requests
              .take()
              .text()
              .contains(
                  "\"outputs\":[{\"name\":\"X\",\"parameters\":{\"binary_data\":true}},"
                      + "{\"name\":\"Y\",\"parameters\":{\"classification\":3,\"binary_data\":true}},"
                      + "{\"name\":\"Z\",\"parameters\":{\"shared_memory_region\":\"r\","
                      + "\"shared_memory_byte_size\":64}}]}"));
    }
  }

  /** A proxy would make {@code /v2/models/../ready} another endpoint. */
  @Test
  void namesThatPathsAreResolvedByAreRefused() throws Exception {
    try (ScriptedServer server = new ScriptedServer(request -> json("200 OK", "{}"));
        InferenceClient client = server.connect()) {
      assertThrows(InferenceException.class, () -> client.unloadModel(".."));
      assertThrows(InferenceException.class, () -> client.modelReady("m", "."));
      InferRequest request =
          InferRequest.builder("..").input("IN", Tensor.ofInts(new int[] {1}, 1)).build();
      assertThrows(InferenceException.class, () -> client.infer(request));
      assertEquals(0, server.requests.size());
    }
  }

  @Test
  void serversWithoutBinaryDataAreSentJson() throws Exception {
    ClientOptions options = ClientOptions.builder().binaryData(false).build();
    try (ScriptedServer server = new ScriptedServer(request -> json("200 OK", "{\"outputs\":[]}"));
        InferenceClient client = server.connect(options)) {
      InferRequest request =
          InferRequest.builder("m")
              .input("A", Tensor.ofFloats(new float[] {6.8f, -1}, 2))
              .input("B", Tensor.ofStrings(new String[] {"x\u0001\"ä"}, 1))
              .input("C", Tensor.ofBooleans(new boolean[] {true, false}, 2))
              .input("D", Tensor.of(DataType.UINT64, ByteBuffer.allocate(8).putLong(0, -1), 1))
              .output("X")
              .build();
      client.infer(request).close();
      ScriptedServer.Request seen = server.requests.take();
      assertEquals("application/json", seen.fields().get("content-type"));
      assertNull(seen.fields().get("inference-header-content-length"));
      assertEquals(
          "{\"inputs\":[{\"name\":\"A\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[6.8,-1.0]},"
              + "{\"name\":\"B\",\"shape\":[1],\"datatype\":\"BYTES\",\"data\":[\"x\\u0001\\\"ä\"]},"
              + "{\"name\":\"C\",\"shape\":[2],\"datatype\":\"BOOL\",\"data\":[true,false]},"
              + "{\"name\":\"D\",\"shape\":[1],\"datatype\":\"UINT64\","
              + "\"data\":[18446744073709551615]}],\"outputs\":[{\"name\":\"X\"}]}",
          new String(seen.body(), StandardCharsets.UTF_8));
      InferRequest half =
          InferRequest.builder("m")
              .input("A", Tensor.ofHalfFloats(DataType.FP16, new float[] {1}, 1))
              .build();
      assertThrows(IllegalArgumentException.class, () -> client.infer(half));
    }
  }

  // ---- Replies of other servers ----------------------------------------------------------------

  @Test
  void jsonRepliesAreReadInEveryForm() throws Exception {
    String reply =
        """
        {"model_name":"m","id":null,"outputs":[
         {"data":[[1,2.0],[3e0,-4]],"datatype":"INT32","shape":[2,2],"name":"LATE"},
         {"name":"F","shape":[5],"datatype":"FP32","data":[6.8,null,NaN,-Infinity,2]},
         {"name":"H","shape":[2],"datatype":"FP16","data":[0.5,65504]},
         {"name":"D","shape":[1],"datatype":"FP64","parameters":null,"data":[1e-300]},
         {"name":"B","shape":[4],"datatype":"BOOL","data":[true,false,1,0]},
         {"name":"U","shape":[1],"datatype":"UINT64","data":[18446744073709551615]},
         {"name":"S","shape":[2],"datatype":"BYTES","data":["ä",""],"parameters":{"x":{}}},
         {"name":"E","shape":[0],"datatype":"INT8","data":[]}],
         "parameters":{"a":1,"b":true,"c":"x","d":null},"unknown":[{"x":[1]}]}
        """;
    try (ScriptedServer server = new ScriptedServer(request -> json("200 OK", reply));
        InferenceClient client = server.connect();
        InferResponse response = client.infer(REQUEST)) {
      assertArrayEquals(new int[] {1, 2, 3, -4}, response.output("LATE").toIntArray());
      assertArrayEquals(
          new float[] {6.8f, Float.NaN, Float.NaN, Float.NEGATIVE_INFINITY, 2},
          response.output("F").toFloatArray());
      assertArrayEquals(new float[] {0.5f, 65504}, response.output("H").toFloatArray());
      assertArrayEquals(new double[] {1e-300}, response.output("D").toDoubleArray());
      assertArrayEquals(
          new boolean[] {true, false, true, false}, response.output("B").toBooleanArray());
      assertArrayEquals(new long[] {-1}, response.output("U").toLongArray());
      assertArrayEquals(new String[] {"ä", ""}, response.output("S").toStringArray());
      assertEquals(0, response.output("E").byteSize());
      assertTrue(response.id().isEmpty());
      assertEquals(Map.of("a", 1L, "b", true, "c", "x"), response.parameters());
    }
  }

  @Test
  void binaryRepliesMayComeInChunks() throws Exception {
    String json =
        "{\"outputs\":[{\"name\":\"A\",\"shape\":[2],\"datatype\":\"INT8\","
            + "\"parameters\":{\"binary_data_size\":2}},"
            + "{\"name\":\"J\",\"shape\":[1],\"datatype\":\"INT8\",\"data\":[7]},"
            + "{\"name\":\"B\",\"shape\":[9000],\"datatype\":\"INT8\","
            + "\"parameters\":{\"binary_data_size\":9000}}]}";
    StringBuilder reply = new StringBuilder("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n");
    reply.append("inference-header-content-length: ").append(json.length()).append("\r\n\r\n");
    String body = json + "\1\2" + "\3".repeat(9000);
    for (int at = 0; at < body.length(); at += 50) {
      String chunk = body.substring(at, Math.min(body.length(), at + 50));
      reply.append(Integer.toHexString(chunk.length())).append("\r\n").append(chunk).append("\r\n");
    }
    try (ScriptedServer server = ScriptedServer.of(reply.append("0\r\n\r\n").toString());
        InferenceClient client = server.connect();
        InferResponse response = client.infer(REQUEST)) {
      assertArrayEquals(new byte[] {1, 2}, response.output("A").toByteArray());
      assertArrayEquals(new byte[] {7}, response.output("J").toByteArray());
      byte[] threes = new byte[9000];
      java.util.Arrays.fill(threes, (byte) 3);
      assertArrayEquals(threes, response.output("B").toByteArray());
    }
  }

  @Test
  void healthMayHaveNoBody() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer(request ->
                request.line().contains("live")
                    ? response("200 OK", new byte[0])
                    : request.line().contains("health")
                        ? response("400 Bad Request", new byte[0])
                        : json("200 OK", "{\"name\":\"m\",\"ready\":false}"));
        InferenceClient client = server.connect()) {
      assertTrue(client.serverLive());
      assertFalse(client.serverReady());
      assertFalse(client.modelReady("m"));
    }
  }

  @Test
  void healthThatIsForbiddenIsNoAnswer() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer(request -> json("403 Forbidden", "{\"error\":\"restricted\"}"));
        InferenceClient client = server.connect()) {
      InferenceException failure = assertThrows(InferenceException.class, client::serverReady);
      assertEquals(StatusCode.PERMISSION_DENIED, failure.code());
    }
  }

  @Test
  void missingMembersOfMetadataAreEmpty() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer(request ->
                request.line().contains("/models/")
                    ? json(
                        "200 OK",
                        "{\"name\":\"m\",\"inputs\":[{\"name\":\"I\",\"datatype\":\"FP32\","
                            + "\"shape\":[-1,3]}]}")
                    : json("200 OK", "{\"name\":\"s\",\"version\":\"1\"}"));
        InferenceClient client = server.connect()) {
      assertEquals(new ServerMetadata("s", "1", List.of()), client.serverMetadata());
      assertEquals(
          new ModelMetadata(
              "m",
              List.of(),
              "",
              List.of(new ModelMetadata.TensorMetadata("I", "FP32", List.of(-1L, 3L))),
              List.of()),
          client.modelMetadata("m"));
    }
  }

  // ---- Errors ----------------------------------------------------------------------------------

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          400 Bad Request|{"error":"because"}|INVALID_ARGUMENT|because
          422 Unprocessable|{"detail":[{"loc":["body"]}]}|INVALID_ARGUMENT|[{loc=[body]}]
          404 Not Found|{"detail":"Not Found"}|NOT_FOUND|Not Found
          401 Unauthorized|<html>no</html>|UNAUTHENTICATED|status 401: <html>no</html>
          413 Content Too Large|{"error":{"message":"large"}}|RESOURCE_EXHAUSTED|large
          500 Oops|{"error":|INTERNAL|status 500: {"error":
          503 Busy|''|UNAVAILABLE|the server answered with status 503 and no reason
          504 Late|{}|DEADLINE_EXCEEDED|status 504: {}
          501 No|{"error":"no"}|UNIMPLEMENTED|no
          302 Found|''|UNKNOWN|the server answered with status 302 and no reason
          """)
  void errorsSayWhatTheServerSays(String head, String body, StatusCode code, String message)
      throws Exception {
    try (ScriptedServer server = new ScriptedServer(request -> json(head, body))) {
      InferenceException failure = failure(server);
      assertEquals(code, failure.code());
      assertEquals(message, failure.getMessage());
      assertEquals(Integer.parseInt(head.substring(0, 3)), failure.httpStatus().orElseThrow());
    }
  }

  // ---- Replies that are wrong ------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "nonsense",
        "{\"outputs\":{}}",
        "{\"outputs\":[1]}",
        "{\"outputs\":[{\"name\":\"O\"}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP32\",\"shape\":[1]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP99\",\"shape\":[1],\"data\":[1]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP32\",\"shape\":[-1],\"data\":[1]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP32\",\"shape\":[1.5],\"data\":[1]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP32\",\"shape\":\"x\",\"data\":[1]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP32\",\"shape\":[2],\"data\":[1]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1,2]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":1}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[\"1\"]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"INT8\",\"shape\":[1],\"data\":[128]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"INT8\",\"shape\":[1],\"data\":[0.5]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP64\",\"shape\":[1099511627776,"
            + "1099511627776],\"data\":[1]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"FP64\",\"shape\":[1000000000],"
            + "\"data\":[1]}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"INT8\",\"shape\":[4],"
            + "\"parameters\":{\"binary_data_size\":4}}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"INT8\",\"shape\":[4],"
            + "\"parameters\":{\"shared_memory_region\":\"r\"}}]}",
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"INT8\",\"shape\":[0],\"data\":[]},"
            + "{\"name\":\"O\",\"datatype\":\"INT8\",\"shape\":[0],\"data\":[]}]}"
      })
  void repliesThatAreNotTheProtocolAreRefused(String body) throws Exception {
    try (ScriptedServer server = new ScriptedServer(request -> json("200 OK", body))) {
      InferenceException failure = failure(server);
      assertEquals(StatusCode.INTERNAL, failure.code());
      assertTrue(failure.getMessage().startsWith("the server's reply is malformed: "));
    }
  }

  @Test
  void deepJsonIsRefused() throws Exception {
    String deep = "{\"outputs\":" + "[".repeat(250_000);
    try (ScriptedServer server = new ScriptedServer(request -> json("200 OK", deep))) {
      assertEquals(StatusCode.INTERNAL, failure(server).code());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "-1", "3", "99999999999999999999", "2147483648"})
  void jsonLengthsThatCannotBeAreRefused(String length) throws Exception {
    String head = "200 OK\r\nInference-Header-Content-Length: " + length;
    try (ScriptedServer server = new ScriptedServer(request -> response(head, new byte[2]))) {
      assertEquals(StatusCode.INTERNAL, failure(server).code());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 5})
  void binaryDataThatDoesNotFitItsDescriptionIsRefused(int size) throws Exception {
    String json =
        "{\"outputs\":[{\"name\":\"O\",\"datatype\":\"INT8\",\"shape\":[4],"
            + "\"parameters\":{\"binary_data_size\":4}}]}";
    String head = "200 OK\r\nInference-Header-Content-Length: " + json.length();
    byte[] body =
        java.util.Arrays.copyOf(json.getBytes(StandardCharsets.UTF_8), json.length() + size);
    try (ScriptedServer server = new ScriptedServer(request -> response(head, body))) {
      assertEquals(StatusCode.INTERNAL, failure(server).code());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"outputs\"",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{\"outputs\"",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 2",
        "SSH-2.0-x\r\n",
      })
  void repliesThatEndTooSoonAreNotTaken(String reply) throws Exception {
    try (ScriptedServer server =
        new ScriptedServer(request ->
            reply
                .replace("Content-Length: 100", "content-length: 100")
                .getBytes(StandardCharsets.ISO_8859_1))) {
      InferenceException failure = failure(server);
      assertEquals(StatusCode.UNAVAILABLE, failure.code());
      assertEquals(1, server.requests.size()); // and the request is not sent again
    }
  }

  @Test
  void aReplyLargerThanAllowedIsNotRead() throws Exception {
    ClientOptions options = ClientOptions.builder().maxResponseBytes(1000).build();
    String endless = "HTTP/1.1 200 OK\r\n\r\n" + "x".repeat(5000);
    String declared = "HTTP/1.1 200 OK\r\ncontent-length: 9999999999999\r\n\r\n";
    for (String reply : new String[] {endless, declared}) {
      try (ScriptedServer server = ScriptedServer.of(reply);
          InferenceClient client = server.connect(options)) {
        InferenceException failure =
            assertThrows(InferenceException.class, () -> client.infer(REQUEST));
        assertEquals(StatusCode.RESOURCE_EXHAUSTED, failure.code());
      }
    }
  }

  /** A server that went on sending would do so to nobody. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "content-length: 9999",
        "content-length: 100\r\nContent-Encoding: gzip",
        "content-length: 100\r\nInference-Header-Content-Length: x"
      })
  void theConnectionOfARefusedReplyIsClosed(String fields) throws Exception {
    ClientOptions options = ClientOptions.builder().maxResponseBytes(1000).build();
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        InferenceClient client =
            InferenceClient.connect("http://127.0.0.1:" + listener.getLocalPort(), options)) {
      CompletableFuture<InferResponse> reply = client.inferAsync(REQUEST);
      try (Socket connection = listener.accept()) {
        connection.setSoTimeout(10_000);
        String head = "HTTP/1.1 200 OK\r\n" + fields + "\r\n\r\n";
        connection.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
        assertThrows(ExecutionException.class, () -> reply.get(10, TimeUnit.SECONDS));
        connection.getInputStream().transferTo(OutputStream.nullOutputStream()); // to its end
      }
    }
  }

  @Test
  void aCodingNobodyAskedForIsRefused() throws IOException {
    String head = "200 OK\r\nContent-Encoding: gzip";
    try (ScriptedServer server = new ScriptedServer(request -> response(head, new byte[9]))) {
      assertEquals(StatusCode.INTERNAL, failure(server).code());
    }
  }

  @Test
  void aStreamOfEventsThatSaysOnlyByItsStatusThatItFailed() throws Exception {
    String head = "503 Service Unavailable\r\nContent-Type: text/event-stream; charset=utf-8";
    try (ScriptedServer server = new ScriptedServer(request -> response(head, new byte[0]));
        InferenceClient client = server.connect();
        GenerateStream stream = client.generateStream("m", Map.of())) {
      InferenceException failure = assertThrows(InferenceException.class, stream::next);
      assertEquals(StatusCode.UNAVAILABLE, failure.code());
      assertEquals(503, failure.httpStatus().orElseThrow());
      assertNull(stream.next());
    }
  }
}
