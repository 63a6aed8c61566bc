package io.nereid.server.http.seam;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The first bytes of a request, rewritten for Helidon, which speaks only HTTP/1.1: proxies such as
 * nginx and probes of balancers still use HTTP/1.0, and some clients put scheme and host before the
 * path. Empty lines in front, which old clients send behind a body, are removed.
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

  static FirstBytes of(byte[] came) {
    int from = 0;
    while (from + 1 < came.length && came[from] == '\r' && came[from + 1] == '\n') {
      from += 2;
    }
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
