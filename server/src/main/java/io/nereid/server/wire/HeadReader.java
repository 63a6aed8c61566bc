package io.nereid.server.wire;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * Reads request lines and header fields by RFC 9112, strictly: what could be read in two ways is
 * refused, because a proxy in front may have read it the other way. One for each connection.
 */
public final class HeadReader implements HttpExchange.HeadSource {

  private static final int MAX_METHOD_LENGTH = 16;

  /** What a client that wants to encrypt begins with; such a client waits for an answer. */
  private static final int TLS_HANDSHAKE = 22;

  /** Heads that are longer are not kept. */
  private static final int MAX_KEPT_BYTES = 1024;

  private final ConnectionInput input;
  private final int maxBytes;

  /** Clients send the same head again and again: the last one is not understood anew. */
  private byte[] lastBytes = {};

  private int lastLength; // of lastBytes, up to and with the empty line; 0: there is none
  private RequestHead last;

  /** The path of the last head, which is the same text again where the next one has it too. */
  private String lastTarget = "";

  private boolean http10;

  /** Reads heads of at most {@code maxBytes}. */
  public HeadReader(ConnectionInput input, int maxBytes) {
    this.input = input;
    this.maxBytes = maxBytes;
  }

  @Override
  public String protocol() {
    return http10 ? "HTTP/1.0" : "HTTP/1.1";
  }

  /** The next head; there must be something in the buffer. */
  @Override
  public RequestHead read(Supplier<RequestHead> empty) throws IOException {
    if (isRepeated()) {
      input.skip(lastLength);
      return last;
    }
    lastLength = 0;
    http10 = false;
    skipEmptyLines();
    if (input.bytes()[input.position()] == TLS_HANDSHAKE) {
      throw malformed("expected a request line, got a TLS handshake: this port is not encrypted");
    }
    int length = awaitHead();
    byte[] bytes = input.bytes();
    int start = input.position();
    int end = start + length;
    int lineEnd = lineEnd(bytes, start, end);
    int methodEnd = indexOf(bytes, ' ', start, lineEnd);
    int targetEnd = methodEnd < 0 ? -1 : indexOf(bytes, ' ', methodEnd + 1, lineEnd);
    if (targetEnd < 0 || methodEnd == start || targetEnd == methodEnd + 1) {
      throw malformed("expected METHOD PATH HTTP/1.1 as the request line");
    }
    String method = method(bytes, start, methodEnd);
    version(bytes, targetEnd + 1, lineEnd);
    RequestHead head = empty.get();
    head.begin(method, target(bytes, methodEnd + 1, targetEnd), http10);
    int at = lineEnd + 2;
    while (at < end - 2) {
      int fieldEnd = lineEnd(bytes, at, end);
      field(head, bytes, at, fieldEnd);
      at = fieldEnd + 2;
    }
    head.check();
    if (!http10) {
      keep(head, bytes, start, length);
    }
    input.skip(length);
    return head;
  }

  /** Whether the last head follows once more, and all of it is in the buffer. */
  private boolean isRepeated() {
    int from = input.position();
    return lastLength > 0
        && input.available() >= lastLength
        && Arrays.equals(input.bytes(), from, from + lastLength, lastBytes, 0, lastLength);
  }

  private void keep(RequestHead head, byte[] bytes, int from, int length) {
    if (length <= MAX_KEPT_BYTES) {
      if (lastBytes.length < length) {
        lastBytes = new byte[length];
      }
      System.arraycopy(bytes, from, lastBytes, 0, length);
      lastLength = length;
      last = head;
    }
  }

  /** Some clients send a line break behind a body: RFC 9112 asks to pass over it. */
  private void skipEmptyLines() throws IOException {
    int skipped = 0;
    while (true) {
      while (input.available() < 2) {
        if (!input.fill()) {
          throw new ClientGoneException();
        }
      }
      byte[] bytes = input.bytes();
      if (bytes[input.position()] != '\r' || bytes[input.position() + 1] != '\n') {
        return;
      }
      if (++skipped > 4) {
        throw malformed("expected a request line, got empty lines");
      }
      input.skip(2);
    }
  }

  /** Reads until the empty line that ends the head is in the buffer; bytes up to and with it. */
  private int awaitHead() throws IOException {
    int searched = 0; // relative to the position, which filling may move
    while (true) {
      byte[] bytes = input.bytes();
      int start = input.position();
      int limit = Math.min(input.limit(), start + maxBytes);
      for (int i = start + searched; i + 3 < limit; i++) {
        if (bytes[i + 3] == '\n'
            && bytes[i + 2] == '\r'
            && bytes[i + 1] == '\n'
            && bytes[i] == '\r') {
          return i + 4 - start;
        }
      }
      if (input.available() >= maxBytes) {
        throw HttpFailure.closing(
            Status.HEAD_TOO_LARGE,
            "expected a request line and header fields of at most "
                + maxBytes
                + " bytes together; --http-max-header-size sets the limit");
      }
      searched = Math.max(0, limit - start - 3);
      if (!input.fill()) {
        throw new ClientGoneException();
      }
    }
  }

