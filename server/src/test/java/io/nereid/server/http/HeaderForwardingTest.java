package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.shared.HeaderForwarding;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Header fields that become parameters. */
class HeaderForwardingTest {

  private static final String INFER = "/v2/models/m/infer";

  private static final String BODY =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":[1]}]}";

  private final ParameterBackend backend = new ParameterBackend();

  private TestServer server(String pattern) {
    return new TestServer(HttpOptions.DEFAULT.withForwarding(new HeaderForwarding(pattern)))
        .load(TestServer.identity("m", DataType.FP32).backend(backend));
  }

  private static RawClient.Response infer(RawClient client, String fields) throws IOException {
    return client.post(INFER, fields, BODY.getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void fieldsWithMatchingNamesAreForwarded() throws IOException {
    try (TestServer server = server("my_.*");
        RawClient client = server.connect()) {
      String fields = "MY_Header: a b\r\nX-My_: \r\nother: 1\r\n";
      infer(client, fields).expect(200);
      Map<String, Object> expected = Map.of("MY_Header", "a b", "X-My_", "");
      assertEquals(expected, backend.seen);
      infer(client, fields).expect(200); // the head is not parsed anew
      assertEquals(expected, backend.seen);
      infer(client, "").expect(200);
      assertEquals(Map.of(), backend.seen);
      client.get("/v2/health/ready").expect(200);
    }
  }

  /** A proxy in front says who asks, and a client cannot say otherwise. */
  @Test
  void aFieldIsStrongerThanAParameterOfTheBody() throws IOException {
    try (TestServer server = server("^user$");
        RawClient client = server.connect()) {
      String body = BODY.replace("{\"inputs", "{\"parameters\":{\"user\":\"me\"},\"inputs");
      client.post(INFER, "user: a\r\nuser: b\r\n", body.getBytes(StandardCharsets.US_ASCII));
      assertEquals(Map.of("user", "b"), backend.seen);
    }
  }

  @Test
  void theCaseCountsWhereTheExpressionSaysSo() throws IOException {
    try (TestServer server = server("(?-i)MY_.*");
        RawClient client = server.connect()) {
      infer(client, "MY_A: 1\r\nmy_b: 2\r\n").expect(200);
      assertEquals(Map.of("MY_A", "1"), backend.seen);
    }
  }

  @Test
  void namesThatTheServerKeepsForItselfAreRefused() throws IOException {
    try (TestServer server = server(".*");
        RawClient client = server.connect()) {
      for (String name : new String[] {"priority", "timeout", "triton_x", "sequence_id"}) {
        String text = infer(client, name + ": 1\r\n").expect(400).text();
        assertTrue(text.contains("Header '" + name + "' is reserved for Triton usage"), text);
      }
      client.send("GET /v2/health/live HTTP/1.1\r\nHost: a\r\npriority: 1\r\n\r\n");
      client.receive().expect(200);
    }
  }

  /** Comparing this name with this expression would take longer than anybody waits. */
  @Test
  void aNameForWhichItTakesLongDoesNotMatch() throws IOException {
    try (TestServer server = server("(a+)+b");
        RawClient client = server.connect()) {
      infer(client, "a".repeat(200) + ": 1\r\n" + "ab".repeat(2000) + ": 1\r\nab: 2\r\n")
          .expect(200);
      assertEquals(Map.of("ab", "2"), backend.seen);
    }
  }
}
