package io.nereid.server.json;

import io.nereid.server.shared.ByteSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.Arrays;

/**
 * Reads the JSON of requests, token by token: RFC 8259 to the letter, and NaN, Infinity and Inf as
 * numbers. Nereid has its own reader because every infer request passes it: it allocates no object
 * for a usual tensor element, nor for a known name.
 *
 * <p>A reader is used for one text after the other, by one thread at a time. In an object the
 * caller takes a name with {@link #nextName} and its value with {@link #next}; in an array one
 * value after the other with {@link #next}. The reader throws a {@link JsonException} with the
 * offset if the text is wrong, and an {@link UncheckedIOException} if the source fails.
 */
public final class JsonReader {

  /** The kinds of tokens. */
  public enum Token {
    OBJECT("an object"),
    ARRAY("an array"),
    END_ARRAY("an array"),
    STRING("a string"),
    INTEGER("a number"),
    /** A number with a fraction or an exponent; NaN and Infinity. */
    FRACTION("a number"),
    TRUE("true"),
    FALSE("false"),
    NULL("null"),
    /** Nothing follows. */
    END("nothing");

    private final String kind;

    Token(String kind) {
      this.kind = kind;
    }
  }

  /** Takes a member of an object; the reader is at its value. */
  public interface MemberReader {
    /** Takes the value. */
    void read(String name, JsonReader value);
  }

  private final int mostDepth;
  private final JsonBytes text = new JsonBytes();
  private final JsonNumber number = new JsonNumber();
  private final JsonStrings strings = new JsonStrings(text);

  private Token token; // null: none was read yet
  private int numberEnd;

  private boolean[] objects = new boolean[16]; // true: the open structure is an object
  private int depth;
  private boolean afterValue; // in the open structure, a value was read

  /** Makes a reader of texts nested at most that deep. */
  public JsonReader(int mostDepth) {
    this.mostDepth = mostDepth;
  }

  /** Begins with text that lies in one piece. */
  public JsonReader reset(byte[] bytes, int from, int length) {
    text.reset(bytes, from, length);
    return begin();
  }

  /** Begins with at most {@code length} bytes of a source. */
  public JsonReader reset(ByteSource source, long length) {
    text.reset(source, length);
    return begin();
  }

  /** Makes another reader for a result of {@link #copy}, with the same heap budget. */
  public JsonReader over(byte[] copy) {
    JsonReader again = new JsonReader(mostDepth);
    again.text.payAs(text);
    return again.reset(copy, 0, copy.length);
  }

  /** Drops the long buffers of a request that has ended. */
  public void release() {
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
  public Token token() {
    return token;
  }

  /** The index of the last string's quote, in the array that contains it. */
  public int tokenStart() {
    return text.tokenStart();
  }

  /** Reads the next name of the open object; null at its end. */
  public String nextName() {
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
    strings.scan();
    text.endToken(outermost);
    String name = strings.name();
    c = text.takeVisible();
    if (c != ':') {
      throw text.unexpected(c, "':' behind the name");
    }
    return name;
  }

  /** Reads the next value, or the end of the open array or of the text. */
  public Token next() {
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

  /** Skips the value that {@link #next} began. */
  public void skip() {
    strings.check(token);
    if (token != Token.OBJECT && token != Token.ARRAY) {
      return;
    }
    int outside = depth - 1;
    while (depth > outside) {
      if (objects[depth - 1] && nextName() == null) {
        continue;
      }
      strings.check(next()); // a skipped string must be valid too
    }
  }

  /** Skips the value that {@link #next} began, and returns its text. */
  public byte[] copy() {
    text.keepFromToken();
    skip();
    return text.takeKept();
  }

  /** Charges the heap for elements that are kept until the request ends. */
  public void takeHeap(long bytes) {
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
        strings.scan();
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
      throw new JsonException(
          "JSON nesting depth exceeds maximum allowed limit (" + mostDepth + ")");
    }
    if (depth == objects.length) {
      objects = Arrays.copyOf(objects, 2 * depth);
    }
    objects[depth++] = object;
    afterValue = false;
    return object ? Token.OBJECT : Token.ARRAY;
  }

  /** Reads the rest of a word whose first letter was read. */
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
    numberEnd = text.position();
    return fraction ? Token.FRACTION : Token.INTEGER;
  }

