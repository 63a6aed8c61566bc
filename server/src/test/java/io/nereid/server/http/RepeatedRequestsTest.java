package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Batch;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A connection reuses parts of its last request, which no client can tell. */
class RepeatedRequestsTest {

  private static final String INPUT =
      "{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"parameters\":"
          + "{\"binary_data_size\":8}}";

  private static final byte[] ONE_TWO = {0, 0, (byte) 128, 63, 0, 0, 0, 64};
  private static final byte[] TWO_ONE = {0, 0, 0, 64, 0, 0, (byte) 128, 63};

  /** Members of requests that differ in what is to be remembered of them. */
  private static final List<String> MEMBERS =
      List.of(
          "",
          ",\"parameters\":{\"binary_data_output\":true}",
          ",\"parameters\":{\"binary_data_output\":false}",
          ",\"id\":\"a\"",
          ",\"id\":\"b\",\"parameters\":{\"binary_data_output\":true}",
          ",\"id\":\"\"",
          ",\"id\":\"longer than others\"",
          ",\"id\":\"b with \\\" and \\u0041\",\"parameters\":{\"binary_data_output\":true}",
          ",\"id\":\"no end\\\",\"parameters\":{\"binary_data_output\":true}",
          ",\"id\":\"\u00e9\",\"parameters\":{\"binary_data_output\":true}",
          ",\"id\":\"\t\",\"parameters\":{\"binary_data_output\":true}",
          ",\"id\":\"c\",\"more\":\"d\",\"parameters\":{\"binary_data_output\":true}",
          ",\"id\":\"a\",\"id\":\"b\"",
          ",\"id\":\"a\",\"id\":\"c\"",
          ",\"id\":\"a\",\"id\":\"\"",
          ",\"id\":\"b\",\"id\":\"b\"",
          ",\"id\":\"a\",\"other\":{\"id\":\"b\"}",
          ",\"id\":\"a\",\"other\":{\"id\":\"c\"}",
          ",\"parameters\":{\"x\":1,\"priority\":2}",
          ",\"parameters\":{\"x\":2,\"binary_data_output\":true}",
          ",\"outputs\":[{\"name\":\"OUT\"}]",
          ",\"outputs\":[{\"name\":\"OUT\",\"parameters\":{\"binary_data\":true}}]",
          ",\"outputs\":[{\"name\":\"TOLD\",\"parameters\":{\"binary_data\":true}}]",
          ",\"outputs\":[{\"name\":\"OUT\",\"parameters\":{\"classification\":2}}]",
          ",\"outputs\":[{\"name\":\"OUT\"},{\"name\":\"OUT\"}]",
          ",\"outputs\":[{\"name\":\"NONE\"}]",
          ",\"more\":[");

  /** Copies IN to OUT, and tells of the request. */
  private static ModelSpec.Builder telling(String name) {
    return ModelSpec.builder(name)
        .backend(context -> batch -> tell(name, batch))
        .input("IN", DataType.FP32, -1, -1)
        .output("OUT", DataType.FP32, -1, -1)
        .output("TOLD", DataType.UINT8, -1);
  }

  private static void tell(String model, Batch batch) {
    String told = model + new TreeMap<>(batch.request(0).parameters());
    byte[] bytes = told.getBytes(StandardCharsets.UTF_8);
    batch.output("OUT", batch.input("IN"));
    batch.output("TOLD", Tensor.of(DataType.UINT8, MemorySegment.ofArray(bytes), bytes.length));
  }

  private static byte[] request(String model, String members, byte[] binary, String fields) {
    byte[] json = ("{\"inputs\":[" + INPUT + "]" + members + "}").getBytes(StandardCharsets.UTF_8);
    return RawClient.request(
        "/v2/models/" + model + "/infer",
        "Inference-Header-Content-Length: " + json.length + "\r\n" + fields,
        RawClient.concat(json, binary));
  }

  private static List<byte[]> requests() {
    List<byte[]> requests = new ArrayList<>();
    for (String members : MEMBERS) {
      requests.add(request("a", members, ONE_TWO, ""));
      requests.add(request("a", members, TWO_ONE, ""));
      requests.add(request("b", members, ONE_TWO, "X-Request-Id: q\r\n"));
      requests.add(request("a", members, new byte[12], ""));
    }
    String inJson =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}";
    requests.add(
        RawClient.request("/v2/models/a/infer", "", inJson.getBytes(StandardCharsets.UTF_8)));
    requests.add("GET /v2/models/a HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.UTF_8));
    return requests;
  }

  /** The reply as a connection of its own gets it. */
  private static String alone(TestServer server, byte[] request) throws IOException {
    try (RawClient client = server.connect()) {
      return reply(client, request);
    }
  }

