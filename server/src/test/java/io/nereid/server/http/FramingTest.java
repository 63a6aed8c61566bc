package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.DataType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The beginnings and ends of requests. */
class FramingTest {

  private static final String INFER =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}";

  private static TestServer server;

  @BeforeAll
  static void start() {
    server = new TestServer().identity(DataType.FP32);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "GET /v2~~                                       | 400 | METHOD PATH HTTP/1.1",
        "GET  /v2 HTTP/1.1~Host: a~~                     | 400 | METHOD PATH HTTP/1.1",
        "GET /v2 HTTP/1.1 ~Host: a~~                     | 400 | HTTP/1.1",
        "GET /v2 HTTP/2.0~Host: a~~                      | 400 | HTTP/1.1",
        "G@T /v2 HTTP/1.1~Host: a~~                      | 400 | METHOD",
        "HEAd /v2 HTTP/1.1~Host: a~~                     | 501 | capitals, such as GET or POST, got",
        "get /v2 HTTP/1.0~~                              | 501 | got \\\"get\\\"",
        "` GET /v2 HTTP/1.1~Host: a~~`                   | 400 | METHOD",
        "PRI * HTTP/2.0~~SM~~                            | 400 | METHOD",
        "GET /v2/models/%4/infer HTTP/1.1~Host: a~~      | 400 | METHOD PATH",
        "GET /v2 HTTP/1.1~~                              | 400 | Host header must be present",
        "GET /v2 HTTP/1.1~Host: a~Host: b~~              | 400 | Only a single Host header",
        "GET /v2 HTTP/1.1~Host : a~~                     | 400 | whitespace",
        "GET /v2 HTTP/1.1~Host: a~ folded~~              | 400 | missing colon",
        "GET /v2 HTTP/1.1~Host: a~: b~~                  | 400 | Name: value",
        "GET /v2 HTTP/1.1~Host: a~X!~~                   | 400 | missing colon",
        "GET /v2 HTTP/1.1~Host: a~X\\ry: b~~             | 400 | CR",
        "GET /v2 HTTP/1.1~Host: a~X: a\\rb~~             | 400 | CR",
        "GET /v2 HTTP/1.1~Host: a~X: a\\nY: b~~          | 400 | invalid for header",
        "GET /v2 HTTP/1.1~Host: a~X: a\\0b~~             | 400 | invalid for header",
        "POST /v2 HTTP/1.1~Host: a~Content-Length: x~~   | 400 | not a number",
        "POST /v2 HTTP/1.1~Host: a~Content-Length: -1~~  | 400 | not a number",
        "POST /v2 HTTP/1.1~Host: a~Content-Length: +1~~  | 400 | not a number",
        "POST /v2 HTTP/1.1~Host: a~Content-Length: 1, 1~~ | 400 | exactly one value",
        "POST /v2 HTTP/1.1~Host: a~Content-Length: 1~Content-Length: 2~~ | 400 | exactly one value",
        "POST /v2 HTTP/1.1~Host: a~Content-Length: 1~Content-Length: 1~~ | 400 | exactly one value",
        "POST /v2 HTTP/1.1~Host: a~Content-Length: 1~Transfer-Encoding: chunked~~ | 400 | must not be combined",
        "POST /v2 HTTP/1.1~Host: a~Transfer-Encoding: chunked~Transfer-Encoding: chunked~~ | 400 |"
            + " more than once",
        "POST /v2 HTTP/1.1~Host: a~Transfer-Encoding: gzip, chunked~~ | 501 | Unsupported",
        "POST /v2 HTTP/1.1~Host: a~Transfer-Encoding: identity~~ | 400 | must be chunked",
        "POST /v2/models/FP32/infer HTTP/1.1~Host: a~Transfer-Encoding: chunked~~xyz~ | 400 | size"
            + " of a chunk",
        "POST /v2/models/FP32/infer HTTP/1.1~Host: a~Transfer-Encoding: chunked~~-1~ | 400 | size"
            + " of a chunk",
        "POST /v2/models/FP32/infer HTTP/1.1~Host: a~Transfer-Encoding: chunked~~"
            + "ffffffffffffffffff~ | 400 | size of a chunk",
        "POST /v2/models/FP32/infer HTTP/1.1~Host: a~Transfer-Encoding: chunked~~1\\n | 400 | line"
            + " break",
        "POST /v2/models/FP32/infer HTTP/1.1~Host: a~Transfer-Encoding: chunked~~1~{}~ | 400 |"
            + " line break",
        "POST /v2/models/FP32/infer HTTP/1.1~Host: a~Transfer-Encoding: chunked~~1;a=~{~0~~ | 400"
            + " | size of a chunk",
        "POST /v2/models/FP32/infer HTTP/1.1~Host: a~Transfer-Encoding: chunked~~+1~{~0~~ | 400"
            + " | size of a chunk",
        // Behind what cannot be understood nothing is taken for a request.
        "POST /v2/models/FP32/infer HTTP/1.1~Host: a~Transfer-Encoding: chunked~~ffffffff~0~~GET"
            + " /v2 HTTP/1.1~Host: a~~ | 400 | size of a chunk",
        "POST /v2/models/FP32/infer HTTP/1.1~Host: a~Transfer-Encoding: chunked~~0~X : y~0~~GET /v2"
            + " HTTP/1.1~Host: a~~ | 400 | size of a chunk",
        "POST /v2/models/none/infer HTTP/1.1~Host: a~Transfer-Encoding: chunked~~0~~GET /v2"
            + " HTTP/1.1~Host: a~~ | 404 | none",
        "POST /v2/models/none/infer HTTP/1.1~Host: a~Connection: close~Content-Length: 0~~GET /v2"
            + " HTTP/1.1~Host: a~~ | 404 | none",
        "POST /v2/models/FP32/infer HTTP/1.1~Host: a~Content-Length: 99999999999~~ | 413 |"
            + " --http-max-input-size"
      })
  void anAmbiguousRequestIsRefused(String request, int status, String message) throws IOException {
    String bytes =
        request.replace("~", "\r\n").replace("\\r", "\r").replace("\\n", "\n").replace("\\0", "\0");
    try (RawClient client = server.connect()) {
      RawClient.Response response = client.send(bytes).receive().expect(status);
      assertTrue(response.text().contains(message), response.text());
      assertEquals("close", response.fields().get("connection"));
      assertTrue(client.isClosedByServer());
    }
  }

  /** Helidon takes HEAd for HEAD; a proxy in front would wait for the body of the reply. */
  @ParameterizedTest
  @ValueSource(strings = {"H", "HEAd", "HEAd /v2", "HEAd /v2 HTTP/1.1\r\nHost: a\r\n\r\n"})
  void aMethodInAnotherCaseIsRefusedHoweverItArrives(String first) throws Exception {
    String whole = "HEAd /v2 HTTP/1.1\r\nHost: a\r\n\r\n";
    String before = "GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n";
    for (String prefix : List.of("", before, "\r\n")) {
      try (RawClient client = server.connect()) {
        client.send(prefix + first);
        Thread.sleep(50); // so that the server most likely gets the rest alone
        client.send(whole.substring(first.length()));
        if (prefix.equals(before)) {
          client.receive().expect(200);
        }
        assertTrue(client.receive().expect(501).text().contains("HEAd"));
        assertTrue(client.isClosedByServer());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GE|T /v2 HTTP|/1.0\r|\n\r\n",
        "GET /v2 HTTP/1.0\r\n|Host: a\r\n\r\n",
        "GET /v2?|~ HTTP/1.0\r\n\r\n"
      })
  void anOldRequestMayComeInPieces(String request) throws Exception {
    try (RawClient client = server.connect()) {
      for (String piece : request.replace("~", "a".repeat(3000)).split("\\|")) {
        client.send(piece);
        Thread.sleep(50);
      }
      client.receive().expect(200);
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void emptyLinesDoNotHideAMethod() throws Exception {
    try (RawClient client = server.connect()) {
      String lines = "\r\n".repeat(5000);
      client.send(lines + "HEAd /v2 HTTP/1.1\r\nHost: a\r\n\r\n").receive().expect(501);
    }
  }

  @Test
  void anEmptyLineBehindABodyMayComeWithIt() throws Exception {
    byte[] infer =
        RawClient.request("/v2/models/FP32/infer", "", INFER.getBytes(StandardCharsets.UTF_8));
    byte[] withLine = RawClient.concat(infer, new byte[] {'\r', '\n'});
    try (RawClient client = server.connect()) {
      client.send(RawClient.concat(withLine, withLine));
      client.receive().expect(200);
      client.receive().expect(200);
      client.get("/v2").expect(200);
    }
  }

  @Test
  void aHeadThatIsTooLongIsRefused() throws IOException {
    try (RawClient client = server.connect()) {
      String text =
          client
              .send("GET /v2 HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(20_000) + "\r\n\r\n")
              .receive()
              .expect(431)
              .text();
      assertTrue(text.contains("--http-max-header-size"), text);
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void requestsMayBePipelined() throws Exception {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] infer =
        RawClient.request("/v2/models/FP32/infer", "", INFER.getBytes(StandardCharsets.UTF_8));
    byte[] wrong = RawClient.request("/v2/models/FP32/infer", "", new byte[] {'{'});
    byte[] get =
        "GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < 200; i++) {
      all.writeBytes(infer);
      all.writeBytes(get);
      all.writeBytes(wrong);
    }
    try (RawClient client = server.connect()) {
      Thread sender =
          Thread.startVirtualThread(() -> {
            try {
              client.send(all.toByteArray());
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          });
      for (int i = 0; i < 200; i++) {
        assertTrue(client.receive().expect(200).text().contains("[1.0,2.0]"));
        assertEquals("{\"live\":true}", client.receive().expect(200).text());
        client.receive().expect(400);
      }
      sender.join();
    }
  }

  @Test
  void chunksMayBeCutAnywhere() throws IOException {
    String head =
        "POST /v2/models/FP32/infer HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    try (RawClient client = server.connect()) {
      for (int size : new int[] {1, 2, 7, 1000}) {
        StringBuilder body = new StringBuilder(head);
        for (int at = 0; at < INFER.length(); at += size) {
          String chunk = INFER.substring(at, Math.min(INFER.length(), at + size));
          body.append(Integer.toHexString(chunk.length()).toUpperCase(Locale.ROOT));
          body.append("\r\n").append(chunk).append("\r\n");
        }
        body.append("0\r\n\r\n");
        String text = client.send(body.toString()).receive().expect(200).text();
        assertTrue(text.contains("\"data\":[1.0,2.0]"), text);
      }
    }
  }

  private static String chunk(String extension, String trailers) {
    return "POST /v2/models/FP32/infer HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        + Integer.toHexString(INFER.length())
        + extension
        + "\r\n"
        + INFER
        + "\r\n0"
        + extension
        + "\r\n"
        + trailers
        + "\r\n";
  }

  @Test
  void extensionsOfChunksAndTrailersAreLeftOut() throws Exception {
    try (RawClient client = server.connect()) {
      client.send(
          chunk("", "X: y\r\nContent-Length: 9\r\n")
              + chunk(";a", "")
              + chunk(" ; a=b;c=\"d ; e\"", "X:\r\n"));
      for (int i = 0; i < 3; i++) {
        assertTrue(client.receive().expect(200).text().contains("[1.0,2.0]"));
      }
      client.get("/v2").expect(200);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {";", ";\"", ";a=\"", "; a b", ";a=", " "})
  void otherExtensionsAreRefused(String extension) throws Exception {
    try (RawClient client = server.connect()) {
      client.send(chunk(extension, "")).receive().expect(400);
      assertTrue(client.isClosedByServer());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"X", " X: y", "X : y", ": y", "GET /v2 HTTP/1.1"})
  void otherTrailersAreRefused(String line) throws Exception {
    try (RawClient client = server.connect()) {
      client.send(chunk("", line + "\r\n")).receive().expect(400);
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void extensionsThatAreTooLongAreRefused() throws Exception {
    try (RawClient client = server.connect()) {
      client.send(chunk(";a".repeat(10_000), "")).receive().expect(400);
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void trailersThatAreTooLongAreRefused() throws Exception {
    try (RawClient client = server.connect()) {
      client.send(chunk("", "X: y\r\n".repeat(5000))).receive().expect(400);
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void pipelinedRequestsMayHaveAnotherForm() throws Exception {
    try (RawClient client = server.connect()) {
      String absolute = "GET http://a/v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n";
      client.send(absolute + absolute + "\r\n" + "GET /v2/health/live HTTP/1.0\r\n\r\n");
      for (int i = 0; i < 3; i++) {
        assertEquals("{\"live\":true}", client.receive().expect(200).text());
      }
      assertTrue(client.isClosedByServer());
    }
  }

  /** A proxy that takes another end of a chunk sees one request, and forwards one answer. */
  @ParameterizedTest
  @ValueSource(strings = {"\n", "XX", "\rX", "X\n", "\n\r", "\r\r", ""})
  void aChunkEndsWithALineBreak(String end) throws Exception {
    String hidden = "\r\nGET /v2/health/live HTTP/1.1\r\nHost: hidden\r\n\r\n";
    String body =
        Integer.toHexString(INFER.length())
            + "\r\n"
            + INFER
            + end
            + Integer.toHexString(hidden.length())
            + "\r\n"
            + hidden
            + "\r\n0\r\n\r\n";
    for (String model : List.of("FP32", "none")) {
      String head =
          "POST /v2/models/"
              + model
              + "/infer HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
      for (int cut : new int[] {0, 1, 2}) { // bytes of the end that come with the chunk
        int at = head.length() + body.indexOf(INFER) + INFER.length() + cut;
        try (RawClient client = server.connect()) {
          client.send((head + body).substring(0, at));
          Thread.sleep(20); // so that the server most likely gets the rest alone
          client.send((head + body).substring(at));
          RawClient.Response response = client.receive().expect(model.equals("none") ? 404 : 400);
          assertEquals("close", response.fields().get("connection"));
          assertTrue(client.isClosedByServer());
        }
      }
    }
  }

  @Test
  void chunkedBinaryArrivesWhole() throws IOException {
    String json =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,50000],\"parameters\":"
            + "{\"binary_data_size\":200000}}],\"parameters\":{\"binary_data_output\":true}}";
    byte[] data = new byte[200_000];
    new Random(1).nextBytes(data);
    byte[] body = RawClient.concat(json.getBytes(StandardCharsets.UTF_8), data);
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.writeBytes(
        ("POST /v2/models/FP32/infer HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                + "inference-header-content-length: "
                + json.length()
                + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII));
    for (int at = 0; at < body.length; at += 30_000) {
      int size = Math.min(30_000, body.length - at);
      request.writeBytes((Integer.toHexString(size) + "\r\n").getBytes(StandardCharsets.US_ASCII));
      request.write(body, at, size);
      request.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
    }
    request.writeBytes("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    try (RawClient client = server.connect()) {
      for (int i = 0; i < 3; i++) {
        assertArrayEquals(data, client.send(request.toByteArray()).receive().expect(200).binary());
      }
    }
  }

  @Test
  void aClientThatAsksMaySendItsBody() throws IOException {
    String head =
        "POST /v2/models/%s/infer HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
            + "Content-Length: "
            + INFER.length()
            + "\r\n\r\n";
    try (RawClient client = server.connect()) {
      for (int i = 0; i < 2; i++) {
        assertEquals(100, client.send(String.format(head, "FP32")).receive().status());
        client.send(INFER).receive().expect(200);
      }
      // A model that is not there is told before the body is sent, which then does not come.
      RawClient.Response refused = client.send(String.format(head, "none")).receive().expect(404);
      assertEquals("close", refused.fields().get("connection"));
      assertTrue(client.isClosedByServer());
    }
  }

  /** A proxy in front that has rules for paths takes them as they are sent. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v2//models/FP32",
        "//v2/models/FP32",
        "/v2/./models/FP32",
        "/v2/models/../models/FP32",
        "/v2/models/..;/models/FP32",
        "/v2;a=b/models/FP32",
        "/v2/models/FP32;a",
        "/v2/models/FP32/.",
        "/v2/models/FP32/versions/..",
        "/v2/models%2FFP32",
        "/v2/models/x%2f..%2fFP32",
        "/v2//models%2fFP32",
        "/v2/models/%2e%2e/models/FP32",
        "/v2/models/FP32/",
        "v2/models/FP32"
      })
  void aPathThatWouldHaveToBeChangedLeadsNowhere(String path) throws IOException {
    try (RawClient client = server.connect()) {
      client.get(path).expect(404);
      client.get("/v2/models/FP3%32").expect(200);
    }
  }

  @Test
  void emptyLinesBetweenRequestsMayComeAlone() throws Exception {
    try (RawClient client = server.connect()) {
      for (int i = 0; i < 3; i++) {
        client.send("\r\n");
        Thread.sleep(50); // so that the server most likely gets it alone
        client.get("/v2").expect(200);
      }
    }
  }

  @Test
  void theConnectionStaysUnlessOneSideSaysOtherwise() throws IOException {
    try (RawClient client = server.connect()) {
      assertFalse(client.get("/v2").expect(200).fields().containsKey("connection"));
      client.send("GET /v2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      assertEquals("close", client.receive().expect(200).fields().get("connection"));
      assertTrue(client.isClosedByServer());
    }
    try (RawClient client = server.connect()) {
      client.send("GET /v2 HTTP/1.0\r\n\r\n").receive().expect(200);
      assertTrue(client.isClosedByServer());
    }
  }

  @Test
  void otherFormsOfRequestsAreUnderstood() throws IOException {
    try (RawClient client = server.connect()) {
      client.send("\r\nGET /v2/health/live?x=y HTTP/1.1\r\nhOST: a\r\n\r\n");
      client.receive().expect(200);
      client.send("GET http://b:80/v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n");
      client.receive().expect(200);
      client.post("/v2/models/%46P32/infer", INFER).expect(200);
      client.post("http://b/v2/models/FP32/infer", INFER).expect(200);
      client.send("HEAD /v2 HTTP/1.1\r\nHost: a\r\n\r\nGET /v2/none HTTP/1.1\r\nHost: a\r\n\r\n");
      String head = new String(readHead(client), StandardCharsets.US_ASCII);
      assertTrue(head.startsWith("HTTP/1.1 200 OK"), head);
      client.receive().expect(404);
    }
  }

  @Test
  void targetsWithoutAPathAreNotFound() throws IOException {
    for (String target : List.of("a:b", "http:2/%46?a=b", "mailto:a%40b")) {
      try (RawClient client = server.connect()) {
        client.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n").receive().expect(404);
        client.send("GET /v2/health/live HTTP/1.1\r\nHost: a\r\n\r\n").receive().expect(200);
      }
    }
  }

  /** A reply to HEAD has a length, and no body. */
  private static byte[] readHead(RawClient client) throws IOException {
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(StandardCharsets.US_ASCII).endsWith("\r\n\r\n")) {
      head.write(client.read());
    }
    return head.toByteArray();
  }

  @Test
  void aRefusedBodyIsReadOverOrEndsTheConnection() throws IOException {
    try (RawClient client = server.connect()) {
      client.post("/v2/models/none/infer", "", new byte[500_000]).expect(404);
    }
    TestServer.await(() -> isRefused(server), "a client was not told why it was refused");
  }

  private static boolean isRefused(TestServer server) {
    try (RawClient client = server.connect()) {
      return client
          .post("/v2/models/none/infer", "", new byte[5_000_000])
          .expect(404)
          .text()
          .contains("'none' is not found");
    } catch (IOException e) {
      return false; // it sent on for longer than the server reads over
    }
  }
}
