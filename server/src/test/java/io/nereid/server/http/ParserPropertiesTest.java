package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.types.DataType;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Properties that hold for any bytes, however they arrive. */
class ParserPropertiesTest {

  private static final long SEED = 20_240_611;

  private static final String JSON =
      "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[2,2],\"parameters\":"
          + "{\"binary_data_size\":16}}],\"outputs\":[{\"name\":\"OUT\",\"parameters\":"
          + "{\"binary_data\":true}}],\"id\":\"a\"}";

  private static byte[] plain() {
    byte[] body = RawClient.concat(JSON.getBytes(StandardCharsets.US_ASCII), new byte[16]);
    return RawClient.request(
        "/v2/models/FP32/infer",
        "Inference-Header-Content-Length: " + JSON.length() + "\r\n",
        body);
  }

  private static byte[] chunked() {
    String head =
        "POST /v2/models/FP32/infer HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
            + "Inference-Header-Content-Length: "
            + JSON.length()
            + "\r\n\r\n"
            + Integer.toHexString(JSON.length())
            + "\r\n"
            + JSON
            + "\r\n10;x=y\r\n";
    return RawClient.concat(
        RawClient.concat(head.getBytes(StandardCharsets.US_ASCII), new byte[16]),
        "\r\n0\r\nA: b\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
  }

  /** What the server answers, without the time; "reset" where it does not tell. */
  private static String answer(TestServer server, List<byte[]> pieces) throws IOException {
    try (RawClient client = server.connect()) {
      for (byte[] piece : pieces) {
        client.send(piece);
      }
      client.socket().shutdownOutput();
      return client.rest().replaceAll("Date: [^\r]*\r\n", "");
    } catch (SocketException e) {
      return "reset";
    }
  }

  private static List<byte[]> split(byte[] bytes, Random random) {
    List<byte[]> pieces = new ArrayList<>();
    for (int at = 0; at < bytes.length; ) {
      int count = random.nextInt(4) == 0 ? bytes.length - at : 1 + random.nextInt(60);
      int end = Math.min(bytes.length, at + count);
      pieces.add(Arrays.copyOfRange(bytes, at, end));
      at = end;
    }
    return pieces;
  }

  /** The same bytes with a few changed, lost or doubled. */
  static byte[] mutate(byte[] original, Random random) {
    byte[] bytes = original.clone();
    for (int i = random.nextInt(4); i >= 0; i--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(4)) {
        case 0 -> bytes[at] = (byte) random.nextInt(256);
        case 1 -> bytes[at] = (byte) "\r\n :;,\0{}[]\"09afx-".charAt(random.nextInt(18));
        case 2 -> bytes = Arrays.copyOf(bytes, Math.max(1, at)); // cut off
        default -> {
          byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
          System.arraycopy(bytes, at, longer, at + 1, bytes.length - at);
          bytes = longer;
        }
      }
    }
    return bytes;
  }

  @Test
  void repliesDoNotDependOnThePiecesInWhichBytesArrive() throws Exception {
    Random random = new Random(SEED);
    byte[][] seeds = {plain(), chunked()};
    try (TestServer server = new TestServer().identity(DataType.FP32)) {
      for (int i = 0; i < 400; i++) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int j = 0; j <= i % 3; j++) {
          byte[] seed = seeds[random.nextInt(seeds.length)];
          all.writeBytes(i % 2 == 0 ? seed : mutate(seed, random));
        }
        byte[] bytes = all.toByteArray();
        String whole = answer(server, List.of(bytes));
        String inPieces = answer(server, split(bytes, random));
        if (!whole.equals("reset") && !inPieces.equals("reset")) {
          assertEquals(whole, inPieces, () -> new String(bytes, StandardCharsets.ISO_8859_1));
        }
      }
      server.awaitNoLiveBuffers();
    }
  }

  @Test
  void mutatedRequestsAreAnsweredOrEndTheConnection() throws Exception {
    Random random = new Random(SEED);
    byte[][] seeds = {plain(), chunked()};
    try (TestServer server = new TestServer().identity(DataType.FP32)) {
      int answered = 0;
      for (int i = 0; i < 1500; i++) {
        byte[] bytes = mutate(seeds[i % 2], random);
        try (RawClient client = server.connect()) {
          client.send(bytes);
          client.socket().shutdownOutput(); // what is cut off is noticed at once
          RawClient.Response response = client.receive();
          assertTrue(
              response.status() < 500 || response.status() == 501 || response.status() == 505,
              () -> response.text() + new String(bytes, StandardCharsets.ISO_8859_1));
          answered++;
        } catch (SocketTimeoutException e) {
          throw new AssertionError(new String(bytes, StandardCharsets.ISO_8859_1), e);
        } catch (EOFException | SocketException e) {
          // Nothing to answer, or the answer came before all was sent.
        }
      }
      assertTrue(answered > 500, "only " + answered + " were answered");
      server.awaitNoLiveBuffers();
      try (RawClient client = server.connect()) {
        client.send(plain()).receive().expect(200);
      }
    }
  }
}
