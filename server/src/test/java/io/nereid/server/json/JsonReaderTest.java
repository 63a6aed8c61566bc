package io.nereid.server.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.server.json.JsonReader.Token;
import io.nereid.server.shared.ByteSource;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** The reader says what jackson-core says, and numbers are those of the JDK. */
class JsonReaderTest {

  private static final int DEPTH = 20;
  private static final JsonFactory JACKSON = new JsonFactory();

  private static final List<String> TEXTS =
      List.of(
          "{\"inputs\":[{\"name\":\"IN\",\"shape\":[1,2],\"datatype\":\"FP32\",\"data\":[1.5,-2e3]}]}",
          "{\"a\":{\"b\":[true,false,null,{}],\"c\":\"x\\ny\\u0041\\\"\"},\"d\":[[],[1],[[2,3]]]}",
          "[0,-0,12345678901234567890,1e-7,0.1E+2,\"\\\\\\/\\b\\f\\r\\t\"]",
          "  { \"k\" :\t[ 1 ,\n2 ] , \"\" : \"\" }  ");

  /** A text that was set aside is read as long as one that comes: others run meanwhile. */
  @Test
  void aTextInOnePiecePausesFromTimeToTime() {
    byte[] text = ("[" + "1,".repeat(200_000) + "1]").getBytes(StandardCharsets.US_ASCII);
    AtomicInteger pauses = new AtomicInteger();
    ByteSource source =
        new ByteSource() {
          @Override
          public int read(byte[] to, int offset, int count) {
            return -1;
          }

          @Override
          public void pause() {
            pauses.incrementAndGet();
          }
        };
    JsonReader reader = new JsonReader(DEPTH).reset(source, 1).over(text);
    int elements = 0;
    reader.next();
    while (reader.next() != Token.END_ARRAY) {
      elements++;
    }
    assertEquals(200_001, elements);
    assertTrue(pauses.get() >= text.length / 100_000, pauses::toString);
  }

  // ---- Numbers ---------------------------------------------------------------------------------

  private static JsonReader number(String text) {
    byte[] bytes = ("[" + text + "]").getBytes(StandardCharsets.US_ASCII);
    JsonReader reader = new JsonReader(DEPTH).reset(bytes, 0, bytes.length);
    reader.next();
    reader.next();
    return reader;
  }

  private static void assertNumber(String text) {
    JsonReader reader = number(text);
    assertEquals(Float.parseFloat(text), reader.floatValue(), text);
    assertEquals(Double.parseDouble(text), reader.doubleValue(), text);
    assertEquals(text, reader.numberText());
    assertEquals(Token.END_ARRAY, reader.next());
  }

  @Test
  void numbersAreThoseOfTheJdk() {
    Random random = new Random(1);
    for (int i = 0; i < 200_000; i++) {
      float single = Float.intBitsToFloat(random.nextInt());
      double wide = Double.longBitsToDouble(random.nextLong());
      if (Float.isFinite(single)) {
        assertNumber(Float.toString(single));
        assertNumber(Double.toString(single)); // as clients write it that have no floats
        assertNumber(new BigDecimal(single).round(digits(random)).toString());
      }
      if (Double.isFinite(wide)) {
        assertNumber(Double.toString(wide));
      }
      assertNumber(Double.toString(random.nextGaussian()));
      assertNumber(
          BigDecimal.valueOf(random.nextLong() >> random.nextInt(64), random.nextInt(25))
              .toPlainString());
    }
  }

  private static java.math.MathContext digits(Random random) {
    return new java.math.MathContext(1 + random.nextInt(30));
  }

