package io.nereid.server.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads the JSON of infer requests, token by token: RFC 8259 to the letter, and NaN and Infinity as
 * numbers. All other bodies are read by jackson-core; this exists because what is read here is read
 * in every request. It allocates nothing for an element of a tensor, nor for a name that it has met
 * before.
 *
 * <p>One for each connection. In an object the caller takes a name with {@link #nextName} and its
 * value with {@link #next}; in an array one value after the other with {@link #next}. What is wrong
 * with the text is an {@link HttpFailure} with the offset, what is wrong with the connection an
 * {@link UncheckedIOException}.
 */
final class JsonReader {

  /** What was read. */
  enum Token {
    OBJECT,
    ARRAY,
    END_ARRAY,
    STRING,
    INTEGER,
    /** A number with a fraction or an exponent; NaN and Infinity. */
    FRACTION,
    TRUE,
    FALSE,
    NULL,
    /** Nothing follows. */
    END
  }

  private static final int BUFFER_BYTES = 16 << 10;
  private static final int MOST_NUMBER_BYTES = 1000;

  private final int mostDepth;
  private final JsonNumber number = new JsonNumber();
  private final JsonStrings strings = new JsonStrings();

  /** For text that does not lie in one piece; replaced by a longer one for a long token. */
  private byte[] own = new byte[0];

  private byte[] bytes; // the text that is there, from position to limit
  private int position;
  private int limit;
  private long offset; // in the whole text, of what is at 0

  private RequestBody source; // where more comes from; null: nowhere
  private long sourceLeft;

  /** From here on bytes stay when more are read; -1: none has to. */
  private int kept;

  private Token token; // null: none was read yet
  private int tokenStart; // of a string: behind its quote
  private int tokenEnd;
  private boolean escaped; // whether the string has escapes
  private boolean ascii; // whether it has nothing beyond ASCII

  private boolean[] objects = new boolean[16]; // for what is open, whether it is an object
  private int depth;
  private boolean afterValue; // in what is open

  JsonReader(int mostDepth) {
    this.mostDepth = mostDepth;
  }

  /** Begins with text that lies in one piece. */
  JsonReader reset(byte[] text, int from, int length) {
    source = null;
    begin(text, from, from + length);
    return this;
  }

  /** Begins with at most {@code length} bytes of a body. */
  JsonReader reset(RequestBody body, long length) {
    if (own.length != BUFFER_BYTES) {
      own = new byte[BUFFER_BYTES];
    }
    source = body;
    sourceLeft = length;
    begin(own, 0, 0);
    return this;
  }

  private void begin(byte[] text, int from, int to) {
    bytes = text;
    position = from;
    limit = to;
    offset = -from;
    kept = -1;
    token = null;
    depth = 0;
    afterValue = false;
    strings.begin();
  }

  // ---- Structure -------------------------------------------------------------------------------

  /** The token that was read last. */
  Token token() {
    return token;
  }

  /** The next name of the object that is open; null at its end. */
  String nextName() {
    int c = nextByte();
    if (c == '}') {
      depth--;
      afterValue = true;
      return null;
    }
    if (afterValue) {
      if (c != ',') {
        throw unexpected(c, "',' or '}'");
      }
      c = nextByte();
    }
    if (c != '"') {
      throw unexpected(c, "a name in quotes");
    }
    tokenStart = position;
    boolean keeping = keep();
    scanString();
    unkeep(keeping);
    String name = string();
    c = nextByte();
    if (c != ':') {
      throw unexpected(c, "':' behind the name");
    }
    return name;
  }

  /** The next value, or the end of the array that is open, or of the text. */
  Token next() {
    int c = nextByte();
    if (depth == 0) {
      if (c < 0) {
        token = Token.END;
      } else if (token != null) {
        throw unexpected(c, "nothing more");
      } else {
        token = value(c);
      }
    } else if (objects[depth - 1]) {
      token = value(c);
    } else if (c == ']') {
      depth--;
      afterValue = true;
      token = Token.END_ARRAY;
    } else {
      if (afterValue) {
        if (c != ',') {
          throw unexpected(c, "',' or ']'");
        }
        c = nextByte();
      }
      token = value(c);
    }
    return token;
  }

  /** Reads over the value that {@link #next} began. */
  void skip() {
    if (token != Token.OBJECT && token != Token.ARRAY) {
      return;
    }
    int outside = depth - 1;
    while (depth > outside) {
      if (objects[depth - 1] && nextName() == null) {
        continue;
      }
      next();
    }
  }

  /** The text of the value that {@link #next} began, which is read over. */
  byte[] copy() {
    kept = token == Token.STRING ? tokenStart - 1 : tokenStart;
    skip();
    byte[] copy = Arrays.copyOfRange(bytes, kept, position);
    kept = -1;
    return copy;
  }

  private Token value(int c) {
    afterValue = true;
    tokenStart = position - 1;
    boolean keeping = keep();
    Token read = begun(c);
    unkeep(keeping);
    return read;
  }

  private Token begun(int c) {
    return switch (c) {
      case '{' -> open(true);
      case '[' -> open(false);
      case '"' -> {
        scanString();
        yield Token.STRING;
      }
      case 't' -> literal("true", Token.TRUE);
      case 'f' -> literal("false", Token.FALSE);
      case 'n' -> literal("null", Token.NULL);
      case 'N' -> {
        number.special(Double.NaN);
        yield literal("NaN", Token.FRACTION);
      }
      case 'I' -> infinity(Double.POSITIVE_INFINITY);
      case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number(c);
      default -> throw unexpected(c, "a value");
    };
  }

  private Token open(boolean object) {
    if (depth == mostDepth) {
      throw HttpFailure.badRequest(
          "JSON nesting depth exceeds maximum allowed limit (" + mostDepth + ")");
    }
    if (depth == objects.length) {
      objects = Arrays.copyOf(objects, 2 * depth);
    }
    objects[depth++] = object;
    afterValue = false;
    return object ? Token.OBJECT : Token.ARRAY;
  }

  /** The rest of a word whose first letter was read. */
  private Token literal(String word, Token meaning) {
    for (int i = 1; i < word.length(); i++) {
      int c = take();
      if (c != word.charAt(i)) {
        throw unexpected(c, "'" + word + "'");
      }
    }
    return meaning;
  }

  private Token infinity(double value) {
    number.special(value);
    literal("Inf", Token.FRACTION);
    int c = take();
    if (c == 'i') {
      return literal("inity", Token.FRACTION);
    }
    putBack(c);
    return Token.FRACTION;
  }

  private Token number(int first) {
    boolean negative = first == '-';
    int c = negative ? take() : first;
    if (c == 'I' && negative) {
      return infinity(Double.NEGATIVE_INFINITY);
    }
    if (!isDigit(c)) {
      throw unexpected(c, "a digit");
    }
    long digits = 0;
    int exponent = 0;
    boolean exact = true;
    int leading = c;
    int length = 0;
    for (; isDigit(c); c = take(), length++) {
      if (digits < JsonNumber.MOST_DIGITS) {
        digits = digits * 10 + (c - '0');
      } else {
        exact = false;
        exponent++;
      }
    }
    if (leading == '0' && length > 1) {
      throw malformed("a number starts with 0");
    }
    boolean fraction = c == '.' || c == 'e' || c == 'E';
    if (c == '.') {
      c = take();
      if (!isDigit(c)) {
        throw unexpected(c, "a digit");
      }
      for (; isDigit(c); c = take()) {
        if (digits < JsonNumber.MOST_DIGITS) {
          digits = digits * 10 + (c - '0');
          exponent--;
        } else {
          exact = false;
        }
      }
    }
    if (c == 'e' || c == 'E') {
      c = take();
      boolean down = c == '-';
      if (down || c == '+') {
        c = take();
      }
      if (!isDigit(c)) {
        throw unexpected(c, "a digit");
      }
      int power = 0;
      for (; isDigit(c); c = take()) {
        power = Math.min(power * 10 + (c - '0'), 1 << 24);
      }
      exponent += down ? -power : power;
    }
    putBack(c);
    tokenEnd = position;
    if (tokenEnd - tokenStart > MOST_NUMBER_BYTES) {
      throw malformed("expected a number of at most " + MOST_NUMBER_BYTES + " characters");
    }
    number.set(negative, digits, exponent, exact);
    return fraction ? Token.FRACTION : Token.INTEGER;
  }

  private void scanString() {
    tokenStart = position;
    escaped = false;
    int all = 0;
    while (true) {
      int c = take();
      if (c == '"') {
        break;
      }
      if (c < ' ') {
        throw unexpected(c, "the rest of a string");
      }
      if (c == '\\') {
        escaped = true;
        if (take() < 0) {
          throw unexpected(-1, "the rest of a string");
        }
      }
      all |= c;
    }
    ascii = all < 0x80;
    tokenEnd = position - 1;
  }

  // ---- Values ----------------------------------------------------------------------------------

  /** The string that was read. */
  String string() {
    return ascii && !escaped
        ? strings.text(bytes, tokenStart, tokenEnd)
        : new String(utf8(), 0, utf8Length(), StandardCharsets.UTF_8);
  }

  /** UTF-8 of the string that was read: {@link #utf8Length} bytes from 0. Valid until the next. */
  byte[] utf8() {
    if (!strings.decode(bytes, tokenStart, tokenEnd)) {
      throw malformed("a string has a broken escape, or bytes that are not UTF-8");
    }
    return strings.utf8();
  }

  int utf8Length() {
    return strings.utf8Length();
  }

  /** The number or the string, as it was written. */
  String text() {
    return number.isSpecial() && token == Token.FRACTION
        ? Double.toString(number.special())
        : new String(bytes, tokenStart, tokenEnd - tokenStart, StandardCharsets.UTF_8);
  }

  /** Whether {@link #longValue} has the integer that was read. */
  boolean isLong() {
    return number.isExact() || bigIntegerValue().bitLength() < Long.SIZE;
  }

  long longValue() {
    return number.isExact() ? number.longValue() : bigIntegerValue().longValueExact();
  }

  BigInteger bigIntegerValue() {
    return number.isExact() ? BigInteger.valueOf(number.longValue()) : number.integer(text());
  }

  /** The nearest float; infinite when it is out of reach. */
  float floatValue() {
    float value = number.quickFloat();
    return value == value || number.isSpecial() ? value : Float.parseFloat(text());
  }

  /** The nearest double; infinite when it is out of reach. */
  double doubleValue() {
    double value = number.quickDouble();
    return value == value || number.isSpecial()
        ? value
        : number.slowDouble(bytes, tokenStart, tokenEnd);
  }

  /** Whether the number is NaN or Infinity because that is what is written. */
  boolean isSpecial() {
    return number.isSpecial();
  }

  // ---- Values of members, which have to be of a kind -------------------------------------------

  String string(String member) {
    if (token != Token.STRING) {
      throw JsonParsing.malformed(member, "attempt to access JSON non-string as string");
    }
    return string();
  }

  boolean bool(String member) {
    return switch (token) {
      case TRUE -> true;
      case FALSE -> false;
      default ->
          throw JsonParsing.malformed(member, "attempt to access JSON non-boolean as boolean");
    };
  }

  long unsigned(String member) {
    if (token == Token.INTEGER && isLong() && longValue() >= 0) {
      return longValue();
    }
    throw JsonParsing.malformed(
        member, "attempt to access JSON non-unsigned-integer as unsigned-integer");
  }

  /** The text is an object, which was begun. */
  void expectOutermost() {
    if (token != Token.OBJECT) {
      throw HttpFailure.badRequest(
          "failed to parse the request JSON buffer: expected an object, got " + kind());
    }
  }

  /** Nothing follows what was read. */
  void expectEnd() {
    next(); // fails for itself
  }

  /** The token for people. */
  String kind() {
    return switch (token) {
      case OBJECT -> "an object";
      case ARRAY, END_ARRAY -> "an array";
      case STRING -> "a string";
      case INTEGER, FRACTION -> "a number";
      case TRUE -> "true";
      case FALSE -> "false";
      case NULL -> "null";
      case END -> "nothing";
    };
  }

  void expectObject(String member) {
    if (token != Token.OBJECT) {
      throw JsonParsing.malformed(member, "attempt to access JSON non-object as object");
    }
  }

  void expectArray(String member) {
    if (token != Token.ARRAY) {
      throw JsonParsing.malformed(member, "attempt to access JSON non-array as array");
    }
  }

  // ---- Bytes -----------------------------------------------------------------------------------

  private static boolean isDigit(int c) {
    return c >= '0' && c <= '9';
  }

  /** The next byte that is no white space; -1 at the end. */
  private int nextByte() {
    int c = take();
    while (c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
      c = take();
    }
    return c;
  }

  /** The next byte; -1 at the end. */
  private int take() {
    return position < limit ? bytes[position++] & 0xff : takeMore();
  }

  private void putBack(int c) {
    if (c >= 0) {
      position--;
    }
  }

  private boolean keep() {
    boolean keeping = kept >= 0;
    if (!keeping) {
      kept = tokenStart;
    }
    return keeping;
  }

  private void unkeep(boolean keeping) {
    if (!keeping) {
      kept = -1;
    }
  }

  private int takeMore() {
    if (source == null || sourceLeft == 0) {
      return -1;
    }
    int from = kept < 0 ? limit : kept;
    if (from > 0) {
      System.arraycopy(own, from, own, 0, limit - from);
      position -= from;
      limit -= from;
      tokenStart -= from;
      offset += from;
      kept = kept < 0 ? -1 : 0;
    }
    if (limit == own.length) {
      own = Arrays.copyOf(own, Math.multiplyExact(2, limit));
      bytes = own;
    }
    try {
      int count = source.read(own, limit, (int) Math.min(own.length - limit, sourceLeft));
      sourceLeft = count < 0 ? 0 : sourceLeft - count;
      limit += Math.max(0, count);
      return count < 0 ? -1 : own[position++] & 0xff;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private HttpFailure unexpected(int c, String expected) {
    return malformed(
        "expected "
            + expected
            + ", got "
            + (c < 0 ? "the end" : c > ' ' && c < 0x7f ? "'" + (char) c + "'" : "byte " + c));
  }

  private HttpFailure malformed(String what) {
    return HttpFailure.badRequest(
        "failed to parse the request JSON buffer: " + what + " at " + (offset + position));
  }
}
