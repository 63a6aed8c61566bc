package io.nereid.server.http;

import io.nereid.server.json.JsonException;
import io.nereid.server.json.JsonReader;
import io.nereid.server.json.JsonReader.Token;
import io.nereid.server.shared.ByteSource;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;

/**
 * A target for fuzzing: any bytes as JSON. The reader takes what jackson-core takes, and finds in
 * it what jackson-core and the JDK find, to the bit; in one piece, in many, and read over.
 */
public final class JsonFuzz {

  private static final int DEPTH = 50;

  /** Numbers with more characters are refused by the reader. */
  private static final int MOST_NUMBER_LENGTH = 1000;

  private static final Pattern ESCAPE_WITH_LETTER =
      Pattern.compile("\\\\u\\p{XDigit}{0,3}[^\\x00-\\xff]");

  private static final String TOO_DEEP = "too deep";
  private static final String MALFORMED = "malformed";

  private static final JsonFactory JACKSON =
      JsonFactory.builder()
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(DEPTH)
                  .maxNumberLength(MOST_NUMBER_LENGTH)
                  .build())
          .build();

  /** Used again and again, as that of a connection. */
  private static final JsonReader READER = new JsonReader(DEPTH);

  private JsonFuzz() {}

  /** Jazzer calls it. */
  public static synchronized void fuzzerTestOneInput(byte[] bytes) {
    List<String> whole = read(READER.reset(bytes, 0, bytes.length), false);
    List<String> inPieces =
        read(READER.reset(new Pieces(bytes, new Random(bytes.length)), bytes.length), false);
    expect(whole, inPieces, bytes);
    String text = utf8(bytes);
    if (text == null) {
      expect(true, isRefused(whole), bytes);
      return;
    }
    if (!isComparable(text)) {
      return;
    }
    List<String> wanted = readByJackson(text);
    if (isRefused(wanted)) {
      // Of a text that is wrong, either may see more before it says so.
      expect(wanted.getLast(), whole.getLast(), bytes);
    } else {
      expect(wanted, whole, bytes);
    }
    List<String> skipped = read(READER.reset(bytes, 0, bytes.length), true);
    expect(isRefused(wanted), isRefused(skipped), bytes);
  }

  /** Null when it is none. */
  private static String utf8(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  /**
   * Jackson has more ways to write infinity, passes over a mark of the byte order, and takes a
   * letter for a hexadecimal digit whose low byte is one.
   */
  private static boolean isComparable(String text) {
    String rest = text.replace("Infinity", "");
    return !rest.contains("INF")
        && !rest.contains("Inf")
        && !text.contains("+I")
        && !text.startsWith("\ufeff")
        && !ESCAPE_WITH_LETTER.matcher(text).find();
  }

  private static boolean isRefused(List<String> tokens) {
    return tokens.getLast().equals(MALFORMED) || tokens.getLast().equals(TOO_DEEP);
  }

  private static void expect(Object wanted, Object got, byte[] bytes) {
    if (!wanted.equals(got)) {
      throw new AssertionError(
          "expected "
              + wanted
              + ", got "
              + got
              + " of "
              + new String(bytes, StandardCharsets.ISO_8859_1));
    }
  }

  // ---- By the reader ---------------------------------------------------------------------------

  private static List<String> read(JsonReader reader, boolean skipping) {
    List<String> seen = new ArrayList<>();
    seen.add("start");
    try {
      if (reader.next() != Token.END) {
        if (skipping) {
          reader.skip();
        } else {
          value(reader, seen);
        }
        reader.next(); // fails when something follows
      }
    } catch (JsonException e) {
      seen.add(e.getMessage().contains("nesting depth") ? TOO_DEEP : MALFORMED);
    }
    return seen;
  }

  private static void value(JsonReader reader, List<String> seen) {
    switch (reader.token()) {
      case OBJECT -> {
        seen.add("{");
        for (String name = reader.nextName(); name != null; name = reader.nextName()) {
          seen.add(name + ":");
          reader.next();
          value(reader, seen);
        }
        seen.add("}");
      }
      case ARRAY -> {
        seen.add("[");
        while (reader.next() != Token.END_ARRAY) {
          value(reader, seen);
        }
        seen.add("]");
      }
      case STRING -> {
        String string = reader.string();
        String utf8 = new String(reader.utf8(), 0, reader.utf8Length(), StandardCharsets.UTF_8);
        expect(string, utf8, new byte[0]);
        seen.add('"' + string);
      }
      case INTEGER, FRACTION -> seen.add(number(reader));
      default -> seen.add(reader.token().toString());
    }
  }

  private static String number(JsonReader reader) {
    String text = reader.numberText();
    String seen =
        text
            + " "
            + Float.floatToIntBits(reader.floatValue())
            + " "
            + Double.doubleToLongBits(reader.doubleValue());
    if (reader.token() == Token.INTEGER) {
      seen += reader.isLong() ? " " + reader.longValue() : " too large";
    }
    return seen;
  }

  /** A body that comes a few bytes at a time. */
  private static final class Pieces implements ByteSource {

    private final byte[] bytes;
    private final Random random;
    private int at;

    Pieces(byte[] bytes, Random random) {
      this.bytes = bytes;
      this.random = random;
    }

    @Override
    public int read(byte[] to, int offset, int count) {
      if (at == bytes.length) {
        return -1;
      }
      int taken = Math.min(Math.min(count, bytes.length - at), 1 + random.nextInt(10));
      System.arraycopy(bytes, at, to, offset, taken);
      at += taken;
      return taken;
    }
  }

  // ---- By Jackson ------------------------------------------------------------------------------

  private static List<String> readByJackson(String text) {
    List<String> seen = new ArrayList<>();
    seen.add("start");
    try (JsonParser parser = JACKSON.createParser(ObjectReadContext.empty(), text)) {
      while (parser.nextToken() != null) {
        seen.add(token(parser));
        boolean ended = parser.streamReadContext().inRoot();
        if (ended && parser.nextToken() != null) {
          seen.add(MALFORMED);
          break;
        }
      }
    } catch (JacksonException e) {
      seen.add(e.getOriginalMessage().contains("nesting depth") ? TOO_DEEP : MALFORMED);
    }
    if (seen.contains(null)) {
      return List.of(MALFORMED);
    }
    return seen;
  }

  /** Null: it has half a surrogate pair, which is no text. */
  private static String token(JsonParser parser) {
    JsonToken token = parser.currentToken();
    return switch (token) {
      case START_OBJECT -> "{";
      case END_OBJECT -> "}";
      case START_ARRAY -> "[";
      case END_ARRAY -> "]";
      case PROPERTY_NAME -> isText(parser.currentName()) ? parser.currentName() + ":" : null;
      case VALUE_STRING -> isText(parser.getString()) ? '"' + parser.getString() : null;
      case VALUE_TRUE -> "TRUE";
      case VALUE_FALSE -> "FALSE";
      case VALUE_NULL -> "NULL";
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(parser);
      default -> throw new IllegalStateException(token.toString());
    };
  }

  private static boolean isText(String text) {
    return StandardCharsets.UTF_8.newEncoder().canEncode(text);
  }

  private static String number(JsonParser parser) {
    String text = parser.getString();
    String seen =
        text
            + " "
            + Float.floatToIntBits(Float.parseFloat(text))
            + " "
            + Double.doubleToLongBits(Double.parseDouble(text));
    if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT) {
      seen +=
          parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
              ? " too large"
              : " " + parser.getLongValue();
    }
    return seen;
  }
}
