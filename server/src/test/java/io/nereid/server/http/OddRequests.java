package io.nereid.server.http;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;

/**
 * Requests whose ends are hard to tell, made by a seed. Each has a number in its path, a body that
 * looks like a request for a hidden path, and an honest request behind it.
 */
final class OddRequests {

  /** Fields that say how long a body is; N stands for its length. */
  private static final List<String> FRAMING =
      List.of(
          "Content-Length: N\r\n",
          "Content-Length:N\r\n",
          "Content-Length: \tN \r\n",
          "content-length: N\r\n",
          "Content-Length: +N\r\n",
          "Content-Length: -N\r\n",
          "Content-Length: 0xN\r\n",
          "Content-Length: 00N\r\n",
          "Content-Length: N, N\r\n",
          "Content-Length: N\r\nContent-Length: N\r\n",
          "Content-Length: N\r\nContent-Length: 0\r\n",
          "Content-Length: 0\r\nContent-Length: N\r\n",
          "Content-Length : N\r\n",
          " Content-Length: N\r\n",
          "Content-Length: \r\n N\r\n",
          "Content-Length: 0\r\n",
          "Content-Length: 1N\r\n",
          "Content-Length: 18446744073709551617\r\n",
          "Content_Length: N\r\n",
          "Content-Length: N\nX: y\r\n",
          "Content-Length: N\rX: y\r\n",
          "Connection: Content-Length\r\nContent-Length: N\r\n",
          "");

  private static final List<String> CHUNKED =
      List.of(
          "Transfer-Encoding: chunked\r\n",
          "transfer-encoding:chunked\r\n",
          "Transfer-Encoding: Chunked\r\n",
          "Transfer-Encoding: chunked \r\n",
          "Transfer-Encoding : chunked\r\n",
          "Transfer-Encoding: xchunked\r\n",
          "Transfer-Encoding: \"chunked\"\r\n",
          "Transfer-Encoding: \u000bchunked\r\n",
          "Transfer-Encoding: chunked, identity\r\n",
          "Transfer-Encoding: identity, chunked\r\n",
          "Transfer-Encoding: chunked, chunked\r\n",
          "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
          "Transfer-Encoding:\r\n chunked\r\n",
          "Transfer-Encoding: chunked\r\nContent-Length: N\r\n",
          "Content-Length: N\r\nTransfer-Encoding: chunked\r\n",
          "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
          "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n",
          "Transfer-Encoding: gzip, chunked\r\n",
          "TE: trailers\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n");

  private static final List<String> CHUNK_SIZES =
      List.of(
          "N\r\n",
          "N\r\n",
          "000N\r\n",
          "N;a=b\r\n",
          "N ;a=\"b\r\n\"\r\n",
          "N \r\n",
          " N\r\n",
          "+N\r\n",
          "0xN\r\n",
          "N\n",
          "N\r",
          "N;\r\n",
          "-1\r\n",
          "FFFFFFFFFFFFFFFFN\r\n",
          "\r\n");

  private static final List<String> CHUNK_ENDS =
      List.of(
          "\r\n0\r\n\r\n",
          "\r\n0\r\nX: y\r\n\r\n",
          "\r\n0\r\nContent-Length: 9\r\n\r\n",
          "\n0\n\n",
          "0\r\n\r\n",
          "\r\n00\r\n\r\n",
          "\r\n0;x\r\n\r\n",
          "\r\n0\r\n",
          "XX0\r\n\r\n");

  private static final List<String> OTHERS =
      List.of(
          "",
          "Expect: 100-continue\r\n",
          "Expect: 200-ok\r\n",
          "Connection: keep-alive\r\n",
          "Connection: close, keep-alive\r\n",
          "Upgrade: h2c\r\nConnection: Upgrade\r\n",
          "X: a\r\n b\r\n",
          "X\r\n",
          ": y\r\n",
          "X: \u0000\r\n",
          "Host: other\r\n",
          "Range: bytes=0-0\r\n");

  private static final List<String> METHODS =
      List.of("POST", "GET", "PUT", "HEAD", "OPTIONS", "DELETE", "post", "TRACE");

  private static final List<String> VERSIONS =
      List.of(" HTTP/1.1", " HTTP/1.0", "  HTTP/1.1", " HTTP/1.2", "");

  private OddRequests() {}

  static byte[] of(int number, Random chance) {
    String hidden = "GET /v2/models/hidden-" + number + " HTTP/1.1\r\nHost: test\r\n\r\n";
    String framed;
    if (chance.nextBoolean()) {
      framed = one(FRAMING, chance).replace("N", "" + hidden.length()) + "\r\n" + hidden;
    } else {
      framed =
          one(CHUNKED, chance).replace("N", "" + hidden.length())
              + "\r\n"
              + one(CHUNK_SIZES, chance).replace("N", Integer.toHexString(hidden.length()))
              + hidden
              + one(CHUNK_ENDS, chance);
    }
    String text =
        one(METHODS, chance)
            + " /v2/models/odd-"
            + number
            + (chance.nextBoolean() ? "/infer" : "")
            + one(VERSIONS, chance)
            + "\r\nHost: test\r\n"
            + one(OTHERS, chance)
            + framed
            + "GET /v2/models/last-"
            + number
            + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** The first, which is the usual one, in more than half of the cases. */
  private static String one(List<String> choices, Random chance) {
    return choices.get(chance.nextBoolean() ? 0 : chance.nextInt(choices.size()));
  }
}
