package io.nereid.server.json;

import io.nereid.server.shared.HeapArrays;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads the strings of a text, decoding on demand. Short strings that come repeatedly are made
 * once. Used by the reader's thread only.
 */
final class JsonStrings {

  private static final int MOST_REMEMBERED_BYTES = 48;

  /** The longest name. Messages quote names, and no tensor or parameter has as long a one. */
  private static final int MOST_NAME_BYTES = 64 << 10;

  private final String[] remembered = new String[128];
  private final byte[][] rememberedBytes = new byte[remembered.length][];
  private final JsonBytes text;
  private byte[] utf8 = new byte[JsonBytes.FEW_BYTES];
  private int utf8Length;
  private int end; // the index of the present string's closing quote
  private boolean escaped; // whether it has escapes
  private boolean ascii; // whether it has nothing beyond ASCII

  JsonStrings(JsonBytes text) {
    this.text = text;
  }

  /** Scans a string whose opening quote was taken and begins the token. */
  void scan() {
    escaped = false;
    int all = 0;
    while (true) {
      text.skipPlain();
      int c = text.take();
      if (c == '"') {
        break;
      }
      if (c < ' ') {
        throw text.unexpected(c, "the rest of a string");
      }
      if (c == '\\') {
        escaped = true;
        if (text.take() < 0) {
          throw text.unexpected(-1, "the rest of a string");
        }
      }
      all |= c;
    }
    ascii = all < 0x80;
    end = text.position() - 1;
  }

  /** The present string. */
  String text() {
    int length = end - text.tokenStart();
    text.takeHeap(length > JsonBytes.FEW_BYTES ? HeapArrays.cost(length) : 0);
    return ascii && !escaped
        ? remembered(text.bytes(), text.tokenStart() + 1, end)
        : new String(decode(), 0, utf8Length, StandardCharsets.UTF_8);
  }

  /** The present string, which names something. */
  String name() {
    int length = end - text.tokenStart() - 1;
    if (length > MOST_NAME_BYTES) {
      throw text.malformed(
          "expected a name of at most " + MOST_NAME_BYTES + " bytes, got one of " + length);
    }
    return text();
  }

  /** UTF-8 of the present string: {@link #utf8Length} bytes from 0. Valid until the next. */
  byte[] decode() {
    int from = text.tokenStart() + 1;
    text.takeHeap(moreBytes(end - from));
    if (!decode(text.bytes(), from, end)) {
      throw text.malformed("a string has a broken escape, or bytes that are not UTF-8");
    }
    return utf8;
  }

  /** Throws if the token that was just read is an invalid string. */
  void check(JsonReader.Token token) {
    if (token == JsonReader.Token.STRING && (escaped || !ascii)) {
      decode();
    }
  }

  /** Releases the memory of a long string, which the next request may not need. */
  void release() {
    if (utf8.length > JsonBytes.FEW_BYTES) {
      utf8 = new byte[JsonBytes.FEW_BYTES];
    }
  }

  /** Returns a string of ASCII characters without escapes, which may be a cached one. */
  private String remembered(byte[] bytes, int from, int to) {
    int length = to - from;
    if (length > MOST_REMEMBERED_BYTES) {
      return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
    }
    int hash = length;
    for (int i = from; i < to; i++) {
      hash = hash * 31 + bytes[i];
    }
    int place = (hash ^ hash >>> 7) & remembered.length - 1;
    byte[] known = rememberedBytes[place];
    if (known == null || !Arrays.equals(known, 0, known.length, bytes, from, to)) {
      rememberedBytes[place] = Arrays.copyOfRange(bytes, from, to);
      remembered[place] = new String(bytes, from, length, StandardCharsets.ISO_8859_1);
    }
    return remembered[place];
  }

  /** The additional heap that {@link #decode} needs for so many bytes. */
  private long moreBytes(int length) {
    return utf8.length < length
        ? HeapArrays.cost(HeapArrays.grown(utf8.length, length)) - HeapArrays.cost(utf8.length)
        : 0;
  }

