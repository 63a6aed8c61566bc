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
 * path. Empty lines in front, which old clients send behind a body, are removed. Methods in another
 * case are refused, as Helidon takes "HEAd" for HEAD: a proxy would wait for a body.
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

  /** The longest part of an unknown method that its refusal repeats. */
  private static final int METHOD_CHARS = 20;

  /** True if the request line is whole, whatever empty lines are in front of it. */
  static boolean hasLine(byte[] bytes, int count) {
    int at = 0;
    while (at < count && (bytes[at] == '\r' || bytes[at] == '\n')) {
      at++;
    }
    while (at < count && bytes[at] != '\n') {
      at++;
    }
    return at < count;
  }

  static FirstBytes of(byte[] came) {
    int from = 0;
    while (from + 1 < came.length && came[from] == '\r' && came[from + 1] == '\n') {
      from += 2;
    }
    checkMethod(came, from);
    int end = from; // end of the request line
    while (end + 1 < came.length && came[end] != '\r') {
      end++;
    }
    int version = end + 2 - OLD.length();
    boolean isOld = version > from && startsWith(came, version, OLD);
    int target = from;
    while (target < end && came[target] != ' ') {
      target++;
    }
    boolean isAbsolute = startsWith(came, target, " http");
    if (!isOld && !isAbsolute && from == 0) {
      return new FirstBytes(came, false);
    }
    String text = new String(came, from, came.length - from, StandardCharsets.ISO_8859_1);
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
  static void checkMethod(byte[] bytes, int from) {
    boolean isSmall = false;
    int at = from;
    while (at < bytes.length && Character.isLetter(bytes[at])) {
      isSmall |= bytes[at] >= 'a';
      at++;
    }
    if (isSmall && at < bytes.length && bytes[at] == ' ') {
      int length = Math.min(at - from, METHOD_CHARS);
      throw RequestException.builder()
          .type(EventType.BAD_REQUEST)
          .status(Status.NOT_IMPLEMENTED_501)
          .setKeepAlive(false)
          .message(
              "expected a method in capitals, such as GET or POST, got \"%s\""
                  .formatted(new String(bytes, from, length, StandardCharsets.US_ASCII)))
          .build();
    }
  }

  private static boolean startsWith(byte[] bytes, int at, String text) {
    if (at + text.length() > bytes.length) {
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
