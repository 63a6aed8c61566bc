package io.nereid.perf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replies of HTTP/1.1, as other programs send them. */
class HttpReplyParserTest {

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static String chunked(Random random, byte[] body) {
    StringBuilder text = new StringBuilder("HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n");
    for (int at = 0; at < body.length; ) {
      int size = 1 + random.nextInt(Math.min(2000, body.length - at));
      text.append(Integer.toHexString(size)).append(random.nextBoolean() ? ";a=b" : "");
      text.append("\r\n").append(new String(body, at, size, StandardCharsets.ISO_8859_1));
      text.append("\r\n");
      at += size;
    }
    return text + "0\r\n" + (random.nextBoolean() ? "X-T: 1\r\n" : "") + "\r\n";
  }

  @Test
  void repliesAreTheSameHoweverTheyAreCut() throws IOException {
    Random random = new Random(3);
    HttpReplyParser reply = new HttpReplyParser(true);
    for (int run = 0; run < 300; run++) {
      byte[] body = new byte[random.nextInt(5000)];
      random.nextBytes(body);
      String whole =
          random.nextBoolean()
              ? chunked(random, body)
              : "HTTP/1.1 200 OK\r\nContent-Length: "
                  + body.length
                  + "\r\n\r\n"
                  + new String(body, StandardCharsets.ISO_8859_1);
      byte[] bytes = ascii((random.nextInt(4) == 0 ? "HTTP/1.1 100 Continue\r\n\r\n" : "") + whole);
      reply.reset();
      boolean ended = false;
      for (int at = 0; at < bytes.length; ) {
        assertFalse(ended, "it ended before its last byte");
        int size = 1 + random.nextInt(Math.min(bytes.length - at, 1 + random.nextInt(700)));
        ByteBuffer part = ByteBuffer.wrap(bytes, at, size);
        ended = reply.take(part);
        assertFalse(part.hasRemaining());
        at += size;
      }
      assertTrue(ended);
      assertEquals(200, reply.head().status());
      assertTrue(reply.head().keepAlive());
      assertArrayEquals(body, reply.body());
    }
  }

  @Test
  void bytesAfterAReplyAreLeft() throws IOException {
    HttpReplyParser reply = new HttpReplyParser(false);
    ByteBuffer in = ByteBuffer.wrap(ascii("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabcHTTP"));
    assertTrue(reply.take(in));
    assertEquals(4, in.remaining());
    assertEquals(0, reply.body().length, "nobody wanted it");
  }

  @Test
  void bodiesOfFailuresAreKept() throws IOException {
    HttpReplyParser reply = new HttpReplyParser(false);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(ascii("HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 16\r\n\r\n"));
    bytes.writeBytes(ascii("{\"error\":\"full\"}"));
    assertTrue(reply.take(ByteBuffer.wrap(bytes.toByteArray())));
    assertFalse(reply.head().keepAlive());
    assertEquals("full", ErrorText.of(new String(reply.body(), StandardCharsets.US_ASCII)));
  }

  @Test
  void aReplyWithoutALengthLastsToTheEnd() throws IOException {
    HttpReplyParser reply = new HttpReplyParser(true);
    assertFalse(reply.take(ByteBuffer.wrap(ascii("HTTP/1.0 200 OK\r\n\r\nabc"))));
    assertTrue(reply.end());
    assertEquals(3, reply.body().length);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "hello\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\n",
        "HTTP/1.1 200 OK\r\n Content-Length: 3\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\n",
      })
  void ambiguousRepliesAreRefused(String text) {
    assertThrows(
        IOException.class, () -> new HttpReplyParser(false).take(ByteBuffer.wrap(ascii(text))));
  }
}