  int utf8Length() {
    return utf8Length;
  }

  /** Resolves escapes, and checks that the result is UTF-8; false if it is not. */
  private boolean decode(byte[] bytes, int from, int to) {
    if (utf8.length < to - from) {
      utf8 = new byte[HeapArrays.grown(utf8.length, to - from)];
    }
    int end = 0; // no escape is shorter than its character
    for (int i = from; i < to; ) {
      int c = bytes[i] & 0xff;
      if (c == '\\') {
        int codePoint = escape(bytes, i + 1, to);
        if (codePoint < 0) {
          return false;
        }
        i += codePoint > 0xffff ? 12 : bytes[i + 1] == 'u' ? 6 : 2;
        end = put(codePoint, end);
      } else if (c < 0x80) {
        utf8[end++] = bytes[i++];
      } else {
        int length = sequenceLength(bytes, i, to);
        if (length == 0) {
          return false;
        }
        System.arraycopy(bytes, i, utf8, end, length);
        i += length;
        end += length;
      }
    }
    utf8Length = end;
    return true;
  }

  /** The character that an escape stands for; -1 if there is none. */
  private static int escape(byte[] bytes, int at, int to) {
    return switch (bytes[at]) {
      case '"', '\\', '/' -> bytes[at];
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> {
        int unit = hex(bytes, at + 1, to);
        if (unit < Character.MIN_SURROGATE || unit > Character.MAX_SURROGATE) {
          yield unit;
        }
        boolean pair = at + 6 < to && bytes[at + 5] == '\\' && bytes[at + 6] == 'u';
        int low = pair ? hex(bytes, at + 7, to) : -1;
        yield low >= Character.MIN_LOW_SURROGATE
                && low <= Character.MAX_LOW_SURROGATE
                && unit <= Character.MAX_HIGH_SURROGATE
            ? Character.toCodePoint((char) unit, (char) low)
            : -1;
      }
      default -> -1;
    };
  }

  private static int hex(byte[] bytes, int at, int to) {
    if (at + 4 > to) {
      return -1;
    }
    int value = 0;
    for (int i = at; i < at + 4; i++) {
      int digit = bytes[i] < 0 ? -1 : Character.digit(bytes[i], 16);
      if (digit < 0) {
        return -1;
      }
      value = value << 4 | digit;
    }
    return value;
  }

  private int put(int codePoint, int at) {
    int end = at;
    if (codePoint < 0x80) {
      utf8[end++] = (byte) codePoint;
    } else if (codePoint < 0x800) {
      utf8[end++] = (byte) (0xc0 | codePoint >> 6);
      utf8[end++] = (byte) (0x80 | codePoint & 0x3f);
    } else if (codePoint < 0x1_0000) {
      utf8[end++] = (byte) (0xe0 | codePoint >> 12);
      utf8[end++] = (byte) (0x80 | codePoint >> 6 & 0x3f);
      utf8[end++] = (byte) (0x80 | codePoint & 0x3f);
    } else {
      utf8[end++] = (byte) (0xf0 | codePoint >> 18);
      utf8[end++] = (byte) (0x80 | codePoint >> 12 & 0x3f);
      utf8[end++] = (byte) (0x80 | codePoint >> 6 & 0x3f);
      utf8[end++] = (byte) (0x80 | codePoint & 0x3f);
    }
    return end;
  }

  /** The length of the UTF-8 sequence at {@code at}; 0 if it is invalid. */
  private static int sequenceLength(byte[] bytes, int at, int to) {
    int first = bytes[at] & 0xff;
    int length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || at + length > to) {
      return 0;
    }
    for (int i = at + 1; i < at + length; i++) {
      if ((bytes[i] & 0xc0) != 0x80) {
        return 0;
      }
    }
    int second = bytes[at + 1] & 0xff;
    boolean overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    boolean surrogate = first == 0xed && second > 0x9f;
    boolean tooLarge = first == 0xf4 && second > 0x8f;
    return overlong || surrogate || tooLarge ? 0 : length;
  }
}
