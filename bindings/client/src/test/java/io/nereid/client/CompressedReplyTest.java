package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.client.ClientOptions.Compression;
import io.nereid.types.StatusCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

/** Compressed bodies that servers send, whole and broken, and those that the client sends. */
class CompressedReplyTest {

  private static final String JSON =
      "{\"model_name\":\"m\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"OUT\","
          + "\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1.5,2.5]}]}";

  private static byte[] gzip(byte[] body) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(body);
    }
    return bytes.toByteArray();
  }

  /** With all that the head of a gzip file can have. */
  private static byte[] withLongHead(byte[] gzip) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(new byte[] {0x1f, (byte) 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3});
    bytes.writeBytes(new byte[] {3, 0, 'x', 'y', 'z'});
    bytes.writeBytes("name\0comment\0".getBytes(StandardCharsets.ISO_8859_1));
    bytes.writeBytes(new byte[] {1, 2});
    bytes.write(gzip, 10, gzip.length - 10);
    return bytes.toByteArray();
  }

  private static byte[] inflated(byte[] compressed, int pieceBytes, Compression how) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ReplyInflater inflater = new ReplyInflater(how)) {
      for (int at = 0; at < compressed.length; at += pieceBytes) {
        int count = Math.min(pieceBytes, compressed.length - at);
        inflater.take(
            ByteBuffer.wrap(compressed, at, count),
            piece -> {
              byte[] taken = new byte[piece.remaining()];
              piece.get(taken);
              bytes.writeBytes(taken);
            });
      }
      inflater.finish();
    }
    return bytes.toByteArray();
  }

  @Test
  void piecesOfAnySize() throws IOException {
    byte[] body = new byte[100_000];
    new Random(1).nextBytes(body);
    Arrays.fill(body, 1000, 60_000, (byte) 7);
    ByteArrayOutputStream zlib = new ByteArrayOutputStream();
    try (DeflaterOutputStream out = new DeflaterOutputStream(zlib)) {
      out.write(body);
    }
    for (int pieceBytes : new int[] {1, 7, 1000, 1 << 20}) {
      assertArrayEquals(body, inflated(gzip(body), pieceBytes, Compression.GZIP));
      assertArrayEquals(body, inflated(withLongHead(gzip(body)), pieceBytes, Compression.GZIP));
      assertArrayEquals(body, inflated(zlib.toByteArray(), pieceBytes, Compression.DEFLATE));
    }
  }

  private static void fails(String message, byte[] compressed) {
    for (int pieceBytes : new int[] {1, 1 << 20}) {
      InferenceException failure =
          assertThrows(
              InferenceException.class, () -> inflated(compressed, pieceBytes, Compression.GZIP));
      assertEquals(StatusCode.INTERNAL, failure.code());
      assertTrue(failure.getMessage().contains(message), failure::getMessage);
    }
  }

  @Test
  void brokenRepliesAreTold() throws IOException {
    byte[] good = gzip(JSON.getBytes(StandardCharsets.UTF_8));
    fails("ends too early", Arrays.copyOf(good, good.length - 1));
    fails("ends too early", Arrays.copyOf(good, 20));
    fails("ends too early", Arrays.copyOf(good, 5));
    fails("something follows", Arrays.copyOf(good, good.length + 1));
    fails("is said to be gzip", JSON.getBytes(StandardCharsets.UTF_8));
    byte[] checksum = good.clone();
    checksum[good.length - 8] ^= 1;
    fails("another checksum", checksum);
    byte[] garbled = good.clone();
    garbled[10] |= 6; // a kind of block that does not exist
    fails("cannot be decompressed", garbled);
  }

  private static ClientOptions gzipped() {
    return ClientOptions.builder()
        .compressRequests(Compression.GZIP)
        .compressReplies(Compression.GZIP)
        .binaryData(false)
        .maxResponseBytes(10_000)
        .build();
  }

  private static InferResponse infer(InferenceClient client) {
    return client.infer(
        InferRequest.builder("m").input("IN", Tensor.ofFloats(new float[] {1, 2}, 1, 2)).build());
  }

  @Test
  void theServerIsAskedAndReadsWhatItGets() throws Exception {
    byte[] reply =
        ScriptedServer.response(
            "200 OK\r\nContent-Encoding: gzip", gzip(JSON.getBytes(StandardCharsets.UTF_8)));
    try (ScriptedServer server = new ScriptedServer(request -> reply);
        InferenceClient client = server.connect(gzipped())) {
      try (InferResponse response = infer(client)) {
        assertArrayEquals(new float[] {1.5f, 2.5f}, response.output("OUT").toFloatArray());
      }
      ScriptedServer.Request request = server.requests.take();
      assertEquals("gzip", request.fields().get("accept-encoding"));
      assertEquals("gzip", request.fields().get("content-encoding"));
      byte[] body = new GZIPInputStream(new ByteArrayInputStream(request.body())).readAllBytes();
      String text = new String(body, StandardCharsets.UTF_8);
      assertTrue(text.contains("\"data\":[1.0,2.0]"), text);
    }
  }

  /** Few bytes that stand for many. */
  @Test
  void theLimitIsThatOfWhatItStandsFor() throws Exception {
    byte[] reply =
        ScriptedServer.response("200 OK\r\nContent-Encoding: gzip", gzip(new byte[1 << 20]));
    try (ScriptedServer server = new ScriptedServer(request -> reply);
        InferenceClient client = server.connect(gzipped())) {
      InferenceException failure =
          assertThrows(InferenceException.class, () -> infer(client).close());
      assertEquals(StatusCode.RESOURCE_EXHAUSTED, failure.code());
    }
  }
}
