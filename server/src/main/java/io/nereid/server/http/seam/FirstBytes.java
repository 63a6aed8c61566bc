package io.nereid.server.http.seam;

import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The first bytes of a request, rewritten for Helidon, which speaks only HTTP/1.1: proxies such as
 * nginx and probes of balancers still use HTTP/1.0, and some clients put scheme and host before the
 * path. Methods in another case are refused, as Helidon takes "HEAd" for HEAD: a proxy would wait
 * for a body.
 *
 * @param bytes the bytes for Helidon
 * @param isOld whether the client used HTTP/1.0, so that its connection ends with the reply
 */
record FirstBytes(byte[] bytes, boolean isOld) {

  private static final String OLD = " HTTP/1.0\r\n";
  private static final String PRESENT = " HTTP/1.1\r\n";

  private static final Pattern SCHEME_AND_HOST = Pattern.compile("^(\\S+) https?://[^/? ]+/?");

  /** A client of HTTP/1.0 need not name a host. */
  private static final String HOST = "Host: unknown\r\n";

  /** No known method is as long. */
  private static final int METHOD_BYTES = 32;

  /** The longest part of an unknown method that its refusal repeats. */
  private static final int METHOD_CHARS = 20;

  /** The length of empty lines in front, which old clients send behind a body. */
  static int emptyLines(byte[] bytes, int count) {
    int at = 0;
    while (at + 1 < count && bytes[at] == '\r' && bytes[at + 1] == '\n') {
      at += 2;
    }
    return at;
  }

  /** True if the bytes have the request line, and the whole head of HTTP/1.0. */
  static boolean suffice(byte[] bytes, int count) {
    int end = 0;
    while (end < count && bytes[end] != '\n') {
      end++;
    }
    boolean isOld = end < count && startsWith(bytes, end + 1 - OLD.length(), OLD);
    return isOld ? KeptHead.end(bytes, count) >= 0 : end < count;
  }

  static FirstBytes of(byte[] came) {
    checkMethod(came);
    int end = 0; // end of the request line
    while (end + 1 < came.length && came[end] != '\r') {
      end++;
    }
    int version = end + 2 - OLD.length();
    boolean isOld = startsWith(came, version, OLD);
    int target = 0;
    while (target < end && came[target] != ' ') {
      target++;
    }
    boolean isAbsolute = startsWith(came, target, " http");
    if (!isOld && !isAbsolute) {
      return new FirstBytes(came, false);
    }
    String text = new String(came, StandardCharsets.ISO_8859_1);
    if (isOld) {
      boolean hasHost = text.toLowerCase(Locale.ROOT).contains("\r\nhost:");
      text = text.replaceFirst(OLD, hasHost ? PRESENT : PRESENT + HOST);
    }
    if (isAbsolute) {
      text = SCHEME_AND_HOST.matcher(text).replaceFirst("$1 /");
    }
    return new FirstBytes(text.getBytes(StandardCharsets.ISO_8859_1), isOld);
  }

  /** Throws if the letters in front of a space are not all capitals. */
  private static void checkMethod(byte[] bytes) {
    boolean isSmall = false;
    int at = 0;
    while (at < bytes.length && Character.isLetter(bytes[at])) {
      isSmall |= bytes[at] >= 'a';
      at++;
    }
    if (isSmall && at < bytes.length && bytes[at] == ' ') {
      int length = Math.min(at, METHOD_CHARS);
      throw RequestException.builder()
          .type(EventType.BAD_REQUEST)
          .status(Status.NOT_IMPLEMENTED_501)
          .setKeepAlive(false)
          .message(
              "expected a method in capitals, such as GET or POST, got \"%s\""
                  .formatted(new String(bytes, 0, length, StandardCharsets.US_ASCII)))
          .build();
    }
  }

  private static boolean startsWith(byte[] bytes, int at, String text) {
    if (at < 0 || at + text.length() > bytes.length) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      if (bytes[at + i] != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}