  private static int indexOf(byte[] bytes, char wanted, int from, int to) {
    for (int i = from; i < to; i++) {
      if (bytes[i] == wanted) {
        return i;
      }
    }
    return -1;
  }

  /** Where the line ends that starts at {@code from}; there is an end, before {@code to}. */
  private static int lineEnd(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      int c = bytes[i];
      if (c == '\r') {
        if (i + 1 < to && bytes[i + 1] == '\n') {
          return i;
        }
        throw malformed("a line of the head has a carriage return that ends no line");
      }
      if (c == '\n') {
        throw malformed("a line of the head ends without a carriage return");
      }
    }
    throw malformed("a line of the head does not end");
  }

  private static String method(byte[] bytes, int from, int to) {
    switch (to - from) {
      case 3 -> {
        if (bytes[from] == 'G' && bytes[from + 1] == 'E' && bytes[from + 2] == 'T') {
          return "GET";
        }
      }
      case 4 -> {
        if (bytes[from] == 'P'
            && bytes[from + 1] == 'O'
            && bytes[from + 2] == 'S'
            && bytes[from + 3] == 'T') {
          return "POST";
        }
      }
      default -> {}
    }
    for (int i = from; i < to; i++) {
      if (!isToken(bytes[i]) || to - from > MAX_METHOD_LENGTH) {
        throw malformed("expected a method such as GET at the start of the request line");
      }
    }
    return ascii(bytes, from, to);
  }

  private void version(byte[] bytes, int from, int to) {
    boolean http1 = to - from == 8 && ascii(bytes, from, to - 1).equals("HTTP/1.");
    if (!http1 || (bytes[to - 1] != '1' && bytes[to - 1] != '0')) {
      throw HttpFailure.closing(
          Status.VERSION_NOT_SUPPORTED, "expected HTTP/1.1 at the end of the request line");
    }
    http10 = bytes[to - 1] == '0';
  }

  private String target(byte[] bytes, int from, int to) {
    if (!isLastTarget(bytes, from, to)) {
      String target = ascii(bytes, from, to);
      checkTarget(target);
      lastTarget = target;
    }
    return lastTarget;
  }

  /** Fails when a request's target is none. */
  static void checkTarget(String target) {
    for (int i = 0; i < target.length(); i++) {
      char c = target.charAt(i);
      if (c <= ' ' || c >= 0x7f) {
        throw malformed("expected a path of printable ASCII in the request line");
      }
    }
  }

  private boolean isLastTarget(byte[] bytes, int from, int to) {
    if (lastTarget.length() != to - from) {
      return false;
    }
    for (int i = from; i < to; i++) {
      if (bytes[i] != (byte) lastTarget.charAt(i - from)) {
        return false;
      }
    }
    return true;
  }

  private static void field(RequestHead head, byte[] bytes, int from, int to) {
    int colon = from;
    while (colon < to && isToken(bytes[colon])) {
      colon++;
    }
    if (colon == from || colon == to || bytes[colon] != ':') {
      // A space before the colon, a line that goes on with the last field, a stray character.
      throw malformed("expected header fields of the form Name: value, one to a line");
    }
    field(head, bytes, from, colon - from, colon + 1, to);
  }

  /** Takes a field whose value, with blanks around it, is from {@code from} to {@code to}. */
  static void field(RequestHead head, byte[] bytes, int name, int nameLength, int from, int to) {
    int valueFrom = from;
    int valueTo = to;
    while (valueFrom < valueTo && isBlank(bytes[valueFrom])) {
      valueFrom++;
    }
    while (valueTo > valueFrom && isBlank(bytes[valueTo - 1])) {
      valueTo--;
    }
    checkValue(bytes, valueFrom, valueTo);
    head.field(bytes, name, nameLength, valueFrom, valueTo);
  }

  private static void checkValue(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      int c = bytes[i];
      if ((c >= 0 && c < ' ' && c != '\t') || c == 0x7f) {
        throw malformed("a header field's value has a control character");
      }
    }
  }

  private static boolean isBlank(byte c) {
    return c == ' ' || c == '\t';
  }

  static boolean isToken(byte c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || (c > 0 && "!#$%&'*+-.^_`|~".indexOf(c) >= 0);
  }

  private static String ascii(byte[] bytes, int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
  }

  static HttpFailure malformed(String message) {
    return HttpFailure.closing(Status.BAD_REQUEST, message);
  }
}
