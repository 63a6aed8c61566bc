package io.nereid.server.wire;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The head of one request: its line, and the header fields that HTTP itself acts on, checked as
 * they arrive. A handler that acts on others takes them in a subclass. Filled in by the
 * connection's thread; nobody changes it afterwards, as the next request may have the same.
 */
public class RequestHead {

  /** {@link #contentLength} when nothing is said. */
  public static final long ABSENT = -1;

  private String method = "";
  private String target = "";
  private boolean http10;
  private long contentLength = ABSENT;
  private boolean chunked;
  private boolean close;
  private boolean expectsContinue;
  private int hosts;
  private String contentEncoding = "";
  private String acceptEncoding = "";

  /** What the request line says; header fields follow. */
  protected void begin(String sentMethod, String sentTarget, boolean isHttp10) {
    method = sentMethod;
    target = sentTarget;
    http10 = isHttp10;
  }

  /** The method as it was sent. */
  public final String method() {
    return method;
  }

  /** Whether only the head of the reply is wanted. */
  public final boolean isHeadMethod() {
    return method.equals("HEAD");
  }

  /** The target as it was sent. */
  public final String target() {
    return target;
  }

  /** The target without the scheme and the host of the absolute form, and without a query. */
  public final String path() {
    return path(target);
  }

  /** The same of any target. */
  public static String path(String target) {
    String path = target;
    if (path.startsWith("http://") || path.startsWith("https://")) {
      int slash = path.indexOf('/', path.indexOf("://") + 3);
      path = slash < 0 ? "/" : path.substring(slash);
    }
    int query = path.indexOf('?');
    return query < 0 ? path : path.substring(0, query);
  }

  final boolean isHttp10() {
    return http10;
  }

  /** Bytes of the body; {@link #ABSENT} when it says nothing or is chunked. */
  final long contentLength() {
    return contentLength;
  }

  /** The request ends with its head, whatever that says. */
  final void endsHere() {
    if (contentLength == ABSENT) {
      contentLength = 0;
    }
  }

  final boolean chunked() {
    return chunked;
  }

  final boolean expectsContinue() {
    return expectsContinue;
  }

  /** The value of Content-Encoding; empty when it is absent. */
  public final String contentEncoding() {
    return contentEncoding;
  }

  /** The value of Accept-Encoding; empty when it is absent. */
  public final String acceptEncoding() {
    return acceptEncoding;
  }

  /** Whether the connection ends with this request, as the client sees it. */
  final boolean wantsClose() {
    return close || http10;
  }

  /**
   * Takes one field, whose name is in whatever case, and whose value is {@code bytes} from {@code
   * valueFrom} to {@code valueTo}.
   */
  protected void field(byte[] bytes, int name, int nameLength, int valueFrom, int valueTo) {
    // The length tells the fields apart well enough that others cost no comparison of names.
    switch (nameLength) {
      case 4 -> {
        if (is(bytes, name, "host")) {
          hosts++;
        }
      }
      case 6 -> {
        if (is(bytes, name, "expect")) {
          expect(text(bytes, valueFrom, valueTo));
        }
      }
      case 10 -> {
        if (is(bytes, name, "connection")) {
          connection(text(bytes, valueFrom, valueTo));
        }
      }
      case 14 -> {
        if (is(bytes, name, "content-length")) {
          contentLength(text(bytes, valueFrom, valueTo));
        }
      }
      case 15 -> {
        if (is(bytes, name, "accept-encoding")) {
          acceptEncoding = joined(acceptEncoding, text(bytes, valueFrom, valueTo));
        }
      }
      case 16 -> {
        if (is(bytes, name, "content-encoding")) {
          contentEncoding = joined(contentEncoding, text(bytes, valueFrom, valueTo));
        }
      }
      case 17 -> {
        if (is(bytes, name, "transfer-encoding")) {
          transferEncoding(text(bytes, valueFrom, valueTo));
        }
      }
      default -> {}
    }
  }

  private static String joined(String one, String other) {
    return one.isEmpty() ? other : one + "," + other;
  }

  /** A field's value as text. */
  protected static String text(byte[] bytes, int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
  }

  /** What holds for the fields of HTTP/1 together. */
  final void check() {
    expectsContinue &= !http10; // where it means nothing: the client would take it for the reply
    if (chunked && contentLength != ABSENT) {
      throw HttpFailure.closing(
          Status.BAD_REQUEST,
          "expected Content-Length or Transfer-Encoding, got both: it is not clear where the body"
              + " ends");
    }
    if (chunked && http10) {
      throw HttpFailure.closing(
          Status.BAD_REQUEST, "Transfer-Encoding needs HTTP/1.1, the request is HTTP/1.0");
    }
    if (hosts > 1 || (hosts == 0 && !http10)) {
      throw HttpFailure.closing(Status.BAD_REQUEST, "expected one Host header field, got " + hosts);
    }
  }

  /** Whether a name of the same length is that one, but for its case. */
  protected static boolean is(byte[] bytes, int offset, String lowerCase) {
    for (int i = 0; i < lowerCase.length(); i++) {
      int c = bytes[offset + i];
      if (c >= 'A' && c <= 'Z') {
        c += 'a' - 'A';
      }
      if (c != lowerCase.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Whether a name of the same length is that one, but for its case. */
  protected static boolean is(byte[] bytes, int offset, byte[] lowerCase) {
    for (int i = 0; i < lowerCase.length; i++) {
      int c = bytes[offset + i];
      if (c >= 'A' && c <= 'Z') {
        c += 'a' - 'A';
      }
      if (c != lowerCase[i]) {
        return false;
      }
    }
    return true;
  }

  private void contentLength(String value) {
    long length = digits(value);
    if (length < 0) {
      throw HttpFailure.closing(
          Status.BAD_REQUEST, "expected a number of bytes as Content-Length, got '" + value + "'");
    }
    if (contentLength != ABSENT && contentLength != length) {
      throw HttpFailure.closing(
          Status.BAD_REQUEST,
          "expected one Content-Length, got " + contentLength + " and " + length);
    }
    contentLength = length;
  }

  /** A number that is written with nothing but digits; -1 for everything else. */
  public static long digits(String value) {
    if (value.isEmpty() || value.length() > 18) {
      return -1;
    }
    long number = 0;
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c < '0' || c > '9') {
        return -1;
      }
      number = number * 10 + (c - '0');
    }
    return number;
  }

  private void transferEncoding(String value) {
    if (chunked) {
      throw HttpFailure.closing(
          Status.BAD_REQUEST, "expected one Transfer-Encoding header field, got several");
    }
    if (!value.equalsIgnoreCase("chunked")) {
      throw HttpFailure.closing(
          Status.NOT_IMPLEMENTED, "expected Transfer-Encoding chunked, got '" + value + "'");
    }
    chunked = true;
  }

  private void connection(String value) {
    for (String option : value.toLowerCase(Locale.ROOT).split(",")) {
      close |= option.strip().equals("close");
    }
  }

  private void expect(String value) {
    if (!value.equalsIgnoreCase("100-continue")) {
      throw HttpFailure.closing(
          Status.EXPECTATION_FAILED, "expected Expect: 100-continue, got '" + value + "'");
    }
    expectsContinue = true;
  }
}