  @Test
  void decimalsAtAndBesideTheMiddleOfTwoFloats() {
    Random random = new Random(2);
    for (int i = 0; i < 50_000; i++) {
      float low = Float.intBitsToFloat(random.nextInt(0x7f00_0000));
      BigDecimal middle = new BigDecimal(low).add(new BigDecimal(Math.nextUp(low)));
      middle = middle.divide(BigDecimal.TWO);
      BigDecimal tiny = middle.ulp();
      for (BigDecimal value : List.of(middle, middle.add(tiny), middle.subtract(tiny))) {
        assertNumber(value.toString());
        assertNumber(value.round(new java.math.MathContext(17 + random.nextInt(4))).toString());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-0",
        "-0.0",
        "0e999",
        "1e400",
        "-1e400",
        "1e-400",
        "16777217",
        "16777217.0000000001",
        "3.4028235e38",
        "3.4028236e38",
        "3.402823567e38",
        "1.17549435e-38",
        "1e-45",
        "7e-46",
        "1e22",
        "123456789012345678901234567890",
        "0.000000000000000000000000000000001234567890123456789",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "1e+5",
        "1E5",
        "1e-05"
      })
  void certainNumbers(String text) {
    assertNumber(text);
  }

  @Test
  void integersKeepAllTheirDigits() {
    for (String text :
        List.of(
            "0",
            "-0",
            "999999999999999999",
            "1000000000000000001",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "18446744073709551615")) {
      JsonReader reader = number(text);
      assertEquals(Token.INTEGER, reader.token());
      assertEquals(new java.math.BigInteger(text), reader.bigIntegerValue());
      assertEquals(new BigDecimal(text).toBigInteger().bitLength() < 64, reader.isLong(), text);
      if (reader.isLong()) {
        assertEquals(Long.parseLong(text), reader.longValue());
      }
    }
    assertTrue(Double.isNaN(number("NaN").doubleValue()));
    assertEquals(Float.POSITIVE_INFINITY, number("Infinity").floatValue());
    assertEquals(Float.NEGATIVE_INFINITY, number("-Inf").floatValue());
    assertThrows(JsonException.class, () -> number("1".repeat(1001)));
  }

  // ---- Structure -------------------------------------------------------------------------------

  /** A body that comes in pieces of random sizes. */
  private static final class Pieces implements ByteSource {
    private final byte[] bytes;
    private final Random random;
    private int position;

    Pieces(byte[] bytes, Random random) {
      this.bytes = bytes;
      this.random = random;
    }

    @Override
    public int read(byte[] to, int offset, int count) {
      if (position == bytes.length) {
        return -1;
      }
      int taken = Math.min(1 + random.nextInt(5), Math.min(count, bytes.length - position));
      System.arraycopy(bytes, position, to, offset, taken);
      position += taken;
      return taken;
    }
  }

  /** What is in the text; null when it is not JSON. */
  private static String read(JsonReader reader) {
    StringBuilder all = new StringBuilder();
    try {
      reader.next();
      append(reader, all);
      reader.next(); // fails when something follows
      return all.toString();
    } catch (JsonException e) {
      return null;
    }
  }

  private static void append(JsonReader reader, StringBuilder to) {
    switch (reader.token()) {
      case OBJECT -> {
        to.append('{');
        for (String name = reader.nextName(); name != null; name = reader.nextName()) {
          to.append(name).append(':');
          reader.next();
          append(reader, to);
        }
        to.append('}');
      }
      case ARRAY -> {
        to.append('[');
        while (reader.next() != Token.END_ARRAY) {
          append(reader, to);
        }
        to.append(']');
      }
      case STRING -> to.append('"').append(reader.string()).append("\",");
      case INTEGER -> to.append(reader.bigIntegerValue()).append(',');
      case FRACTION -> to.append(reader.doubleValue()).append(',');
      case END, END_ARRAY -> throw new JsonException("nothing");
      default -> to.append(reader.token()).append(',');
    }
  }

  /** The same by jackson-core. */
  private static String readByJackson(byte[] text) {
    StringBuilder all = new StringBuilder();
    try (JsonParser parser = JACKSON.createParser(ObjectReadContext.empty(), text)) {
      int depth = 0;
      int values = 0;
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        values += depth == 0 ? 1 : 0;
        if (depth > DEPTH || values > 1) {
          return null;
        }
        switch (token) {
          case START_OBJECT -> all.append('{');
          case END_OBJECT -> all.append('}');
          case START_ARRAY -> all.append('[');
          case END_ARRAY -> all.append(']');
          case PROPERTY_NAME -> all.append(parser.currentName()).append(':');
          case VALUE_STRING -> all.append('"').append(parser.getString()).append("\",");
          case VALUE_NUMBER_INT -> all.append(parser.getBigIntegerValue()).append(',');
          case VALUE_NUMBER_FLOAT -> all.append(parser.getDoubleValue()).append(',');
          case VALUE_TRUE -> all.append("TRUE,");
          case VALUE_FALSE -> all.append("FALSE,");
          case VALUE_NULL -> all.append("NULL,");
          default -> throw new AssertionError(token);
        }
      }
      return values == 0 ? null : all.toString();
    } catch (JacksonException e) {
      return null;
    }
  }

