package io.nereid.server.http;

import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads the JSON of requests, token by token: RFC 8259 to the letter, and NaN, Infinity and Inf as
 * numbers. It is our own because it reads a part of every infer request: it makes no object for the
 * usual element of a tensor, nor for a name that it has met before.
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

  private final int mostDepth;
  private final JsonNumber number = new JsonNumber();
  private final JsonStrings strings = new JsonStrings();

  private final JsonBytes text = new JsonBytes();

  private Token token; // null: none was read yet
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
  JsonReader reset(byte[] bytes, int from, int length) {
    text.reset(bytes, from, length);
    return begin();
  }

  /** Begins with at most {@code length} bytes of a body. */
  JsonReader reset(RequestBody body, long length) {
    text.reset(body, length);
    return begin();
  }

  /** Another one, for what {@link #copy} gave: it takes heap memory where this one does. */
  JsonReader over(byte[] copy) {
    JsonReader again = new JsonReader(mostDepth);
    again.text.payAs(text);
    return again.reset(copy, 0, copy.length);
  }

  /** Keeps nothing long of a request that is done with. */
  void release() {
    text.release();
    strings.release();
  }

  private JsonReader begin() {
    token = null;
    depth = 0;
    afterValue = false;
    return this;
  }

  // ---- Structure -------------------------------------------------------------------------------

  /** The token that was read last. */
  Token token() {
    return token;
  }

  /** The next name of the object that is open; null at its end. */
  String nextName() {
    int c = text.takeVisible();
    if (c == '}') {
      depth--;
      afterValue = true;
      return null;
    }
    if (afterValue) {
      if (c != ',') {
        throw text.unexpected(c, "',' or '}'");
      }
      c = text.takeVisible();
    }
    if (c != '"') {
      throw text.unexpected(c, "a name in quotes");
    }
    boolean outermost = text.beginToken();
    scanString();
    text.endToken(outermost);
    String name = string();
    c = text.takeVisible();
    if (c != ':') {
      throw text.unexpected(c, "':' behind the name");
    }
    return name;
  }

  /** The next value, or the end of the array that is open, or of the text. */
  Token next() {
    int c = text.takeVisible();
    if (depth == 0) {
      if (c < 0) {
        token = Token.END;
      } else if (token != null) {
        throw text.unexpected(c, "nothing more");
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
          throw text.unexpected(c, "',' or ']'");
        }
        c = text.takeVisible();
      }
      token = value(c);
    }
    return token;
  }

  /** Reads over the value that {@link #next} began. */
  void skip() {
    checkString();
    if (token != Token.OBJECT && token != Token.ARRAY) {
      return;
    }
    int outside = depth - 1;
    while (depth > outside) {
      if (objects[depth - 1] && nextName() == null) {
        continue;
      }
      next();
      checkString();
    }
  }

  /** What is read over has to be JSON too. */
  private void checkString() {
    if (token == Token.STRING && (escaped || !ascii)) {
      utf8();
    }
  }

  /** The text of the value that {@link #next} began, which is read over. */
  byte[] copy() {
    text.keepFromToken();
    skip();
    return text.takeKept();
  }

  /** Elements of the text are kept, in as many bytes, until the request is done with. */
  void takeHeap(long bytes) {
    text.takeHeap(bytes);
  }

  private Token value(int c) {
    afterValue = true;
    boolean outermost = text.beginToken();
    Token read = begun(c);
    text.endToken(outermost);
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
      default -> throw text.unexpected(c, "a value");
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
      int c = text.take();
      if (c != word.charAt(i)) {
        throw text.unexpected(c, "'" + word + "'");
      }
    }
    return meaning;
  }

  private Token infinity(double value) {
    number.special(value);
    literal("Inf", Token.FRACTION);
    int c = text.take();
    if (c == 'i') {
      return literal("inity", Token.FRACTION);
    }
    text.putBack(c);
    return Token.FRACTION;
  }

  private Token number(int first) {
    boolean negative = first == '-';
    int c = negative ? text.take() : first;
    if (negative && c == 'I') {
      return infinity(Double.NEGATIVE_INFINITY);
    }
    boolean fraction = number.read(text, negative, c);
    tokenEnd = text.position();
    return fraction ? Token.FRACTION : Token.INTEGER;
  }

  private void scanString() {
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
    tokenEnd = text.position() - 1;
  }

  // ---- Values ----------------------------------------------------------------------------------

  /** The string that was read. */
  String string() {
    takeHeap(JsonStrings.heapBytes(tokenEnd - text.tokenStart()));
    return ascii && !escaped
        ? strings.text(text.bytes(), text.tokenStart() + 1, tokenEnd)
        : new String(utf8(), 0, utf8Length(), StandardCharsets.UTF_8);
  }

  /** UTF-8 of the string that was read: {@link #utf8Length} bytes from 0. Valid until the next. */
  byte[] utf8() {
    int from = text.tokenStart() + 1;
    takeHeap(strings.moreBytes(tokenEnd - from));
    if (!strings.decode(text.bytes(), from, tokenEnd)) {
      throw text.malformed("a string has a broken escape, or bytes that are not UTF-8");
    }
    return strings.utf8();
  }

  int utf8Length() {
    return strings.utf8Length();
  }

  /** The number as it was written. */
  String numberText() {
    return number.isSpecial()
        ? Double.toString(number.special())
        : new String(
            text.bytes(),
            text.tokenStart(),
            tokenEnd - text.tokenStart(),
            StandardCharsets.US_ASCII);
  }

  /** Whether {@link #longValue} has the integer that was read. */
  boolean isLong() {
    return number.isExact() || bigIntegerValue().bitLength() < Long.SIZE;
  }

  long longValue() {
    return number.isExact() ? number.longValue() : bigIntegerValue().longValueExact();
  }

  BigInteger bigIntegerValue() {
    return number.isExact() ? BigInteger.valueOf(number.longValue()) : number.integer(numberText());
  }

  /** The nearest float; infinite when it is out of reach. */
  float floatValue() {
    float value = number.quickFloat();
    return value == value || number.isSpecial() ? value : Float.parseFloat(numberText());
  }

  /** The nearest double; infinite when it is out of reach. */
  double doubleValue() {
    double value = number.quickDouble();
    return value == value || number.isSpecial()
        ? value
        : number.slowDouble(text.bytes(), text.tokenStart(), tokenEnd);
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
}
