package io.nereid.server.wire;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * The head of a stream as it comes, in one frame or several, and what RFC 9113 asks of its fields.
 * Used with the connection's lock.
 */
final class HeadBlock {

  /** Frames behind the first that carry next to nothing. */
  private static final int MAX_SMALL_FRAMES = 16;

  private static final int SMALL_FRAME_BYTES = 1024;

  /** Room for larger heads is not kept. */
  private static final int MOST_KEPT_BYTES = 4 << 10;

  private final HpackDecoder decoder;
  private final int maxBytes; // packed; they are held until the head is complete

  private byte[] bytes = new byte[256];
  private int length;
  private int smallFrames;
  private List<String> checked; // that was found to be in order last
  private long checkedBytes; // of the body, as that says

  /** Fields may take {@code listBytes} together. */
  HeadBlock(int listBytes) {
    decoder = new HpackDecoder(listBytes);
    maxBytes = listBytes + listBytes / 4;
  }

  void clear() {
    if (bytes.length > MOST_KEPT_BYTES) {
      bytes = new byte[256];
    }
    length = 0;
    smallFrames = 0;
  }

  /** Takes a frame's part of the head; one that ends it may be small. */
  void add(ByteBuffer in, int from, int count, boolean ends) {
    if (count > maxBytes - length) {
      throw tooMuch("a head of at most " + maxBytes + " bytes");
    }
    if (!ends && count < SMALL_FRAME_BYTES && ++smallFrames > MAX_SMALL_FRAMES) {
      throw tooMuch("at most " + MAX_SMALL_FRAMES + " small frames of a head");
    }
    if (bytes.length - length < count) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
    }
    in.get(from, bytes, length, count);
    length += count;
  }

  private static Http2Failure tooMuch(String expected) {
    return Http2Failure.ofConnection(Http2Error.ENHANCE_YOUR_CALM, "expected " + expected);
  }

  /** Names and values in turns; null: there are more than there may be. */
  List<String> fields() {
    return decoder.read(bytes, length);
  }

  /** How long the body is by the fields, which are in order or end the stream. */
  long check(List<String> fields) {
    if (fields != checked) {
      checkedBytes = bodyBytes(fields);
      checked = fields;
    }
    return checkedBytes;
  }

  private static long bodyBytes(List<String> fields) {
    long bodyBytes = RequestHead.ABSENT;
    boolean usual = false;
    for (int i = 0; i < fields.size(); i += 2) {
      String name = fields.get(i);
      checkName(name);
      if (name.charAt(0) == ':') {
        checkPseudo(fields, i, usual);
        continue;
      }
      usual = true;
      switch (name) {
        case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade" ->
            throw malformed("no field " + name + " in HTTP/2");
        case "te" -> {
          if (!fields.get(i + 1).equals("trailers")) {
            throw malformed("nothing but te: trailers");
          }
        }
        case "content-length" -> bodyBytes = number(fields.get(i + 1));
        default -> {}
      }
    }
    return bodyBytes;
  }

  private static void checkName(String name) {
    for (int i = name.startsWith(":") ? 1 : 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if ((c >= 'A' && c <= 'Z') || !HeadReader.isToken((byte) c)) {
        throw malformed("names of fields in small letters");
      }
    }
    if (name.isEmpty()) {
      throw malformed("a name for each field");
    }
  }

  private static void checkPseudo(List<String> fields, int at, boolean behindUsual) {
    String name = fields.get(at);
    switch (name) {
      case ":method", ":scheme", ":path", ":authority" -> {}
      default -> throw malformed("no field " + name + " in a request");
    }
    if (behindUsual) {
      throw malformed(name + " before usual fields");
    }
    for (int i = 0; i < at; i += 2) {
      if (fields.get(i).equals(name)) {
        throw malformed(name + " once");
      }
    }
  }

  /** A number that is none is refused with an answer, by whoever reads the head. */
  private static long number(String value) {
    if (value.isEmpty() || value.length() > 18) {
      return RequestHead.ABSENT;
    }
    long number = 0;
    for (int i = 0; i < value.length(); i++) {
      int digit = value.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return RequestHead.ABSENT;
      }
      number = 10 * number + digit;
    }
    return number;
  }

  /** Fields behind a body mean nothing here, but some may not be there. */
  static void checkTrailers(List<String> fields) {
    for (int i = 0; i < fields.size(); i += 2) {
      checkName(fields.get(i));
      if (fields.get(i).charAt(0) == ':') {
        throw malformed("no field " + fields.get(i) + " behind a body");
      }
    }
  }

  private static Http2Failure malformed(String expected) {
    return Http2Failure.ofStream(Http2Error.PROTOCOL_ERROR, "expected " + expected);
  }
}