  @Test
  void mutatedTextsAreReadAsJacksonDoes() {
    Random random = new Random(3);
    String alphabet = "{}[]:,\"\\ \n0123456789.-+eEtrufalsn/b\t\u0001";
    int wellFormed = 0;
    for (int i = 0; i < 60_000; i++) {
      StringBuilder text = new StringBuilder(TEXTS.get(random.nextInt(TEXTS.size())));
      for (int changes = random.nextInt(4); changes > 0; changes--) {
        int at = random.nextInt(text.length());
        char c = alphabet.charAt(random.nextInt(alphabet.length()));
        switch (random.nextInt(4)) {
          case 0 -> text.setCharAt(at, c);
          case 1 -> text.insert(at, c);
          case 2 -> text.deleteCharAt(at);
          default -> text.insert(at, text.substring(at, at + random.nextInt(text.length() - at)));
        }
      }
      byte[] bytes = text.toString().getBytes(StandardCharsets.US_ASCII);
      String expected = readByJackson(bytes);
      wellFormed += expected == null ? 0 : 1;
      JsonReader reader = new JsonReader(DEPTH);
      assertEquals(expected, read(reader.reset(bytes, 0, bytes.length)), text::toString);
      assertEquals(
          expected,
          read(reader.reset(new Pieces(bytes, random), Long.MAX_VALUE)),
          () -> "in pieces: " + text);
    }
    assertTrue(wellFormed > 10_000, "only " + wellFormed + " texts were JSON");
  }

  @Test
  void stringsAreUnicode() throws Exception {
    Random random = new Random(4);
    JsonReader reader = new JsonReader(DEPTH);
    for (int i = 0; i < 50_000; i++) {
      byte[] content = content(random);
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      text.write('"');
      text.write(content);
      text.write('"');
      byte[] bytes = text.toByteArray();
      String expected = null;
      try {
        expected = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
      } catch (CharacterCodingException e) {
        // expected stays null: no string
      }
      assertEquals(
          expected == null ? null : '"' + expected + "\",",
          read(reader.reset(bytes, 0, bytes.length)));
    }
  }

  private static byte[] content(Random random) {
    byte[] content = new byte[random.nextInt(6)];
    int[] telling = {0x41, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0xf5};
    for (int i = 0; i < content.length; i++) {
      content[i] = (byte) telling[random.nextInt(telling.length)];
    }
    return content;
  }

  @Test
  void escapesBecomeCharacters() {
    assertEquals("\"A\u20ac\ud83d\ude00/,\",", text("\"A\\u20AC\\ud83d\\ude00\\/,\""));
    for (String broken :
        List.of(
            "\\ud83d",
            "\\ud83dx",
            "\\ude00",
            "\\ud83d\\u0041",
            "\\u12",
            "\\u00g0",
            "\\ufe\u03300",
            "\\x")) {
      assertEquals(null, text('"' + broken + '"'), broken);
    }
  }

  private static String text(String json) {
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    return read(new JsonReader(DEPTH).reset(bytes, 0, bytes.length));
  }

  @Test
  void valuesCanBeSkippedAndSetAside() {
    Random random = new Random(5);
    String long1 = "\"" + "x".repeat(40_000) + "\"";
    List<String> values =
        List.of(
            "1", "-2.5e3", "\"a\\\"b\"", "true", "null", "NaN", "[1,[2,{\"a\":[]}]]", "{}", long1);
    for (int i = 0; i < 300; i++) {
      List<String> chosen = new ArrayList<>();
      for (int n = random.nextInt(5); n >= 0; n--) {
        chosen.add(values.get(random.nextInt(values.size())));
      }
      byte[] bytes = ("[" + String.join(" , ", chosen) + "]").getBytes(StandardCharsets.UTF_8);
      JsonReader reader = new JsonReader(DEPTH).reset(new Pieces(bytes, random), Long.MAX_VALUE);
      reader.next();
      for (String value : chosen) {
        reader.next();
        if (random.nextBoolean()) {
          assertEquals(value, new String(reader.copy(), StandardCharsets.UTF_8));
        } else {
          reader.skip();
        }
      }
      assertEquals(Token.END_ARRAY, reader.next());
      assertEquals(Token.END, reader.next());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\"\\q\"", "[\"\\ud83dx\"]", "{\"a\":\"\u00ff\"}", "[{\"b\":[\"\\u00g0\"]}]"})
  void brokenStringsAreRefusedWhereTheyAreSkipped(String value) {
    byte[] bytes = value.getBytes(StandardCharsets.ISO_8859_1);
    JsonReader reader = new JsonReader(DEPTH).reset(bytes, 0, bytes.length);
    reader.next();
    String message = assertThrows(JsonException.class, reader::skip).getMessage();
    assertTrue(message.contains("broken escape"), message);
  }

  @Test
  void namesAreTheSameObjectsAgain() {
    byte[] bytes = "{\"inputs\":1,\"inputs\":2}".getBytes(StandardCharsets.UTF_8);
    JsonReader reader = new JsonReader(DEPTH).reset(bytes, 0, bytes.length);
    reader.next();
    String first = reader.nextName();
    reader.next();
    assertTrue(first == reader.nextName());
  }
}
