package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.DataType;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.InflaterInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bodies that are compressed, or say so. */
class CompressionTest {

  private static final int ELEMENTS = 30_000;

  private static final String JSON =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,"
          + ELEMENTS
          + "],\"parameters\":{\"binary_data_size\":"
          + ELEMENTS * Float.BYTES
          + "}}],\"parameters\":{\"binary_data_output\":true}}";

  private static final String PATH = "/v2/models/FP32/infer";

  private static TestServer server;

  @BeforeAll
  static void start() {
    server = new TestServer().identity(DataType.FP32);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void nothingIsLeft() {
    server.awaitNoLiveBuffers();
  }

  private static byte[] compress(String coding, byte[] bytes) throws IOException {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (OutputStream to =
        coding.equals("gzip")
            ? new GZIPOutputStream(compressed)
            : new DeflaterOutputStream(compressed)) {
      to.write(bytes);
    }
    return compressed.toByteArray();
  }

  @ParameterizedTest
  @CsvSource({"gzip", "deflate"})
  void bothWays(String coding) throws IOException {
    byte[] data = new byte[ELEMENTS * Float.BYTES];
    new Random(1).nextBytes(data);
    byte[] body =
        compress(coding, RawClient.concat(JSON.getBytes(StandardCharsets.US_ASCII), data));
    String fields =
        "Content-Encoding: "
            + coding
            + "\r\nAccept-Encoding: "
            + coding
            + "\r\nInference-Header-Content-Length: "
            + JSON.length()
            + "\r\n";
    try (RawClient client = server.connect()) {
      for (int i = 0; i < 2; i++) {
        RawClient.Response response = client.post(PATH, fields, body).expect(200);
        assertEquals(coding, response.fields().get("content-encoding"));
        ByteArrayInputStream in = new ByteArrayInputStream(response.body());
        byte[] plain =
            (coding.equals("gzip") ? new GZIPInputStream(in) : new InflaterInputStream(in))
                .readAllBytes();
        int length = Integer.parseInt(response.fields().get("inference-header-content-length"));
        assertTrue(new String(plain, 0, length, StandardCharsets.UTF_8).endsWith("]}"));
        assertArrayEquals(data, Arrays.copyOfRange(plain, length, plain.length));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "gzip, deflate            | gzip",
        "deflate, gzip            | deflate",
        "gzip;q=0.5, deflate;q=0.8 | deflate",
        "identity, gzip;q=0.9     | ",
        "br, *                    | ",
        "gzip;q=0                 | ",
        "gzip;q=x                 | ",
        ";                        | ",
        "deflate;, ;, ;q=1        | deflate"
      })
  void theReplyIsAsTheClientPrefers(String accepted, String coding) throws IOException {
    String body =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":[1]}]}";
    try (RawClient client = server.connect()) {
      RawClient.Response response =
          client
              .post(
                  PATH,
                  "Accept-Encoding: " + accepted + "\r\n",
                  body.getBytes(StandardCharsets.US_ASCII))
              .expect(200);
      assertEquals(coding, response.fields().get("content-encoding"));
      assertNull(response.fields().get("inference-header-content-length"));
    }
  }

  @Test
  void aBombIsRefused() throws IOException {
    byte[] bomb = compress("gzip", new byte[100 << 20]);
    String gzip = "Content-Encoding: gzip\r\n";
    try (RawClient client = server.connect()) {
      String raw = "Inference-Header-Content-Length: 0\r\n";
      String text = client.post(PATH, gzip + raw, bomb).expect(413).text();
      assertTrue(text.contains("decompressed request body exceeds the maximum"), text);
    }
    byte[] blanks = new byte[100 << 20];
    Arrays.fill(blanks, (byte) ' ');
    byte[] json = compress("gzip", blanks);
    for (String path : List.of(PATH, "/v2/repository/index")) {
      try (RawClient client = server.connect()) {
        client.post(path, gzip, json).expect(413);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"gzip", "deflate"})
  void aBodyThatDoesNotDecompressIsRefused(String coding) throws IOException {
    byte[] right = compress(coding, "{\"inputs\":[]}".getBytes(StandardCharsets.US_ASCII));
    byte[][] wrong = {new byte[0], {1, 2, 3}, Arrays.copyOf(right, right.length / 2), {0x1f, 1}};
    try (RawClient client = server.connect()) {
      for (byte[] body : wrong) {
        String text =
            client.post(PATH, "Content-Encoding: " + coding + "\r\n", body).expect(400).text();
        assertTrue(text.contains("does not decompress"), text);
      }
    }
  }

  /** As of files that were appended to each other. */
  @Test
  void aBodyMayBeOfSeveralGzipMembers() throws IOException {
    String body =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}]}";
    for (int cut : new int[] {1, 20, body.length() - 1}) {
      byte[] one = compress("gzip", body.substring(0, cut).getBytes(StandardCharsets.US_ASCII));
      byte[] two = compress("gzip", body.substring(cut).getBytes(StandardCharsets.US_ASCII));
      byte[] both = RawClient.concat(one, two);
      try (RawClient client = server.connect()) {
        String text = client.post(PATH, "Content-Encoding: gzip\r\n", both).expect(200).text();
        assertTrue(text.contains("[1.0,2.0]"), text);
        byte[] request = RawClient.request(PATH, "Content-Encoding: gzip\r\n", both);
        int apart = request.length - two.length;
        client
            .send(Arrays.copyOf(request, apart))
            .send(Arrays.copyOfRange(request, apart, request.length));
        client.receive().expect(200);
      }
    }
  }

  @Test
  void emptyGzipMembersAreReadOver() throws IOException {
    byte[] empty = compress("gzip", new byte[0]);
    ByteArrayOutputStream many = new ByteArrayOutputStream();
    for (int i = 0; i < 100_000; i++) {
      many.writeBytes(empty);
    }
    String body =
        "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1,1],\"data\":[1]}]}";
    try (RawClient client = server.connect()) {
      client.post(PATH, "Content-Encoding: gzip\r\n", many.toByteArray()).expect(400);
      many.writeBytes(compress("gzip", body.getBytes(StandardCharsets.US_ASCII)));
      client.post(PATH, "Content-Encoding: gzip\r\n", many.toByteArray()).expect(200);
    }
  }

  @Test
  void anUnknownCodingIsNotSupported() throws IOException {
    try (RawClient client = server.connect()) {
      RawClient.Response response =
          client.post(PATH, "Content-Encoding: br\r\n", new byte[3]).expect(501);
      assertTrue(response.text().contains("Unsupported compression type"), response.text());
      assertEquals("gzip, deflate", response.fields().get("accept-encoding"));
    }
  }
}
