package io.nereid.perf;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * What matters of the head of a reply.
 *
 * @param status of the reply
 * @param contentLength -1: it does not say
 * @param chunked whether the body comes in chunks
 * @param keepAlive whether the connection stays
 * @param jsonLength of a body with binary tensors, the length of its JSON; -1: all of it is JSON
 */
record HttpReplyHead(
    int status, long contentLength, boolean chunked, boolean keepAlive, int jsonLength) {

  /** Strict: what could be read in two ways is refused. */
  static HttpReplyHead parse(byte[] bytes, int count) throws IOException {
    String text = new String(bytes, 0, count, StandardCharsets.ISO_8859_1);
    String[] lines = text.substring(0, text.length() - 4).split("\r\n", -1);
    String first = lines[0];
    if (!first.matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")) {
      throw new IOException("expected the status line of HTTP/1.1, got '" + shown(first) + "'");
    }
    int status = Integer.parseInt(first, 9, 12, 10);
    boolean keepAlive = first.startsWith("HTTP/1.1");
    boolean chunked = false;
    long contentLength = -1;
    int jsonLength = -1;
    for (int i = 1; i < lines.length; i++) {
      int colon = lines[i].indexOf(':');
      if (colon < 1 || !lines[i].substring(0, colon).matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
        throw new IOException("expected a field of HTTP/1.1, got '" + shown(lines[i]) + "'");
      }
      String value = lines[i].substring(colon + 1).strip();
      switch (lines[i].substring(0, colon).toLowerCase(Locale.ROOT)) {
        case "content-length" -> {
          long length = number(value);
          if (contentLength >= 0 && contentLength != length) {
            throw new IOException("a reply has two lengths: " + contentLength + " and " + length);
          }
          contentLength = length;
        }
        case "transfer-encoding" -> {
          if (!value.equalsIgnoreCase("chunked") || chunked) {
            throw new IOException("expected the transfer coding chunked, got '" + value + "'");
          }
          chunked = true;
        }
        case "connection" -> keepAlive = keepAlive(value, keepAlive);
        case "inference-header-content-length" -> jsonLength = (int) number(value);
        default -> {}
      }
    }
    if (chunked && contentLength >= 0) {
      throw new IOException("a reply has both a length and chunks");
    }
    return new HttpReplyHead(status, contentLength, chunked, keepAlive, jsonLength);
  }

  private static boolean keepAlive(String value, boolean otherwise) {
    String options = "," + value.toLowerCase(Locale.ROOT).replace(" ", "") + ",";
    if (options.contains(",close,")) {
      return false;
    }
    return otherwise || options.contains(",keep-alive,");
  }

  private static long number(String value) throws IOException {
    if (!value.matches("[0-9]{1,15}")) {
      throw new IOException("expected a length in a reply, got '" + shown(value) + "'");
    }
    return Long.parseLong(value);
  }

  private static String shown(String text) {
    return text.substring(0, Math.min(80, text.length())).replaceAll("\\p{Cntrl}", "?");
  }

  boolean isInterim() {
    return status < 200;
  }

  boolean hasNoBody() {
    return status == 204 || status == 304;
  }
}