  private static String reply(RawClient client, byte[] request) throws IOException {
    RawClient.Response reply = client.send(request).receive();
    reply.fields().remove("date");
    return reply.status()
        + " "
        + reply.fields()
        + new String(reply.body(), StandardCharsets.ISO_8859_1);
  }

  @Test
  void everyOrderOfRequestsHasTheSameReplies() throws Exception {
    Random random = new Random(20_261_122);
    try (TestServer server = new TestServer().load(telling("a")).load(telling("b"))) {
      List<byte[]> requests = requests();
      List<String> replies = new ArrayList<>();
      for (byte[] request : requests) {
        replies.add(alone(server, request));
      }
      assertTrue(replies.stream().distinct().count() > 20, "all replies are alike");
      RawClient client = server.connect();
      int at = 0;
      for (int i = 0; i < 3000; i++) {
        // Mostly the same once more, or one that is nearly the same.
        at =
            switch (random.nextInt(4)) {
              case 0 -> random.nextInt(requests.size());
              case 1 -> at ^ 1;
              default -> at;
            };
        boolean closes = replies.get(at).contains("connection=close");
        if (closes || random.nextInt(3) > 0) {
          assertEquals(replies.get(at), reply(client, requests.get(at)));
        } else {
          int other = random.nextInt(requests.size());
          closes = replies.get(other).contains("connection=close");
          byte[] both = RawClient.concat(requests.get(at), requests.get(other));
          assertEquals(replies.get(at), reply(client, both));
          assertEquals(replies.get(other), reply(client, new byte[0]));
        }
        if (closes) {
          client.close();
          client = server.connect();
        }
      }
      client.close();
      server.awaitNoLiveBuffers();
    }
  }

  @Test
  void aRequestIsNotTakenForTheOneThatCameBehindIt() throws Exception {
    byte[] one = request("a", "", ONE_TWO, "");
    byte[] other = request("b", "", ONE_TWO, "");
    try (TestServer server = new TestServer().load(telling("a")).load(telling("b"));
        RawClient client = server.connect()) {
      String reply = reply(client, one);
      for (int i = 0; i < 3; i++) {
        assertEquals(reply, reply(client, RawClient.concat(one, other)));
        assertTrue(client.receive().expect(200).json().contains("\"b\""));
      }
      assertEquals(reply, reply(client, one));
    }
  }

  /** The server looks whether a client is there while its request waits, and so may read on. */
  @Test
  void aRepeatThatComesWhileTheOneBeforeItWaitsIsAnswered() throws Exception {
    GateBackend gate = new GateBackend();
    try (TestServer server = new TestServer().gate(gate);
        RawClient client = server.connect()) {
      byte[] request = request("gate", "", ONE_TWO, "");
      client.send(request);
      gate.awaitBatch();
      gate.open(1);
      client.receive().expect(200);
      for (int i = 0; i < 3; i++) {
        client.send(request);
        gate.awaitBatch();
        client.send(request);
        Thread.sleep(100); // so that the server most likely looks
        gate.open(2);
        client.receive().expect(200);
        client.receive().expect(200);
        gate.awaitBatch();
      }
    }
  }

  @Test
  void aModelThatIsReplacedMeansWhatItIsNow() throws Exception {
    byte[] request = request("m", ",\"parameters\":{\"binary_data_output\":true}", ONE_TWO, "");
    try (TestServer server = new TestServer().load(TestServer.identity("m", DataType.FP32));
        RawClient client = server.connect()) {
      for (int i = 0; i < 3; i++) {
        assertArrayEquals(ONE_TWO, client.send(request).receive().expect(200).binary());
      }
      server.nereid().model("m").unload();
      assertEquals(404, client.send(request).receive().status());
      server.load(TestServer.identity("m", DataType.INT32));
      String told = client.send(request).receive().expect(400).text();
      assertTrue(told.contains("data-type is 'FP32'"), told);
      server.nereid().model("m").unload();
      server.load(telling("m"));
      assertTrue(client.send(request).receive().expect(200).json().contains("TOLD"));
    }
  }

  @Test
  void requestsThatArriveInPiecesAreRead() throws Exception {
    byte[] request = request("m", ",\"id\":\"x\"", TWO_ONE, "");
    try (TestServer server = new TestServer().load(TestServer.identity("m", DataType.FP32));
        RawClient client = server.connect()) {
      String reply = reply(client, request);
      byte[] many = RawClient.concat(request, RawClient.concat(request, request));
      for (int cut = 1; cut < request.length; cut += 7) {
        client.send(Arrays.copyOf(many, cut));
        Thread.sleep(1); // mostly read by itself; if not, that is a case, too
        client.send(Arrays.copyOfRange(many, cut, many.length));
        for (int i = 0; i < 3; i++) {
          assertEquals(reply, reply(client, new byte[0]));
        }
      }
    }
  }
}