  // ---- Values ----------------------------------------------------------------------------------

  /** The string that was read. */
  public String string() {
    return strings.text();
  }

  /** UTF-8 of the string that was read: {@link #utf8Length} bytes from 0. Valid until the next. */
  public byte[] utf8() {
    return strings.decode();
  }

  public int utf8Length() {
    return strings.utf8Length();
  }

  /** The number as it was written. */
  public String numberText() {
    return number.isSpecial() ? Double.toString(number.special()) : text.tokenTo(numberEnd);
  }

  /** True if {@link #longValue} has the integer that was read. */
  public boolean isLong() {
    return number.isExact() || bigIntegerValue().bitLength() < Long.SIZE;
  }

  public long longValue() {
    return number.isExact() ? number.longValue() : bigIntegerValue().longValueExact();
  }

  public BigInteger bigIntegerValue() {
    return number.isExact() ? BigInteger.valueOf(number.longValue()) : number.integer(numberText());
  }

  /** The nearest float; infinite when it is out of reach. */
  public float floatValue() {
    float value = number.quickFloat();
    return value == value || number.isSpecial() ? value : Float.parseFloat(numberText());
  }

  /** The nearest double; infinite when it is out of reach. */
  public double doubleValue() {
    double value = number.quickDouble();
    return value == value || number.isSpecial()
        ? value
        : number.slowDouble(text.bytes(), text.tokenStart(), numberEnd);
  }

  /** True if the text itself is NaN or Infinity. */
  public boolean isSpecial() {
    return number.isSpecial();
  }

  // ---- Values of members that must be of a kind ------------------------------------------------

  public String string(String member) {
    if (token != Token.STRING) {
      throw JsonException.malformed(member, "attempt to access JSON non-string as string");
    }
    return string();
  }

  /** The string as the name of something, which must not be too long for that. */
  public String name(String member) {
    return token == Token.STRING ? strings.name() : string(member);
  }

  public boolean bool(String member) {
    return switch (token) {
      case TRUE -> true;
      case FALSE -> false;
      default ->
          throw JsonException.malformed(member, "attempt to access JSON non-boolean as boolean");
    };
  }

  public long unsigned(String member) {
    if (token == Token.INTEGER && isLong() && longValue() >= 0) {
      return longValue();
    }
    throw JsonException.malformed(
        member, "attempt to access JSON non-unsigned-integer as unsigned-integer");
  }

  /**
   * Reads a whole text that is an object, member by member.
   *
   * @param orNothing whether a text without anything in it is an empty object
   */
  public void readObject(MemberReader members, boolean orNothing) throws IOException {
    try {
      if (next() == Token.END && orNothing) {
        return;
      }
      if (token != Token.OBJECT) {
        throw new JsonException(
            "failed to parse the request JSON buffer: expected an object, got " + kind());
      }
      readMembers(members);
      next(); // throws if anything follows
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Reads the members of an object whose begin was read. */
  public void readMembers(MemberReader members) {
    for (String name = nextName(); name != null; name = nextName()) {
      next();
      members.read(name, this);
    }
  }

  /** The kind of the token, for messages. */
  public String kind() {
    return token.kind;
  }

  public void expectObject(String member) {
    if (token != Token.OBJECT) {
      throw JsonException.malformed(member, "attempt to access JSON non-object as object");
    }
  }

  public void expectArray(String member) {
    if (token != Token.ARRAY) {
      throw JsonException.malformed(member, "attempt to access JSON non-array as array");
    }
  }
}
