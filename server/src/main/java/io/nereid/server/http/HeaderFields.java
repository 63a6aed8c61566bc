package io.nereid.server.http;

import io.nereid.server.shared.HeaderForwarding;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The header fields of one request that this server acts on, checked as they arrive. */
final class HeaderFields {

  /** Longest request id that is taken and sent back. */
  static final int MAX_REQUEST_ID_LENGTH = 128;

  private long contentLength = RequestHead.ABSENT;
  private String inferenceHeaderLength;
  private boolean chunked;
  private boolean close;
  private boolean expectsContinue;
  private int hosts;
  private String contentEncoding = "";
  private String acceptEncoding = "";
  private String traceparent;
  private String tracestate;
  private String requestId;
  private String loadFormat;
  private Map<String, String> kept = Map.of();
  private List<HeaderForwarding.Field> forwarded = List.of();

  /** Bytes of the body; {@link RequestHead#ABSENT} when it says nothing or is chunked. */
  long contentLength() {
    return contentLength;
  }

  /** The value of Inference-Header-Content-Length; null when it is absent. */
  String inferenceHeaderLength() {
    return inferenceHeaderLength;
  }

  boolean chunked() {
    return chunked;
  }

  boolean expectsContinue() {
    return expectsContinue;
  }

  String contentEncoding() {
    return contentEncoding;
  }

  String acceptEncoding() {
    return acceptEncoding;
  }

  /** By W3C Trace Context; null when it is absent, empty when it came twice. */
  String traceparent() {
    return traceparent;
  }

  String tracestate() {
    return tracestate;
  }

  /** The value of X-Request-Id; null when it is absent, or not fit to be sent back. */
  String requestId() {
    return requestId;
  }

  /** In which format the reply is to tell the server's load; null when it is not to. */
  String loadFormat() {
    return loadFormat;
  }

  /** Whether the connection ends with this request, as the client sees it. */
  boolean wantsClose(boolean http10) {
    return close || http10;
  }

  /** The value of one of the {@link KeptFields}, by its name in lower case; null when absent. */
  String kept(String name) {
    return kept.get(name);
  }

  /** Takes one of the {@link KeptFields}. Several of a name are one, which is then another. */
  void keep(String name, String value) {
    if (kept.isEmpty()) {
      kept = new HashMap<>();
    }
    kept.merge(name, value, (one, other) -> one + "," + other);
  }

  /** Those that become parameters, in their order. */
  List<HeaderForwarding.Field> forwarded() {
    return forwarded;
  }

  /** Takes one that becomes a parameter. */
  void forward(String name, String value) {
    if (forwarded.isEmpty()) {
      forwarded = new ArrayList<>();
    }
    forwarded.add(new HeaderForwarding.Field(name, value));
  }

  /** Takes one field; its name in whatever case. */
  void add(byte[] bytes, int name, int nameLength, String value) {
    // The length tells the fields apart well enough that others cost no comparison of names.
    switch (nameLength) {
      case 4 -> {
        if (is(bytes, name, "host")) {
          hosts++;
        }
      }
      case 6 -> {
        if (is(bytes, name, "expect")) {
          expect(value);
        }
      }
      case 10 -> {
        if (is(bytes, name, "connection")) {
          connection(value);
        } else if (is(bytes, name, "tracestate")) {
          tracestate = tracestate == null ? value : tracestate + "," + value;
        }
      }
      case 11 -> {
        if (is(bytes, name, "traceparent")) {
          traceparent = traceparent == null ? value : "";
        }
      }
      case 12 -> {
        if (is(bytes, name, "x-request-id") && isVisible(value)) {
          requestId = value;
        }
      }
      case 14 -> {
        if (is(bytes, name, "content-length")) {
          contentLength(value);
        }
      }
      case 15 -> {
        if (is(bytes, name, "accept-encoding")) {
          acceptEncoding = acceptEncoding.isEmpty() ? value : acceptEncoding + "," + value;
        }
      }
      case 16 -> {
        if (is(bytes, name, "content-encoding")) {
          contentEncoding = contentEncoding.isEmpty() ? value : contentEncoding + "," + value;
        }
      }
      case 17 -> {
        if (is(bytes, name, "transfer-encoding")) {
          transferEncoding(value);
        }
      }
      case 28 -> {
        if (is(bytes, name, "endpoint-load-metrics-format")) {
          loadFormat = value;
        }
      }
      case 31 -> {
        if (is(bytes, name, "inference-header-content-length")) {
          inferenceHeader(value);
        }
      }
      default -> {}
    }
  }

  private static boolean isVisible(String value) {
    return !value.isEmpty()
        && value.length() <= MAX_REQUEST_ID_LENGTH
        && value.chars().allMatch(c -> c > ' ' && c < 0x7f);
  }

  /** Whether the value of such a field can be of interest; others are passed over. */
  static boolean isKnown(byte[] bytes, int name, int nameLength) {
    return switch (nameLength) {
      case 12 -> (bytes[name] | 0x20) == 'x'; // content-type is as long, and frequent
      case 4, 6, 10, 11, 14, 15, 16, 17, 28, 31 -> true;
      default -> false;
    };
  }

  /** What holds for the fields together. */
  void check(boolean http10) {
    expectsContinue &= !http10; // where it means nothing: the client would take it for the reply
    if (chunked && contentLength != RequestHead.ABSENT) {
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

  private static boolean is(byte[] bytes, int offset, String lowerCase) {
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
  static boolean is(byte[] bytes, int offset, byte[] lowerCase) {
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
    if (contentLength != RequestHead.ABSENT && contentLength != length) {
      throw HttpFailure.closing(
          Status.BAD_REQUEST,
          "expected one Content-Length, got " + contentLength + " and " + length);
    }
    contentLength = length;
  }

  /** A number that is written with nothing but digits; -1 for everything else. */
  static long digits(String value) {
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

  private void inferenceHeader(String value) {
    if (inferenceHeaderLength != null && !inferenceHeaderLength.equals(value)) {
      throw HttpFailure.closing(
          Status.BAD_REQUEST,
          "expected one Inference-Header-Content-Length, got "
              + inferenceHeaderLength
              + " and "
              + value);
    }
    inferenceHeaderLength = value;
  }
}
